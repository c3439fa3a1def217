//! The links that a commit brings: which are new or lead elsewhere than before, and where to. Whether that is allowed is
//! decided elsewhere.

use types::{CommitId, WorkPath};

use super::{GitError, Repo, hash};

/// The mode of a link in a tree.
const LINK: &[u8] = b"120000";
/// The most links that are looked at, and the longest target that is read.
const MOST: usize = 1_000;
const LONGEST: usize = 4_096;

impl Repo {
    /// The links that differ between two commits, as they are in the second, with what they lead to.
    pub async fn changed_links(
        &self,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Vec<(WorkPath, String)>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"];
        let args: Vec<&str> = args.into_iter().chain([hash(from)?, hash(to)?, "--"]).collect();
        let answer = self.git().run(self.here(), &args).await?;
        let mut found = Vec::new();
        let mut lines = answer.names();
        while let (Some(line), Some(name)) = (lines.next(), lines.next()) {
            // `:100644 120000 OLD NEW M`
            let mut words = line.split(|byte| *byte == b' ');
            let (Some(LINK), Some(object)) = (words.nth(1), words.nth(1)) else { continue };
            let (Ok(name), Ok(object)) = (std::str::from_utf8(name), std::str::from_utf8(object))
            else {
                continue;
            };
            let Ok(path) = name.parse::<WorkPath>() else { continue };
            if found.len() == MOST {
                break;
            }
            let blob = self.git().run(self.here(), &["cat-file", "blob", object]).await?;
            let target = &blob.stdout[..blob.stdout.len().min(LONGEST)];
            found.push((path, String::from_utf8_lossy(target).into_owned()));
        }
        Ok(found)
    }
}
