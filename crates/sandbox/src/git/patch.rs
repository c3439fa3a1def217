//! The change between two commits as a patch, as people and `git apply` read it. What differs in numbers is in `tree.rs`.

use types::CommitId;

use super::{GitError, Repo, hash};

impl Repo {
    /// The patch from one commit to another with three lines around each change, byte for byte as git writes it. A
    /// renamed file is one file; one that is not text is only named.
    pub async fn patch(&self, from: &CommitId, to: &CommitId) -> Result<Vec<u8>, GitError> {
        let mut args = vec!["diff-tree", "-r", "-p", "-U3", "-M", "--no-ext-diff", "--no-color"];
        args.extend(["--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"]);
        args.extend([hash(from)?, hash(to)?, "--"]);
        Ok(self.git().run(self.here(), &args).await?.stdout)
    }
}
