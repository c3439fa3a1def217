//! Python virtual environments. Their programs contain the path where they were created, so they are not copied: they
//! are read in place, and another checkout gets a folder of links under the same name. Packages installed into one from
//! a checkout are searched in the workspace instead.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;

use crate::content;

/// Maximum size of a file that is searched for paths of installed checkouts.
const MAX_BYTES: u64 = 256 * 1024;

/// Whether a folder is a virtual environment.
#[must_use]
pub fn is_venv(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").is_file()
}

/// Creates a folder of links to the entries of a virtual environment.
pub fn mirror(environment: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(environment)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        // Git does not follow a link when it reads ignore rules; and neither is one followed here, to files that whoever
        // made the environment could not read.
        if entry.file_name() != ".gitignore" {
            symlink(entry.path(), place)?;
        } else if let Ok((rules, _)) = content::read(CWD, entry.path(), MAX_BYTES) {
            File::create_new(place)?.write_all(&rules)?;
        }
    }
    Ok(())
}

/// The folders of a checkout from which packages were installed into an environment in editable mode, relative to the
/// checkout. Python would import these packages from that checkout, even when it runs in another one.
#[must_use]
pub fn editable(environment: &Path, checkout: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let packages = below(&environment.join("lib")).into_iter();
    for folder in packages.map(|python| python.join("site-packages")) {
        for file in below(&folder) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let paths = |text: String| -> Vec<PathBuf> {
                if name.ends_with(".pth") {
                    text.lines().map(|line| PathBuf::from(line.trim())).collect()
                } else {
                    // A table of packages and their locations; the parent folder of each is the one to search.
                    let quoted = text.split(['\'', '"']).map(Path::new);
                    quoted.filter_map(Path::parent).map(Path::to_owned).collect()
                }
            };
            let tells = name.ends_with(".pth")
                || (name.starts_with("__editable__") && name.ends_with("_finder.py"));
            if tells {
                let text = content::followed(&file, MAX_BYTES).unwrap_or_default();
                let inside = paths(String::from_utf8_lossy(&text).into_owned())
                    .into_iter()
                    .filter_map(|path| path.strip_prefix(checkout).ok().map(Path::to_owned));
                found.extend(inside);
            }
        }
    }
    // Packages installed into the environment itself do not belong to the checkout.
    let own = environment.strip_prefix(checkout).unwrap_or(environment);
    found.retain(|path| !path.starts_with(own));
    found.sort();
    found.dedup();
    found
}

/// Expands a leading `~/`; `None` if the result is not absolute, or contains `..`.
#[must_use]
pub fn expanded(path: &str) -> Option<PathBuf> {
    let whole = match path.strip_prefix("~/") {
        Some(rest) => PathBuf::from(std::env::var_os("HOME")?).join(rest),
        None => PathBuf::from(path),
    };
    let plain = !whole.components().any(|part| part == std::path::Component::ParentDir);
    (whole.is_absolute() && plain).then_some(whole)
}

/// Whether showing a path to commands would show more than a toolchain: the user's home or keys, or system folders.
#[must_use]
pub fn shows_too_much(path: &Path) -> bool {
    const KEYS: [&str; 6] = [".ssh", ".aws", ".gnupg", ".kube", ".docker", ".config"];
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let around = home.as_ref().is_some_and(|home| home.starts_with(path));
    let keys = home.is_some_and(|home| KEYS.iter().any(|key| path.starts_with(home.join(key))));
    let system = ["/etc", "/proc", "/sys", "/dev", "/run", "/var", "/boot", "/home"];
    let system = system.iter().any(|folder| path == Path::new(folder));
    around || keys || system || path.components().count() < 2
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_are_edited_in_a_checkout_are_found() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        let packages = root.join(".venv/lib/python3.11/site-packages");
        fs::create_dir_all(&packages).expect("folders");
        let put = |name: &str, text: String| fs::write(packages.join(name), text).expect("a file");
        put("__editable__.own-1.0.pth", format!("{}/src\n", root.display()));
        put("other.pth", "/somewhere/else\nimport os\n".to_owned());
        let table = format!("MAPPING = {{'flat': '{}/lib/flat'}}\n", root.display());
        put("__editable___flat_1_0_finder.py", table);
        let found = editable(&root.join(".venv"), root);
        assert_eq!(found, [PathBuf::from("lib"), PathBuf::from("src")]);
    }

    #[test]
    fn an_environment_is_mirrored_by_links() {
        let dir = tempfile::tempdir().expect("a folder");
        let (from, to) = (dir.path().join(".venv"), dir.path().join("other"));
        fs::create_dir_all(from.join("bin")).expect("folders");
        for name in ["pyvenv.cfg", ".gitignore", "bin/tool"] {
            fs::write(from.join(name), "*\n").expect("a file");
        }
        assert!(is_venv(&from) && !is_venv(dir.path()));
        mirror(&from, &to).expect("mirrored");
        assert_eq!(fs::read_link(to.join("bin")).expect("a link"), from.join("bin"));
        assert!(to.join("bin/tool").is_file() && is_venv(&to));
        assert!(!to.join(".gitignore").is_symlink());
    }

    /// A set-up of somebody else's may have made the environment.
    #[test]
    fn an_environment_brings_no_file_along_that_it_links_to_and_no_pipe_is_waited_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let (from, to) = (dir.path().join(".venv"), dir.path().join("other"));
        let packages = from.join("lib/python3.11/site-packages");
        fs::create_dir_all(&packages).expect("folders");
        fs::write(dir.path().join("key"), "secret").expect("a file");
        symlink(dir.path().join("key"), from.join(".gitignore")).expect("a link");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let pipe = packages.join("x.pth");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        mirror(&from, &to).expect("mirrored");
        assert!(to.join(".gitignore").symlink_metadata().is_err());
        assert!(editable(&from, dir.path()).is_empty());
    }

    #[test]
    fn a_path_outside_is_a_toolchain_and_nothing_larger() {
        assert_eq!(expanded("/opt/tool"), Some(PathBuf::from("/opt/tool")));
        assert_eq!((expanded("tool"), expanded("/opt/../etc")), (None, None));
        let home = expanded("~/.rbenv").expect("a home");
        assert!(home.is_absolute() && home.ends_with(".rbenv") && !shows_too_much(&home));
        for path in ["/", "/etc", "/home"] {
            assert!(shows_too_much(Path::new(path)), "{path}");
        }
        for path in ["~/.", "~/.ssh", "~/.config/gh"] {
            assert!(shows_too_much(&expanded(path).expect("a path")), "{path}");
        }
    }
}
