//! Resolves a person's name for a run or session: its id, a unique prefix of it, or the word `newest`. Reads ids only.

use types::RunId;

use crate::api::Bosun;
use crate::error::Error;

/// The most candidates named in an error.
const MOST_NAMED: usize = 6;
/// The largest edit distance of a suggested id.
const MOST_WRONG: usize = 2;
/// The word that names the newest run or session.
pub const NEWEST: &str = "newest";

/// Why a name does not resolve to a run.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("{name:?} matches several runs: {}; type more of the id", listed(.candidates))]
    Ambiguous { name: String, candidates: Vec<RunId> },
    #[error("there is no run {name:?}; did you mean {like}? `bosun list` shows all runs")]
    Like { name: String, like: RunId },
    #[error("there is no run {name:?}; `bosun list` shows all runs")]
    Unknown { name: String },
    #[error(transparent)]
    Door(#[from] Error),
}

fn listed(candidates: &[RunId]) -> String {
    let names = candidates.iter().take(MOST_NAMED).map(RunId::as_str);
    let more = candidates.len().saturating_sub(MOST_NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    names.map(str::to_owned).chain(more).collect::<Vec<_>>().join(", ")
}

impl Bosun {
    /// The run or session with this id, or the only one whose id has this prefix (`r_` may be omitted).
    pub async fn find(&self, name: &str) -> Result<RunId, FindError> {
        // A complete id is found without reading all others.
        if let Ok(run) = name.parse::<RunId>()
            && !self.services.journal.logs(Some(&run)).await.map_err(Error::from)?.is_empty()
        {
            return Ok(run);
        }
        let mut logs = self.services.journal.logs(None).await.map_err(Error::from)?;
        logs.retain(|log| log.log.attempt.is_none());
        if name == NEWEST {
            let newest = logs.into_iter().max_by_key(|log| log.created);
            let unknown = || FindError::Unknown { name: name.to_owned() };
            return newest.map(|log| log.log.run).ok_or_else(unknown);
        }
        let ids: Vec<RunId> = logs.into_iter().map(|log| log.log.run).collect();
        match chosen(name, &ids) {
            Err(FindError::Unknown { name }) => match name.parse::<RunId>() {
                // A removed run is known by its complete id.
                Ok(run) => Err(self.unknown(&run).await.into()),
                Err(_) => Err(FindError::Unknown { name: types::one_line(&name, 80) }),
            },
            found => found,
        }
    }
}

/// The id that the name stands for.
fn chosen(name: &str, ids: &[RunId]) -> Result<RunId, FindError> {
    if let Some(exact) = ids.iter().find(|id| id.as_str() == name) {
        return Ok(exact.clone());
    }
    let digits = name.strip_prefix("r_").unwrap_or(name).to_ascii_lowercase();
    let begins = |id: &&RunId| !digits.is_empty() && tail(id).starts_with(&digits);
    let found: Vec<RunId> = ids.iter().filter(begins).cloned().collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(unknown(name, &digits, ids)),
        _ => {
            let name = types::one_line(name, 80);
            Err(FindError::Ambiguous { name, candidates: found })
        }
    }
}

fn tail(id: &RunId) -> &str {
    id.as_str().strip_prefix("r_").unwrap_or(id.as_str())
}

/// Suggests an id if exactly one is similar.
fn unknown(name: &str, digits: &str, ids: &[RunId]) -> FindError {
    let near = |id: &&RunId| {
        digits.len() > MOST_WRONG && types::edit_distance(tail(id), digits) <= MOST_WRONG
    };
    let mut like = ids.iter().filter(near);
    match (like.next(), like.next()) {
        (Some(like), None) => {
            FindError::Like { name: types::one_line(name, 80), like: like.clone() }
        }
        _ => FindError::Unknown { name: name.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids() -> Vec<RunId> {
        ["r_1a2b3c4d", "r_1a99ffff", "r_77777777"].map(|id| id.parse().expect("an id")).to_vec()
    }

    #[test]
    fn a_run_is_named_by_its_id_or_by_a_prefix_that_only_it_has() {
        for name in ["r_1a2b3c4d", "r_1a2", "1a2b", "1A2"] {
            assert_eq!(chosen(name, &ids()).expect(name).as_str(), "r_1a2b3c4d", "{name}");
        }
    }

    #[test]
    fn a_prefix_of_several_runs_lists_them() {
        let wrong = chosen("1a", &ids()).expect_err("two begin like that").to_string();
        assert!(wrong.contains("r_1a2b3c4d, r_1a99ffff"), "{wrong}");
    }

    #[test]
    fn a_misspelt_id_is_answered_with_the_one_that_is_nearly_it() {
        let wrong = chosen("r_1a2b3c4e", &ids()).expect_err("there is none").to_string();
        assert!(wrong.contains("did you mean r_1a2b3c4d?"), "{wrong}");
        for name in ["r_", "", "zz", "r_00000000"] {
            assert!(matches!(chosen(name, &ids()), Err(FindError::Unknown { .. })), "{name}");
        }
    }
}
