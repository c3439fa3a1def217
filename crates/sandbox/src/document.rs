//! Reads documents for agents, and settings, from an untrusted folder: regular files only, bounded in size, and through
//! no link that leaves the folder or leads to anything but a document. A missing file is not an error.

use std::io::{self, Read as _};
use std::path::Path;

use types::{Document, WorkPath};

use crate::EnvError;
use crate::jail::{self, Jail, Links};

/// Returns the documents of these names that exist, in this order, at most `limit` bytes of each. A document with the
/// same text as an earlier one, for example through a link, is left out.
pub fn documents(
    root: &Path,
    wanted: &[WorkPath],
    limit: usize,
) -> Result<Vec<Document>, EnvError> {
    let failed = |source| EnvError::Root { root: root.display().to_string(), source };
    let jail = Jail::open(root).map_err(failed)?;
    let root = root.canonicalize().map_err(failed)?;
    let mut found: Vec<Document> = Vec::new();
    for path in wanted {
        let Some(text) = read(&jail, &root, path, limit) else { continue };
        if !found.iter().any(|known| known.text == text) {
            found.push(Document { path: path.clone(), text });
        }
    }
    Ok(found)
}

/// Reads a file, if it exists. Refuses links, and git's own files, which may contain keys.
pub fn text(root: &Path, path: &WorkPath, max: u64) -> Result<Option<String>, EnvError> {
    if jail::is_protected(path) {
        return Err(EnvError::Hidden { path: path.clone() });
    }
    let failed = |source| EnvError::Root { root: root.display().to_string(), source };
    let file = match Jail::open(root).map_err(failed)?.file(path, Links::Refuse) {
        Err(EnvError::NotFound { .. }) => return Ok(None),
        file => file?,
    };
    let text = String::from_utf8(jail::whole(file, path, max)?).map_err(|error| {
        let source = io::Error::new(io::ErrorKind::InvalidData, error);
        EnvError::Io { doing: "reading", path: path.clone(), source }
    })?;
    Ok(Some(text))
}

/// A document that cannot be read, for any reason, counts as missing.
fn read(jail: &Jail, root: &Path, path: &WorkPath, limit: usize) -> Option<String> {
    let file = jail.file(path, Links::Follow).ok()?;
    let place = Jail::place(&file, path, root).ok()?;
    if jail::is_protected(&place) || !place.as_str().to_ascii_lowercase().ends_with(".md") {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limit as u64).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A48, A49: which files of a repository may reach a model, and which may not.
    #[test]
    fn only_documents_inside_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        for folder in ["repo/sub", "repo/.git", "outside"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        std::fs::write(at("outside/AGENTS.md"), "outside").expect("a file");
        std::fs::write(at("repo/.env"), "KEY=1").expect("a file");
        std::fs::write(at("repo/.git/x.md"), "git's").expect("a file");
        std::fs::write(at("repo/AGENTS.md"), "0123456789").expect("a file");
        symlink("AGENTS.md", at("repo/CLAUDE.md")).expect("a link");
        symlink("../outside/AGENTS.md", at("repo/out.md")).expect("a link");
        symlink(".env", at("repo/secret.md")).expect("a link");
        symlink(".git/x.md", at("repo/own.md")).expect("a link");
        std::fs::create_dir(at("repo/folder.md")).expect("a folder");
        let pipe = at("repo/pipe.md");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a pipe");
        let names = [
            "AGENTS.md",
            "CLAUDE.md",
            "out.md",
            "secret.md",
            "own.md",
            "folder.md",
            "pipe.md",
            "none.md",
        ];
        let wanted = names.map(|name| name.parse().expect("a path"));
        let found = documents(&at("repo"), &wanted, 4).expect("a repository");
        let begins = "0123".to_owned();
        assert_eq!(found, [Document { path: wanted[0].clone(), text: begins }]);
        for (name, why) in wanted.iter().zip([
            "",
            "symbolic link",
            "symbolic link",
            "symbolic link",
            "symbolic link",
            "is a folder",
            "regular file",
            "",
        ]) {
            match text(&at("repo"), name, 10) {
                Ok(text) => assert_eq!(text.is_some(), name.as_str() == "AGENTS.md"),
                Err(error) => assert!(!why.is_empty() && error.chain().contains(why), "{error}"),
            }
        }
        let whole = |name: &str, max| text(&at("repo"), &name.parse().expect("a path"), max);
        assert!(matches!(whole("AGENTS.md", 9), Err(EnvError::TooLarge { bytes: 10, .. })));
        assert!(matches!(whole(".git/x.md", 9), Err(EnvError::Hidden { .. })));
        std::fs::write(at("repo/sub/bytes"), b"\xff").expect("a file");
        assert!(whole("sub/bytes", 9).expect_err("no text").chain().contains("utf-8"));
    }
}
