//! The patch between two commits, for people and `git apply`. `tree.rs` has the changes as numbers.

use types::CommitId;

use super::{GitError, Repo, hash};

impl Repo {
    /// The patch from one commit to another with three context lines, byte for byte as git writes it. A renamed file is
    /// one entry; a binary file is only named.
    pub async fn patch(&self, from: &CommitId, to: &CommitId) -> Result<Vec<u8>, GitError> {
        let mut args = vec!["diff-tree", "-r", "-p", "-U3", "-M", "--no-ext-diff", "--no-color"];
        args.extend(["--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"]);
        args.extend([hash(from)?, hash(to)?, "--"]);
        Ok(self.git().run(self.here(), &args).await?.stdout)
    }
}
