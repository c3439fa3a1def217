//! The files that a command line names: for each word that can be a path in the workspace, the digest of its content.
//! Their relevance is decided elsewhere.

use std::path::PathBuf;

use sandbox::Environment;
use types::{Digest, FileState, WorkPath};

/// Inspects the files that the words name; `roots` are the workspace's paths on its machine.
pub(crate) async fn look(
    env: &dyn Environment,
    roots: &[PathBuf],
    words: &[String],
) -> Vec<FileState> {
    let mut found: Vec<FileState> = Vec::new();
    for path in words.iter().filter_map(|word| inside(roots, word)) {
        if found.iter().any(|file| file.path == path) {
            continue;
        }
        // Folders and unreadable files have no comparable content.
        let digest = env.read(&path).await.ok().map(|bytes| Digest::of(&bytes));
        found.push(FileState { path, digest });
    }
    found
}

/// A word as a path in the workspace, if it can be one.
fn inside(roots: &[PathBuf], word: &str) -> Option<WorkPath> {
    let mut rest =
        roots.iter().filter_map(|root| word.strip_prefix(root.to_str()?)?.strip_prefix('/'));
    let mut names: Vec<&str> = Vec::new();
    for name in rest.next().unwrap_or(word).split('/') {
        match name {
            // Textual only, ignoring links, whose targets have their own names.
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    names.join("/").parse().ok()
}

#[cfg(test)]
mod tests {
    use sandbox::LocalEnvironment;

    use super::*;

    #[tokio::test]
    async fn words_are_files_by_each_of_their_names() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("sub")).expect("a folder");
        std::fs::write(dir.path().join("sub/x.sh"), "echo").expect("a file");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let roots = [dir.path().to_owned()];
        let whole = dir.path().join("sub/x.sh").display().to_string();
        let words =
            ["sub/x.sh", "./sub/../sub/x.sh", &whole, "sub", "none.sh", "/etc/passwd", "../x"];
        let found = look(&env, &roots, &words.map(str::to_owned)).await;
        let found: Vec<_> = found.iter().map(|file| (file.path.as_str(), file.digest)).collect();
        let echo = Some(Digest::of(b"echo"));
        assert_eq!(found, [("sub/x.sh", echo), ("sub", None), ("none.sh", None)]);
    }
}
