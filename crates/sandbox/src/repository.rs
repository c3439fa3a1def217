//! What git takes for a repository, wherever it is: a `.git`, or any folder laid out like one. The settings in it make
//! git run programs, so whoever works there next would run them. Only names are looked at; git itself is not asked.

use types::WorkPath;

use crate::jail::{Jail, is_protected_name, names_in};

/// Files by which a repository makes git run something, or is redirected to another one.
const STEERING: [&str; 3] = ["config", "config.worktree", "commondir"];
/// Folders of a repository that hold neither settings nor other repositories, and are large.
const PLAIN: [&str; 4] = ["objects", "refs", "logs", "lfs"];
/// Programs that git runs.
pub(crate) const HOOKS: &str = "hooks";

/// Whether git takes a folder with these names for a repository.
pub(crate) fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// Whether a file of a repository steers git.
pub(crate) fn steers(name: &str) -> bool {
    STEERING.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a folder of a repository need not be searched for settings.
pub(crate) fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name)
}

/// Whether the settings of a repository hold credentials: a user name in an address, a header, a helper.
pub(crate) fn holds_credentials(settings: &str) -> bool {
    let words =
        ["extraheader", "password", "token", "[credential", "helper", "sslkey", "cookiefile"];
    let in_address =
        |line: &str| line.split_once("://").is_some_and(|(_, rest)| rest.contains('@'));
    let settings = settings.to_lowercase();
    settings.lines().any(|line| in_address(line) || words.iter().any(|word| line.contains(word)))
}

/// Whether a file of this name in a repository may hold credentials.
pub(crate) fn may_hold_credentials(name: &str) -> bool {
    matches!(name.to_ascii_lowercase().as_str(), "config" | "config.worktree")
}

/// Whether a path is git's own, by one of its names.
pub(crate) fn is_in_git(path: &WorkPath) -> bool {
    path.as_str().split('/').any(|name| is_protected_name(name.as_bytes()))
}

/// Whether something at this path would belong to a repository, other than a `.git`: its settings, its hooks, or what
/// makes a folder one.
pub(crate) fn would_be_in_one(jail: &Jail, path: &WorkPath) -> bool {
    let names: Vec<&str> = path.as_str().split('/').collect();
    (0..names.len()).any(|depth| {
        let Some(name) = names.get(depth) else { return false };
        let part = |known: &&str| name.eq_ignore_ascii_case(known);
        let makes = ["HEAD", "objects", "refs", HOOKS].iter().any(&part);
        if !(makes || steers(name)) {
            return false;
        }
        let above = names.get(..depth).unwrap_or_default().join("/");
        let above = above.parse::<WorkPath>().unwrap_or_else(|_| WorkPath::root());
        // In a folder that does not exist yet, one name alone makes no repository.
        let Ok(folder) = jail.folder(&above, crate::jail::Links::Refuse) else { return false };
        let there = names_in(&folder).unwrap_or_default();
        is_repository(|wanted| {
            part(&wanted) || there.iter().any(|there| there.eq_ignore_ascii_case(wanted))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_repository_with_its_last_part() {
        let dir = tempfile::tempdir().expect("a folder");
        let jail = Jail::open(dir.path()).expect("a folder");
        let at = |name: &str| dir.path().join(name);
        let would = |path: &str| would_be_in_one(&jail, &path.parse().expect("a path"));
        std::fs::create_dir_all(at("a/objects")).expect("a folder");
        std::fs::write(at("a/HEAD"), "").expect("a file");
        assert!(would("a/refs") && would("a/refs/heads/x") && would("a/commondir"));
        assert!(!would("a/config") && !would("a/b") && !would("refs/x") && !would("b/HEAD"));
        std::fs::create_dir(at("a/refs")).expect("a folder");
        assert!(would("a/config") && would("a/hooks/pre-commit") && !would("a/readme"));
    }

    #[test]
    fn settings_with_keys_in_them_are_noticed() {
        let plain = "[core]\n\tbare = false\n[remote \"o\"]\n\turl = https://example.org/a.git\n\turl = git@example.org:a\n";
        assert!(!holds_credentials(plain));
        for keys in [
            "url = https://u:secret@example.org/a",
            "[credential]",
            "\textraheader = Authorization: x",
        ] {
            assert!(holds_credentials(&format!("{plain}{keys}\n")), "{keys}");
        }
    }
}
