//! The symbolic links of a commit and their targets, as texts. Whether a target is permitted is decided elsewhere.

use std::collections::BTreeMap;

use types::CommitId;

use super::call::With;
use super::{GitError, Repo, hash};

/// The mode of a symbolic link.
const LINK: &[u8] = b"120000 blob ";
/// Maximum length of a target; no kernel accepts a longer one.
const LONGEST: usize = 4096;

impl Repo {
    /// Every symbolic link of a commit, by path.
    pub async fn links(&self, commit: &CommitId) -> Result<BTreeMap<String, String>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", hash(commit)?];
        let answer = self.git().run(self.here(), &args).await?;
        let found: Vec<(String, String)> = answer
            .names()
            .filter_map(|line| line.strip_prefix(LINK))
            .filter_map(|line| {
                let text = String::from_utf8_lossy(line).into_owned();
                text.split_once('\t').map(|(object, path)| (object.to_owned(), path.to_owned()))
            })
            .collect();
        if found.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asked: String = found.iter().map(|(object, _)| format!("{object}\n")).collect();
        let with = With { stdin: asked.as_bytes(), ..With::default() };
        let answer = self.git().run_with(self.here(), &["cat-file", "--batch"], with).await?;
        let mut rest = answer.stdout.as_slice();
        let mut links = BTreeMap::new();
        for (_, path) in found {
            let Some((target, after)) = next(rest) else { break };
            let target = &target[..target.len().min(LONGEST)];
            links.insert(path, String::from_utf8_lossy(target).into_owned());
            rest = after;
        }
        Ok(links)
    }
}

/// The next object in the output of `cat-file --batch`, and the remaining output.
fn next(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&answer[..end]).ok()?;
    let size: usize = line.rsplit(' ').next()?.parse().ok()?;
    let content = answer.get(end + 1..)?.get(..size)?;
    Some((content, answer.get(end + 2 + size..).unwrap_or_default()))
}
