//! Which environment variables a command sees: a new set, made from scratch. Nothing of ours gets in by default,
//! so a key in our environment cannot be read by a command.

use std::ffi::OsString;
use std::path::Path;

/// Fixed values: no pager, no prompt, no colours, one language.
const FIXED: [(&str, &str); 7] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("CI", "1"),
];

/// Where programs are looked for when nobody says.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Names that are taken over from our own environment.
const TAKEN: [&str; 4] = ["PATH", "HOME", "USER", "TMPDIR"];

/// The variables for a command. `ours` is the environment of this process.
pub(crate) fn for_command(
    ours: impl Iterator<Item = (OsString, OsString)>,
    workspace: &Path,
) -> Vec<(OsString, OsString)> {
    let ours: Vec<_> = ours.collect();
    let take =
        |name: &str| ours.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let default = |name: &str| match name {
        "PATH" => Some(PATH.into()),
        "HOME" => Some(workspace.as_os_str().to_owned()),
        "USER" => Some("bosun".into()),
        "TMPDIR" => Some("/tmp".into()),
        _ => None,
    };
    let taken = TAKEN
        .iter()
        .filter_map(|name| Some(((*name).into(), take(name).or_else(|| default(name))?)));
    taken.chain(FIXED.iter().map(|(name, value)| ((*name).into(), (*value).into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_ours_is_not_passed_on_and_the_path_is() {
        let ours = [("OPENAI_API_KEY", "secret"), ("PATH", "/opt/bin"), ("SSH_AUTH_SOCK", "/x")];
        let ours = ours.into_iter().map(|(key, value)| (key.into(), value.into()));
        let given = for_command(ours, Path::new("/work"));
        assert!(given.contains(&("PATH".into(), "/opt/bin".into())));
        assert!(given.contains(&("PAGER".into(), "cat".into())));
        assert!(given.contains(&("TMPDIR".into(), "/tmp".into())));
        assert!(!given.iter().any(|(key, _)| key == "OPENAI_API_KEY" || key == "SSH_AUTH_SOCK"));
    }
}
