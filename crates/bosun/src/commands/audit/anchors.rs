//! Reads anchors from files, a git note or a proof, and compares them with the logs of a run.

use std::path::Path;

use engine::export::proof::examine;
use runtime::audit::{Anchor, read_anchors};
use runtime::sandbox::Repo;
use serde_json::{Value, json};
use types::{CommitId, RunId, count};

use crate::args::Anchored;
use crate::exit::{CliError, Exit};
use crate::files::read_bounded;

/// Warning about a bundle without an anchor.
const NOT_ANCHORED: &str = "NOT ANCHORED: anyone who can write a journal can make such a file; compare it with an \
                            anchor kept elsewhere: --anchor FILE, --git-note REPO or --proof FILE";

/// Result of comparing a run with anchors.
pub(super) struct Judged {
    named: bool,
    count: usize,
    latest: Option<String>,
    /// The first mismatch with an anchor.
    wrong: Option<String>,
}

pub(super) fn judged(found: &[Anchor], named: bool, wrong: Option<String>) -> Judged {
    let latest = found.iter().filter_map(|anchor| anchor.at).max();
    Judged { named, count: found.len(), latest: latest.map(|at| at.to_string()), wrong }
}

impl Judged {
    pub(super) fn exit(&self) -> Exit {
        match (&self.wrong, self.count) {
            (Some(_), _) => Exit::Damaged,
            (None, 0) if self.named => Exit::Failed,
            _ => Exit::Done,
        }
    }

    pub(super) fn object(&self) -> Value {
        json!({ "count": self.count, "latest": self.latest, "wrong": self.wrong })
    }

    pub(super) fn told(&self) -> String {
        match (&self.wrong, self.count) {
            (Some(wrong), _) => format!("ANCHOR MISMATCH: {wrong}\n"),
            (None, 0) if self.named => "NOT ANCHORED: no anchor of this run\n".to_owned(),
            (None, 0) => format!("{NOT_ANCHORED}\n"),
            (None, anchors) => {
                let as_of = self.latest.as_ref().map(|at| format!(", the latest from {at}"));
                let anchors = count(anchors, "anchor");
                format!("matches {anchors}{}\n", as_of.unwrap_or_default())
            }
        }
    }
}

/// All anchors of a run in the named places.
pub(super) async fn found(
    places: &Anchored,
    run: &RunId,
    base: Option<&CommitId>,
) -> anyhow::Result<Vec<Anchor>> {
    let mut all = Vec::new();
    for file in &places.files {
        all.extend(read_anchors(&read_bounded(file)?)?);
    }
    if let (Some(repo), Some(base)) = (&places.git_note, base) {
        let note = repository(repo).await?.note(base).await.map_err(runtime::Error::Git)?;
        all.extend(read_anchors(&note.unwrap_or_default())?);
    }
    if let Some(proof) = &places.proof {
        all.extend(proven(proof)?);
    }
    all.retain(|anchor| anchor.log.run == *run);
    Ok(all)
}

pub(super) async fn repository(folder: &Path) -> anyhow::Result<Repo> {
    Ok(Repo::discover(folder).await.map_err(runtime::Error::Git)?)
}

/// Log heads claimed by a proof, as anchors.
fn proven(file: &Path) -> anyhow::Result<Vec<Anchor>> {
    let (opened, _) = runtime::bundle::open(&read_bounded(file)?);
    let payloads: Vec<&[u8]> = opened.iter().map(|one| one.payload.as_slice()).collect();
    let path = file.display().to_string();
    let examined = examine(&payloads).map_err(|cause| CliError::NotAProof { path, cause })?;
    let anchor = |claim: &engine::export::proof::LogClaim| {
        let log = claim.log.parse().ok()?;
        Some(Anchor { log, lines: claim.lines, head: claim.head.sha256, at: None })
    };
    Ok(examined.claims.logs.iter().filter_map(anchor).collect())
}
