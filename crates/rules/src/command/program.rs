//! What a program is called: loosely, for rules that forbid, and strictly, for rules that allow.

use super::{Part, Word};

/// Folders in which the system keeps its programs.
const SYSTEM: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Programs that fetch or take something from the network.
const NETWORK: &[&str] = &[
    "aria2c", "axel", "curl", "curlie", "fetch", "ftp", "http", "https", "lftp", "links", "lynx",
    "nc", "ncat", "netcat", "scp", "sftp", "socat", "ssh", "telnet", "tftp", "w3m", "wget",
    "wget2", "xh",
];

impl Part {
    /// The program's name, whatever its folder and case, as far as it is likely.
    pub fn name(&self) -> Option<String> {
        self.words.first().and_then(name)
    }

    pub(super) fn is_network(&self) -> bool {
        self.name().is_some_and(|name| NETWORK.contains(&name.as_str()))
    }
}

fn name(word: &Word) -> Option<String> {
    let text = word.likely()?;
    let last = text.trim_end_matches('/').rsplit('/').next()?;
    Some(last.to_lowercase())
}

/// The program's name, if it can only be the one that is meant: bare, so that it is looked up where programs are, or
/// in one of the system's folders.
pub(super) fn certain(word: &Word) -> Option<String> {
    let text = word.known()?;
    match text.rsplit_once('/') {
        None => Some(text),
        Some((folder, name)) => SYSTEM.contains(&folder).then(|| name.to_owned()),
    }
}
