//! The files that a command line names: for each word that can be a path in the workspace, the digest of its content.
//! Their relevance is decided elsewhere.

use std::path::PathBuf;

use sandbox::Environment;
use types::{Digest, FileState, WorkPath};

/// The most files that a pattern is followed to.
const MOST_MATCHES: usize = 1000;

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
        let digest = match env.read(&path).await {
            Ok(bytes) => Some(Digest::of(&bytes)),
            Err(_) if is_pattern(path.as_str()) => Some(matched(env, &path).await),
            Err(_) => None,
        };
        found.push(FileState { path, digest });
    }
    found
}

/// The digest of everything that a pattern matches now, by name and content. Covers more than a shell would match, never
/// less: hidden names, too, and anything for a class or a group.
async fn matched(env: &dyn Environment, pattern: &WorkPath) -> Digest {
    let mut paths = vec![WorkPath::root()];
    for wanted in pattern.components() {
        let mut next = vec![];
        for above in &paths {
            let joined =
                |name: &str| -> Option<WorkPath> { format!("{above}/{name}").parse().ok() };
            if !is_pattern(wanted) {
                next.extend(joined(wanted));
                continue;
            }
            let below = env.list(above, 1).await.unwrap_or_default();
            let names = below.iter().filter_map(|entry| entry.path.as_str().rsplit('/').next());
            next.extend(names.filter(|name| fits(wanted, name)).filter_map(joined));
        }
        next.sort();
        next.truncate(MOST_MATCHES);
        paths = next;
    }
    let mut text = String::new();
    for path in paths {
        let digest = env.read(&path).await.ok().map(|bytes| Digest::of(&bytes).to_string());
        text.push_str(&format!("{path}\0{}\0", digest.unwrap_or_default()));
    }
    Digest::of(text.as_bytes())
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '('])
}

/// Whether a name may match a pattern of a shell, in linear memory and without backtracking further than one star.
fn fits(pattern: &str, name: &str) -> bool {
    let cut = pattern.find(['[', '{', '(']).unwrap_or(pattern.len());
    let open = if cut < pattern.len() { "*" } else { "" };
    let pattern: Vec<char> = pattern[..cut].chars().chain(open.chars()).collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n, mut star) = (0, 0, None);
    while let Some(c) = name.get(n) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(wanted) if *wanted == '?' || wanted == c => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, from)) => {
                    (p, n) = (at + 1, from + 1);
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
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
        // A pattern stands for all that it matches.
        let all = async |pattern: &str| look(&env, &roots, &[pattern.to_owned()]).await;
        let patterns =
            [("sub/*.sh", false), ("*/x.*", true), ("s?b/[a-z].sh", false), ("sub/{x,y}", false)];
        let mut before = vec![];
        for (pattern, _) in patterns {
            before.push(all(pattern).await);
        }
        std::fs::write(dir.path().join("sub/y.sh"), "new").expect("a file");
        for ((pattern, same), before) in patterns.iter().zip(&before) {
            assert_eq!(all(pattern).await == *before, *same, "{pattern}");
        }
        std::fs::write(dir.path().join("sub/x.sh"), "other").expect("a file");
        assert_ne!(all("*/x.*").await, before[1]);
        std::fs::write(dir.path().join("sub/x.sh"), "echo").expect("a file");
        let echo = Some(Digest::of(b"echo"));
        assert_eq!(found, [("sub/x.sh", echo), ("sub", None), ("none.sh", None)]);
    }
}
