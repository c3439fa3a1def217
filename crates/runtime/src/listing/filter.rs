//! Filters a list of runs and sessions by folder and by state. Works on entries already read.

use std::path::{Path, PathBuf};

use types::{SessionState, Settling, Status};

use super::{Entry, Found};

/// A filter for lists; the default keeps everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Only entries that work in this folder or below it.
    pub folder: Option<PathBuf>,
    /// Only entries in one of these states; empty for all.
    pub states: Vec<ListState>,
}

/// A state to filter by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListState {
    /// A run that is not over, or a session that is not closed.
    Open,
    Is(Status),
    /// A run that is over and whose result is neither accepted nor discarded.
    Unsettled,
    Settled(Settling),
    /// A session in any state.
    Session,
}

impl ListFilter {
    /// The matching ones of `entries`, which are sorted newest first.
    #[must_use]
    pub fn of(&self, entries: Vec<Entry>) -> Vec<Entry> {
        entries.into_iter().filter(|entry| self.keeps(entry)).collect()
    }

    fn keeps(&self, entry: &Entry) -> bool {
        let within = |folder| entry.place().is_some_and(|at| Path::new(at).starts_with(folder));
        let state = |state: &ListState| state.is_of(&entry.found);
        self.folder.as_deref().is_none_or(within)
            && (self.states.is_empty() || self.states.iter().any(state))
    }
}

impl ListState {
    /// Whether a run or session is in this state.
    #[must_use]
    pub fn is_of(self, found: &Found) -> bool {
        match found {
            Found::Run { listed, .. } => match self {
                Self::Open => listed.ended.is_none(),
                Self::Is(Status::OutOfBudget) if listed.out_of_budget => true,
                Self::Is(status) => listed.status == status,
                Self::Unsettled => {
                    listed.ended.is_some() && listed.settled.is_none() && listed.finished > 0
                }
                Self::Settled(how) => listed.settled == Some(how),
                Self::Session => false,
            },
            Found::Session(listed) => match self {
                Self::Open => listed.state != SessionState::Closed,
                Self::Is(Status::Running) => listed.state == SessionState::Processing,
                Self::Is(Status::Waiting) => listed.state == SessionState::AwaitingInput,
                Self::Session => true,
                Self::Is(_) | Self::Unsettled | Self::Settled(_) => false,
            },
            Found::Damaged { .. } | Found::Newer { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use types::{ListedRun, Timestamp};

    use super::*;

    fn entry(id: &str, repository: &str, status: Status, settled: Option<Settling>) -> Entry {
        let over = !matches!(status, Status::Running | Status::Waiting);
        let listed = ListedRun {
            goal: "Fix it".to_owned(),
            status,
            escalated: false,
            out_of_budget: id == "r_ee",
            started: Timestamp::default(),
            ended: over.then(Timestamp::default),
            settled,
            tasks: 1,
            finished: 1,
            questions: 0,
            repository: repository.to_owned(),
            branch: "bosun/x".to_owned(),
            follows: None,
            spent: None,
            figures: None,
        };
        let found = Found::Run { listed, view: None };
        let (started, updated) = (Timestamp::default(), Timestamp::default());
        Entry { run: id.parse().expect("an id"), started, updated, found }
    }

    fn shown(filter: &ListFilter) -> String {
        let entries = vec![
            entry("r_aa", "/w/shop", Status::Running, None),
            entry("r_bb", "/w/shop", Status::Done, Some(Settling::Accepted)),
            entry("r_cc", "/w/shopping", Status::Done, None),
            entry("r_dd", "/w/shop/api", Status::Failed, None),
            entry("r_ee", "/w/bank", Status::Waiting, None),
        ];
        let ids: Vec<String> =
            filter.of(entries).into_iter().map(|entry| entry.run.to_string()).collect();
        ids.join(" ")
    }

    #[test]
    fn a_list_is_filtered_by_folder_and_state() {
        let all = ListFilter::default();
        assert_eq!(shown(&all), "r_aa r_bb r_cc r_dd r_ee");
        let here = ListFilter { folder: Some("/w/shop".into()), ..all.clone() };
        assert_eq!(shown(&here), "r_aa r_bb r_dd", "a name that only begins alike is another");
        let of = |states: &[ListState]| ListFilter { states: states.to_vec(), ..all.clone() };
        assert_eq!(shown(&of(&[ListState::Open])), "r_aa r_ee");
        assert_eq!(shown(&of(&[ListState::Is(Status::OutOfBudget)])), "r_ee", "it is paused");
        assert_eq!(shown(&of(&[ListState::Is(Status::Waiting)])), "r_ee");
        assert_eq!(shown(&of(&[ListState::Unsettled])), "r_cc r_dd");
        let both = [ListState::Settled(Settling::Accepted), ListState::Is(Status::Failed)];
        assert_eq!(shown(&of(&both)), "r_bb r_dd");
        assert_eq!(shown(&of(&[ListState::Session])), "");
    }
}
