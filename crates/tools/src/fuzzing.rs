//! Properties that must be true for any bytes that a model sends as a patch or an edit. Called by the fuzz targets and
//! by tests; not a public API.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::FutureExt as _;
use sandbox::{EnvError, Environment};
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

use crate::apply_patch::ApplyPatch;
use crate::edit_file;
use crate::typed::Typed as _;
use crate::{FileReadTracker, ToolContext};

type Files = BTreeMap<WorkPath, Vec<u8>>;

/// A patch changes only the files that it names, and all of them or none, even if a write fails midway. Input: number
/// of the failing write, a file, a zero byte, the patch.
#[expect(clippy::panic, reason = "it is there to panic")]
pub fn patch(bytes: &[u8]) {
    let Some((failing, rest)) = bytes.split_first() else { return };
    let (file, text) = halves(rest);
    let files: Files = [("f", file), ("g/h", b"one\ntwo\n".as_slice())]
        .into_iter()
        .filter_map(|(path, content)| Some((path.parse().ok()?, content.to_vec())))
        .collect();
    let text = String::from_utf8_lossy(text).into_owned();
    let facts = ApplyPatch::of(&text).facts();
    let env = Memory::new(files.clone(), usize::from(*failing));
    let (seen, stop) = (FileReadTracker::unguarded(), CancellationToken::new());
    let place = ToolContext::new(&env, &seen, &stop);
    let done = ApplyPatch::of(&text).act(&place).now_or_never();
    let after = env.into_files();
    match (facts, done) {
        (_, None) => panic!("files in memory keep nobody waiting"),
        (Err(_), Some(Ok(_))) => panic!("a patch that is not understood was applied"),
        (_, Some(Err(_))) => assert_eq!(after, files, "a patch that failed changed something"),
        (Ok(facts), Some(Ok(_))) => {
            let all = files.keys().chain(after.keys());
            for path in all.filter(|path| files.get(*path) != after.get(*path)) {
                assert!(facts.paths.contains(path), "{path} was changed and is not named");
            }
        }
    }
}

/// An edit changes only the text that it replaces, and new lines within a line get the file's endings. Input: a file, a zero byte, the old text, a zero byte, the new text.
pub fn edit(bytes: &[u8]) {
    let (file, rest) = halves(bytes);
    let (old, new) = halves(rest);
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    if old.is_empty() || old == new {
        return;
    }
    let count = memchr::memmem::find_iter(file, old.as_bytes()).count();
    match edit_file::replaced(file, &old, &new) {
        Err(_) => assert_ne!(count, 1, "a text that stands there once was not replaced"),
        Ok(after) if count == 1 => {
            let at = memchr::memmem::find(file, old.as_bytes()).unwrap_or_default();
            let within = !old.contains('\n') && !new.contains('\r') && edit_file::has_returns(file);
            let new = if within { new.replace('\n', "\r\n") } else { new.into_owned() };
            let expected = [&file[..at], new.as_bytes(), &file[at + old.len()..]].concat();
            assert_eq!(after, expected);
        }
        Ok(after) => {
            assert_eq!(count, 0, "one of several was taken");
            outside_stays(file, &after, old.split_inclusive('\n').count());
        }
    }
}

/// All differences are within this many consecutive lines.
fn outside_stays(before: &[u8], after: &[u8], lines: usize) {
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let head = before.iter().zip(after).take_while(same).count();
    let room = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(room).take_while(same).count();
    let lengths: Vec<usize> = before.split_inclusive(|b| *b == b'\n').map(<[u8]>::len).collect();
    let window = lengths.windows(lines.clamp(1, lengths.len().max(1)));
    let most = window.map(|window| window.iter().sum::<usize>()).max().unwrap_or(0);
    assert!(before.len() - head - tail <= most, "more changed than what was to be replaced");
}

fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(0, bytes) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}

/// Files in memory; one write can be made to fail.
#[derive(Debug)]
struct Memory {
    files: Mutex<Files>,
    /// Number of writes up to and including the one that fails.
    left: AtomicUsize,
}

impl Memory {
    fn new(files: Files, failing: usize) -> Self {
        Self { files: Mutex::new(files), left: AtomicUsize::new(failing) }
    }

    fn into_files(self) -> Files {
        self.files.into_inner().unwrap_or_default()
    }

    fn change<T>(
        &self,
        path: &WorkPath,
        work: impl FnOnce(&mut Files) -> T,
    ) -> Result<T, EnvError> {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        let failed = || EnvError::ThroughLink { path: path.clone() };
        if left == 1 {
            return Err(failed());
        }
        self.files.lock().map(|mut files| work(&mut files)).map_err(|_| failed())
    }
}

#[async_trait]
impl Environment for Memory {
    fn facts(&self) -> Facts {
        let word = || "memory".to_owned();
        Facts { platform: word(), os_version: word(), working_dir: word() }
    }

    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        let files = self.files.lock().map_err(|_| EnvError::NotFound { path: path.clone() })?;
        files.get(path).cloned().ok_or_else(|| EnvError::NotFound { path: path.clone() })
    }

    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
        self.change(path, |files| files.insert(path.clone(), bytes.to_vec())).map(|_| ())
    }

    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        let gone = self.change(path, |files| files.remove(path))?;
        gone.map(|_| ()).ok_or_else(|| EnvError::NotFound { path: path.clone() })
    }

    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
        Ok(self.read(path).await.is_ok())
    }

    async fn list(&self, _path: &WorkPath, _depth: u32) -> Result<Vec<DirEntry>, EnvError> {
        Ok(Vec::new())
    }

    async fn exec(
        &self,
        _request: ExecRequest,
        _stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        Err(EnvError::Unsupported { what: "commands" })
    }
}

#[cfg(test)]
mod tests;
