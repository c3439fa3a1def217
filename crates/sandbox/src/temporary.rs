//! Folders for a moment, below the system's folder for such things. Their names say which process made them, so that those
//! of a process that was killed can be told from the others and removed.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use tempfile::TempDir;

/// The names begin with this.
const NAME: &str = "bosun-";
/// How many names are looked at.
const MOST: usize = 100_000;

/// A new folder that goes with its handle.
pub(crate) fn temporary(what: &str) -> io::Result<TempDir> {
    let name = format!("{NAME}{what}.{}.{}.", namespace(), std::process::id());
    tempfile::Builder::new().prefix(&name).tempdir()
}

/// Removes the folders of processes that are gone; how many there were. Those of other people and of other machines that
/// share the place are left alone.
#[must_use]
pub fn sweep_temporary() -> u64 {
    swept(&std::env::temp_dir())
}

fn swept(place: &Path) -> u64 {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten().take(MOST);
    let left = entries.filter(|entry| is_left(&entry.file_name().to_string_lossy()));
    // Anybody may put a name there; what is not ours is not touched.
    let user = nix::unistd::getuid().as_raw();
    let ours = left
        .filter(|entry| entry.metadata().is_ok_and(|facts| facts.is_dir() && facts.uid() == user));
    ours.filter(|entry| crate::bring::remove(&entry.path()).is_ok()).count() as u64
}

/// Whether this is the name of a folder whose process is gone. Numbers of processes mean something only among those that
/// share them.
fn is_left(name: &str) -> bool {
    let mut parts = name.strip_prefix(NAME).unwrap_or_default().split('.');
    let (Some(_what), Some(space), Some(pid), Some(_rest)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Ok(pid) = pid.parse::<i32>() else { return false };
    pid > 0 && space == namespace() && !is_alive(pid)
}

fn is_alive(pid: i32) -> bool {
    let pid = nix::unistd::Pid::from_raw(pid);
    !matches!(nix::sys::signal::kill(pid, None), Err(nix::errno::Errno::ESRCH))
}

/// A name for everybody whose processes are counted together: the first namespace has the same number on every machine.
fn namespace() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host: String = host.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{host}-{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_processes_that_are_gone_are_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let mut child = std::process::Command::new("true").spawn().expect("a process");
        let gone = child.id();
        child.wait().expect("it ends");
        let (space, ours) = (namespace(), std::process::id());
        let left = format!("bosun-proof.{space}.{gone}.abc");
        let kept = [
            format!("bosun-proof.{space}.{ours}.abc"),
            format!("bosun-proof.1{space}.{gone}.abc"),
            "bosun-proof-abc".to_owned(),
            "other".to_owned(),
        ];
        for name in kept.iter().chain([&left]) {
            std::fs::create_dir_all(place.path().join(name).join("deep")).expect("a folder");
        }
        assert_eq!(swept(place.path()), 1);
        assert!(!place.path().join(&left).exists());
        assert!(kept.iter().all(|name| place.path().join(name).exists()));
    }
}
