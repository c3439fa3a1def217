//! Records the state of a path in a workspace so that it can be restored: a file with its mode, a link, an empty
//! folder, or nothing. Refuses git's own files and hidden ones, and follows no link.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use types::WorkPath;

use super::moving;
use crate::jail::{self, Jail, Links, refused};
use crate::search::Hidden;
use crate::staging::STAGING;
use crate::writing;
use crate::{Change, EnvError, MAX_FILE_BYTES};

/// The files of a workspace.
pub(super) struct Files<'a> {
    pub(super) jail: &'a Jail,
    pub(super) root: &'a Path,
    pub(super) hidden: &'a Hidden,
}

/// State of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// Not recorded, because it is never needed.
    NotKept,
    Nothing,
    Folder,
    Link(String),
    File {
        /// `None` keeps the existing mode, or uses the default one.
        mode: Option<u32>,
        #[serde(with = "bytes")]
        bytes: Vec<u8>,
    },
}

impl State {
    fn is(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::File { bytes, .. }, Self::File { mode: None, bytes: wanted }) => bytes == wanted,
            _ => self == wanted,
        }
    }
}

impl Files<'_> {
    /// The current state of a path.
    pub(super) fn state(&self, path: &WorkPath) -> Result<State, EnvError> {
        let (folder, name) = match self.jail.parent(path) {
            Err(EnvError::NotFound { .. } | EnvError::NotAFolder { .. }) => {
                return Ok(State::Nothing);
            }
            found => found?,
        };
        let failed = |errno| refused(errno, "looking at", path);
        let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(State::Nothing),
            stat => stat.map_err(failed)?,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(State::Folder),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&folder, name, Vec::new()).map_err(failed)?;
                let target = target.into_string().map_err(|_| failed(Errno::ILSEQ))?;
                Ok(State::Link(target))
            }
            FileType::RegularFile => {
                if self.hidden.covers(path.as_str()) {
                    return Err(EnvError::Hidden { path: path.clone() });
                }
                let file = self.jail.file(path, Links::Refuse)?;
                let bytes = jail::whole(file, path, MAX_FILE_BYTES)?;
                Ok(State::File { mode: Some(stat.st_mode & 0o777), bytes })
            }
            _ => Err(EnvError::NotRegular { path: path.clone() }),
        }
    }

    /// Brings a path into a state, unless it is in that state already.
    pub(super) fn put(&self, path: &WorkPath, wanted: &State) -> Result<(), EnvError> {
        if *wanted == State::NotKept || self.state(path)?.is(wanted) {
            return Ok(());
        }
        if let State::File { mode, bytes } = wanted {
            return writing::write(self.jail, path, bytes, *mode);
        }
        match moving::delete(self.jail, path) {
            Ok(()) | Err(EnvError::NotFound { .. } | EnvError::NotAFolder { .. }) => {}
            Err(error) => return Err(error),
        }
        let failed = |errno| refused(errno, "putting back", path);
        match wanted {
            State::NotKept | State::Nothing | State::File { .. } => Ok(()),
            State::Folder => {
                let (folder, name) = self.jail.make_parent(path)?;
                rustix::fs::mkdirat(&folder, name, 0o777.into()).map_err(failed)
            }
            State::Link(target) => {
                let (folder, name) = self.jail.make_parent(path)?;
                rustix::fs::symlinkat(target.as_str(), &folder, name).map_err(failed)
            }
        }
    }

    /// Makes one change.
    pub(super) fn make(&self, change: &Change) -> Result<(), EnvError> {
        match change {
            Change::Write { path, bytes } => writing::write(self.jail, path, bytes, None),
            Change::Delete { path } => moving::delete(self.jail, path),
            Change::Move { path, to } => moving::rename(self.jail, path, to, self.hidden),
        }
    }

    /// Syncs the folders above these paths, so that the names in them are durable.
    pub(super) fn sync(&self, paths: &[&WorkPath]) -> Result<(), EnvError> {
        let mut folders = BTreeSet::new();
        for path in paths {
            let place = self.root.join(path.as_str());
            let above = place.ancestors().skip(1).take_while(|above| above.starts_with(self.root));
            folders.extend(above.map(Path::to_owned));
        }
        for folder in folders.iter().rev() {
            // Commands may have replaced it with a link or a file meanwhile; then it contains nothing to sync.
            let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
            if is_folder && let Err(source) = crate::durable::sync(folder) {
                return Err(EnvError::Io { doing: "syncing", path: WorkPath::root(), source });
            }
        }
        Ok(())
    }

    /// Removes staging files that an interrupted write left beside a path.
    pub(super) fn clear_staging(&self, path: &WorkPath) -> io::Result<()> {
        let Ok((folder, _)) = self.jail.parent(path) else { return Ok(()) };
        for name in jail::names_in(&folder)? {
            if name.as_bytes().starts_with(STAGING.as_bytes()) {
                rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
            }
        }
        Ok(())
    }
}

/// Serializes bytes as text, or as hexadecimal digits if they are not UTF-8.
mod bytes {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => to.serialize_str(&format!("t{text}")),
            Err(_) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                to.serialize_str(&format!("x{digits}"))
            }
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        if let Some(text) = text.strip_prefix('t') {
            return Ok(text.as_bytes().to_vec());
        }
        let digits = text.strip_prefix('x').unwrap_or_default().as_bytes();
        let byte = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).map_err(D::Error::custom)?;
            u8::from_str_radix(pair, 16).map_err(D::Error::custom)
        };
        digits.chunks(2).map(byte).collect()
    }
}
