//! `apply_patch`: several changes to several files, all or none. Every result is computed before the first file is
//! touched. Context lines stay as they are in the file, whatever whitespace the patch gives them.

use sandbox::{Change, Environment};
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, REDACTED, Repeat, WorkPath};

use crate::ToolContext;
use crate::patch::{self, Hunk, HunkLine, Section};
use crate::text::{Likeness, Lines};
use crate::typed::{Reply, Typed, facts};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatch {
    /// The patch, from `*** Begin Patch` to `*** End Patch`.
    patch: String,
}

#[cfg(any(test, fuzzing))]
impl ApplyPatch {
    pub(crate) fn of(patch: &str) -> Self {
        Self { patch: patch.to_owned() }
    }
}

impl Typed for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = "Changes files by a patch, all of it or none. Form:\n\
        *** Begin Patch\n*** Update File: path\n@@ a line above the change\n context\n-removed\n+added\n\
        *** Add File: path\n+content\n*** Delete File: path\n*** End Patch\n\
        Paths are relative to the workspace. After Update File, a line `*** Move to: path` renames the file; \
        `*** End of File` after a change ties it to the end.";

    fn facts(&self) -> Result<CallFacts, String> {
        let sections = patch::parse(&self.patch)?;
        let paths = sections.iter().flat_map(Section::paths).cloned().collect();
        Ok(facts(Access::Write, paths, Repeat::Unknown))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let (mut changes, mut known) = (Vec::new(), Vec::new());
        let mut report = Vec::new();
        for section in patch::parse(&self.patch)? {
            let done = plan(place, section, &mut changes, &mut known).await;
            report.push(done.map_err(|error| format!("{error}; nothing was changed"))?);
        }
        place.env.apply(changes.clone()).await?;
        for change in &changes {
            match change {
                Change::Write { path, bytes } => place.note(path, Some(bytes)),
                Change::Delete { path } => place.note(path, None),
                Change::Move { path, to } => {
                    place.note(path, None);
                    if let Some((_, bytes)) = known.iter().find(|(known, _)| known == to) {
                        place.note(to, Some(bytes));
                    }
                }
            }
        }
        Ok(report.join("\n").into())
    }
}

/// Computes the changes of a section, and returns a one-line summary. `known` collects moved files
/// whose content the model knows.
async fn plan(
    place: &ToolContext<'_>,
    section: Section,
    changes: &mut Vec<Change>,
    known: &mut Vec<(WorkPath, Vec<u8>)>,
) -> Result<String, String> {
    let env = place.env;
    match section {
        Section::Add { path, content } => add(place, path, content, changes).await,
        Section::Delete { path } => {
            if !env.exists(&path).await.map_err(|error| error.chain())? {
                return Err(format!("{path} does not exist"));
            }
            let line = format!("deleted {path}");
            changes.push(Change::Delete { path });
            Ok(line)
        }
        Section::Update { path, to, hunks } => {
            let bytes = env.read(&path).await.map_err(|error| error.chain())?;
            let has_seen = place.has_seen(&path, &bytes);
            let hunks = meant(hunks, &bytes, place).map_err(|error| format!("{path}: {error}"))?;
            let updated = update(&bytes, &hunks).map_err(|error| format!("{path}: {error}"));
            if updated.is_err() && to.is_none() && has_seen && was_made(&bytes, &hunks) {
                place.note(&path, Some(&bytes));
                return Ok(format!("{path} already has the new lines: nothing to replace"));
            }
            // Exact lines around a change prove that the model has read them; a file that
            // is only moved need not be read.
            if !hunks.is_empty() && !updated.as_ref().is_ok_and(|updated| is_known(&hunks, updated))
            {
                place.may_change(&path, &bytes)?;
            }
            let updated = updated?;
            let mut line = format!("updated {path}");
            if let Some(to) = to {
                refuse_existing(env, &to).await?;
                line = format!("moved {path} to {to}");
                if has_seen || !hunks.is_empty() {
                    known.push((to.clone(), updated.bytes.clone()));
                }
                if !hunks.is_empty() {
                    changes.push(Change::Write { path: path.clone(), bytes: updated.bytes });
                }
                changes.push(Change::Move { path, to });
            } else {
                changes.push(Change::Write { path, bytes: updated.bytes });
            }
            for remark in updated.remarks {
                line.push_str(&format!("; {remark}"));
            }
            Ok(line)
        }
    }
}

/// Computes the change that adds a file.
async fn add(
    place: &ToolContext<'_>,
    path: WorkPath,
    content: String,
    changes: &mut Vec<Change>,
) -> Result<String, String> {
    let bytes = content.into_bytes();
    if place.has_seen(&path, &bytes) && place.env.read(&path).await.is_ok_and(|now| now == bytes) {
        place.note(&path, Some(&bytes));
        return Ok(format!("{path} already has this content"));
    }
    refuse_existing(place.env, &path).await?;
    let line = format!("added {path}");
    changes.push(Change::Write { path, bytes });
    Ok(line)
}

/// Whether the file is as the changes would leave it: they can be taken back.
fn was_made(bytes: &[u8], hunks: &[Hunk]) -> bool {
    let back = |hunk: &Hunk| Hunk {
        hints: hunk.hints.clone(),
        lines: hunk.lines.iter().map(HunkLine::inverse).collect(),
        at_end: hunk.at_end,
    };
    let adds = |hunk: &Hunk| {
        let text =
            |line: &HunkLine| matches!(line, HunkLine::Insert(text) if !text.trim().is_empty());
        hunk.lines.iter().any(text)
    };
    let back_again = update(bytes, &hunks.iter().map(back).collect::<Vec<_>>());
    hunks.iter().all(adds) && back_again.is_ok_and(|before| before.remarks.is_empty())
}

/// Whether a patch proves that its author knows the file: each change is anchored at exact lines of the file.
fn is_known(hunks: &[Hunk], updated: &Updated) -> bool {
    let anchors =
        |line: &HunkLine| !matches!(line, HunkLine::Insert(_)) && !line.text().trim().is_empty();
    updated.remarks.is_empty() && hunks.iter().all(|hunk| hunk.lines.iter().any(anchors))
}

/// The same changes, with the redaction marks shown to the model replaced by the file's secrets.
fn meant(mut hunks: Vec<Hunk>, bytes: &[u8], place: &ToolContext<'_>) -> Result<Vec<Hunk>, String> {
    let marked = |line: &HunkLine| line.text().contains(REDACTED);
    if !hunks.iter().any(|hunk| hunk.lines.iter().any(marked)) {
        return Ok(hunks);
    }
    let text = String::from_utf8_lossy(bytes);
    let Some(shown) = place.shown(&text) else { return Ok(hunks) };
    for hunk in &mut hunks {
        for line in std::mem::take(&mut hunk.lines) {
            let exact = match &line {
                line if !marked(line) => None,
                HunkLine::Insert(text) => shown.restored(text)?,
                HunkLine::Keep(text) | HunkLine::Remove(text) => {
                    shown.meant_by(text)?.map(str::to_owned)
                }
            };
            match exact {
                None => hunk.lines.push(line),
                Some(exact) => hunk.lines.extend(exact.split('\n').map(|text| line.like(text))),
            }
        }
    }
    Ok(hunks)
}

async fn refuse_existing(env: &dyn Environment, path: &WorkPath) -> Result<(), String> {
    if env.exists(path).await.map_err(|error| error.chain())? {
        return Err(format!("{path} exists already; use Update File to change it"));
    }
    Ok(())
}

struct Updated {
    bytes: Vec<u8>,
    remarks: Vec<String>,
}

fn update(bytes: &[u8], hunks: &[Hunk]) -> Result<Updated, String> {
    let lines = Lines::of(bytes);
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut remarks = Vec::new();
    let mut cursor = 0;
    for (place, hunk) in hunks.iter().enumerate() {
        let number = place + 1;
        let (at, likeness) =
            locate(&lines, hunk, cursor).map_err(|error| format!("change {number} {error}"))?;
        if let Some(remark) = likeness.remark() {
            remarks.push(format!("change {number} {remark}"));
        }
        out.extend(lines.all[cursor..at].iter().map(|line| line.to_vec()));
        cursor = at;
        for line in &hunk.lines {
            match line {
                HunkLine::Keep(_) => {
                    out.extend(lines.all.get(cursor).map(|line| line.to_vec()));
                    cursor += 1;
                }
                HunkLine::Remove(_) => cursor += 1,
                HunkLine::Insert(text) => out.push([text.as_bytes(), lines.ending()].concat()),
            }
        }
        cursor = cursor.min(lines.all.len());
    }
    out.extend(lines.all[cursor..].iter().map(|line| line.to_vec()));
    Ok(Updated { bytes: lines.join(&out), remarks })
}

/// Finds the line at which a hunk's own first line matches.
fn locate(lines: &Lines<'_>, hunk: &Hunk, from: usize) -> Result<(usize, Likeness), String> {
    let mut from = from;
    for hint in &hunk.hints {
        let block: [&[u8]; 1] = [hint.as_bytes()];
        let found =
            Likeness::ALL.into_iter().find_map(|like| lines.find(&block, from, like).next());
        from = found
            .ok_or_else(|| format!("has the line {hint:?} above it, which is not in the file"))?
            + 1;
    }
    let mut old: Vec<&[u8]> = hunk
        .lines
        .iter()
        .filter_map(|line| match line {
            HunkLine::Keep(text) | HunkLine::Remove(text) => Some(text.as_bytes()),
            HunkLine::Insert(_) => None,
        })
        .collect();
    if old.is_empty() {
        let end = lines.all.len();
        return Ok((
            if hunk.hints.is_empty() || hunk.at_end { end } else { from },
            Likeness::Exact,
        ));
    }
    if let Some(found) = place(lines, &old, from, hunk.at_end) {
        return Ok(found);
    }
    // An empty line at the very end of a hunk is often only an artifact of how the patch was written.
    if matches!(hunk.lines.last(), Some(HunkLine::Keep(text)) if text.is_empty()) && old.len() > 1 {
        old.pop();
        if let Some(found) = place(lines, &old, from, hunk.at_end) {
            return Ok(found);
        }
    }
    let first: String = String::from_utf8_lossy(old[0]).chars().take(120).collect();
    let near = lines.find(&old[..1], 0, Likeness::Indentation).next();
    Err(match near {
        Some(at) => format!(
            "does not fit: its first line {first:?} is like line {} of the file, but what follows differs",
            at + 1
        ),
        None => format!("does not fit: the line {first:?} is not in the file"),
    })
}

fn place(lines: &Lines<'_>, old: &[&[u8]], from: usize, at_end: bool) -> Option<(usize, Likeness)> {
    let end = lines.all.len().checked_sub(old.len());
    Likeness::ALL.into_iter().find_map(|likeness| {
        let mut found = lines.find(old, from, likeness);
        let at = if at_end { found.find(|at| Some(*at) == end) } else { found.next() };
        at.map(|at| (at, likeness))
    })
}

#[cfg(test)]
mod tests;
