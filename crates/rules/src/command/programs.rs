//! Programs by name: the name itself (loosely for rules that forbid, strictly for rules that allow), and which programs
//! are shells, interpreters or network clients. Tables only; the effect of arguments is decided elsewhere.

use super::part::Part;
use super::word::Word;

/// Folders in which the system keeps its programs.
const SYSTEM: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Programs that fetch from the network.
const NETWORK: &[&str] = &[
    "aria2c", "axel", "curl", "curlie", "fetch", "ftp", "http", "https", "lftp", "links", "lynx",
    "nc", "ncat", "netcat", "scp", "sftp", "socat", "ssh", "telnet", "tftp", "w3m", "wget",
    "wget2", "xh",
];

const SHELLS: [&str; 10] =
    ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh"];

/// Interpreters, by the beginning of their names.
const INTERPRETERS: [&str; 19] = [
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "rscript",
    "tclsh",
    "wish",
    "osascript",
    "expect",
    "groovy",
    "julia",
    "guile",
];

/// Options of shells that take a value.
const VALUED: [&str; 6] = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

impl Part {
    /// The likely name of the program, without its folder and in lower case.
    pub(crate) fn name(&self) -> Option<String> {
        let text = self.words.first()?.likely()?;
        let last = text.trim_end_matches('/').rsplit('/').next()?;
        Some(last.to_lowercase())
    }

    pub(super) fn is_network(&self) -> bool {
        self.name().is_some_and(|name| NETWORK.contains(&name.as_str()))
    }
}

/// The name of the program, if it is certain: bare, so that it is found by `PATH`, or in one of the system's folders.
pub(super) fn certain(word: &Word) -> Option<String> {
    let text = word.known()?;
    match text.rsplit_once('/') {
        None => Some(text),
        Some((folder, name)) => SYSTEM.contains(&folder).then(|| name.to_owned()),
    }
}

pub(super) fn is_shell(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    SHELLS.contains(&plain.strip_suffix("-static").unwrap_or(plain))
}

pub(super) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().any(|known| {
        name.strip_prefix(known)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
    })
}

/// The script of a shell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Given<'a> {
    Text(&'a Word),
    File,
    /// Its own input.
    Input,
}

/// The script that a shell's words name, and whether it has options that make it read other files too.
pub(super) fn given(words: &[Word]) -> (Given<'_>, bool) {
    let (mut text, mut input, mut odd) = (false, false, false);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let option = word.shown();
        if !option.starts_with(['-', '+']) || option.len() < 2 {
            if option == "-" {
                continue;
            }
            let otherwise = if input { Given::Input } else { Given::File };
            return (if text { Given::Text(word) } else { otherwise }, odd);
        }
        if option == "--" {
            let next = words.next();
            return match (text, next) {
                (true, Some(word)) => (Given::Text(word), odd),
                (false, Some(_)) if !input => (Given::File, odd),
                _ => (Given::Input, odd),
            };
        }
        text |= !option.starts_with("--") && option.starts_with('-') && option.contains('c');
        input |= !option.starts_with("--") && option.contains('s');
        // Options that make it read other files first, such as those of a login.
        odd |= option.starts_with("--") || option.contains(['l', 'i', 's']);
        if VALUED.contains(&option.as_str()) || (option.ends_with('o') && !option.starts_with("--"))
        {
            words.next();
        }
    }
    (Given::Input, odd)
}
