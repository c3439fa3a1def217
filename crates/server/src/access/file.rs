//! The file `access.toml`. Each change writes a new file and renames it over the old one. It is readable by its owner
//! only, and a lock lets the command line and a server both change it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use types::{Digest, Timestamp};

use super::user::{Project, User};

/// Error reading or changing the users.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("cannot access {path}")]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is invalid: {cause}; fix or remove it")]
    Unreadable { path: PathBuf, cause: String },
    #[error("{what} {name:?} already exists")]
    Taken { what: &'static str, name: String },
    #[error("there is no {what} {name:?}")]
    Unknown { what: &'static str, name: String },
    #[error(
        "{name:?} is not a valid name; use 1 to 40 ASCII letters, digits, dots, dashes or underscores, not starting with a dot"
    )]
    Name { name: String },
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AccessFile {
    pub(super) users: Vec<StoredUser>,
    pub(super) projects: Vec<Project>,
    pub(super) logins: Vec<StoredLogin>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredUser {
    #[serde(flatten)]
    pub(super) user: User,
    /// Digest of the token; empty for users who only log in by link.
    token: String,
    created: Timestamp,
}

impl StoredUser {
    /// What no other user has, not even one of the same name: the token is random, and whoever has none was created at
    /// another time.
    pub(super) fn account(&self) -> Digest {
        let Self { user, token, created } = self;
        Digest::of(format!("{}\n{token}\n{}", user.name, created.millis()).as_bytes())
    }
}

/// A logged-in browser, or a pending login link.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    pub(super) user: String,
    pub(super) digest: String,
    pub(super) until: Timestamp,
    #[serde(default)]
    pub(super) once: bool,
}

impl AccessFile {
    pub(super) fn add(&mut self, user: User, token: String, created: Timestamp) {
        self.users.push(StoredUser { user, token, created });
    }

    pub(super) fn user(&self, name: &str) -> Option<&StoredUser> {
        self.users.iter().find(|stored| stored.user.name == name)
    }

    pub(super) fn user_of_token(&self, digest: &str) -> Option<&StoredUser> {
        self.users.iter().find(|stored| !stored.token.is_empty() && stored.token == digest)
    }
}

/// The file as it was last read.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) file: Arc<AccessFile>,
    /// Modification time, length and inode when it was read.
    seen: Option<(SystemTime, u64, u64)>,
}

impl Listed {
    /// Reads the file again, if it has changed.
    pub(super) fn refresh(&mut self, path: &Path) -> Result<(), AccessError> {
        let failed = |source| AccessError::File { path: path.to_owned(), source };
        let now = match fs::metadata(path) {
            Ok(found) => Some((found.modified().map_err(failed)?, found.len(), found.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(failed(source)),
        };
        if now == self.seen && now.is_some() {
            return Ok(());
        }
        self.file = match now {
            None => Arc::default(),
            Some(_) => {
                let text = fs::read_to_string(path).map_err(failed)?;
                Arc::new(toml::from_str(&text).map_err(|error| AccessError::Unreadable {
                    path: path.to_owned(),
                    cause: error.message().to_owned(),
                })?)
            }
        };
        self.seen = now;
        Ok(())
    }

    /// Changes the file. Nothing is written if `change` fails.
    pub(super) fn change(
        &mut self,
        path: &Path,
        change: impl FnOnce(&mut AccessFile) -> Result<(), AccessError>,
    ) -> Result<(), AccessError> {
        let failed = |source| AccessError::File { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let _lock = lock(path).map_err(failed)?;
        self.seen = None;
        self.refresh(path)?;
        let mut file = AccessFile::clone(&self.file);
        change(&mut file)?;
        let text =
            toml::to_string_pretty(&file).map_err(|error| failed(io::Error::other(error)))?;
        write(path, &text).map_err(failed)?;
        self.file = Arc::new(file);
        self.seen = None;
        Ok(())
    }
}

/// Takes the lock that serializes changes across processes.
fn lock(path: &Path) -> io::Result<File> {
    let beside = path.with_extension("toml.lock");
    let file = private(&beside)?;
    file.lock()?;
    Ok(file)
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("toml.new");
    let mut file = private(&beside)?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

/// Validates a name. Names appear in links, file names and logs.
pub(super) fn check_name(name: &str) -> Result<(), AccessError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=40).contains(&name.len()) && name.chars().all(fits) && !name.starts_with('.') {
        return Ok(());
    }
    Err(AccessError::Name { name: types::one_line(name, 60) })
}
