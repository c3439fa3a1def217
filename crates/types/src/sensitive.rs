//! Sensitive paths: keys and passwords, settings that make other programs run something, our own settings. Recognised
//! by name alone, folded as file systems fold names. Whether a file exists, is tracked, or contains a key is not
//! examined here, and the consequences are decided elsewhere.

use serde::{Deserialize, Serialize};

use crate::WorkPath;

mod settings;
mod tables;

/// Why a path is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitive {
    /// Our own settings: the rules that agents work by, and everything else below `.bosun/`.
    OwnSettings,
    /// A person's keys, passwords and sessions, in the folders where programs keep them.
    Credentials,
    /// Variables for a program, such as `.env`, which usually hold passwords.
    EnvFile,
    /// Settings that make an editor, a shell, git, a CI service, a package manager or an agent run something.
    Settings,
}

impl Sensitive {
    /// The kind of a path, if it is sensitive.
    #[must_use]
    pub fn of(path: &WorkPath) -> Option<Self> {
        Self::of_text(path.as_str())
    }

    /// The same for a path as text.
    #[must_use]
    pub fn of_text(path: &str) -> Option<Self> {
        // Fast path: this is called for every file of a walk, and most paths have no such name.
        if !path.split('/').any(could_be) {
            return None;
        }
        let names: Vec<String> = path.split('/').map(folded).collect();
        if names.iter().any(|name| name == ".bosun") {
            return Some(Self::OwnSettings);
        }
        if tables::CREDENTIALS.iter().any(|pattern| fits(pattern, &names)) || is_key_pair(&names) {
            return Some(Self::Credentials);
        }
        if names.last().is_some_and(|name| is_env_file(name)) {
            return Some(Self::EnvFile);
        }
        let is_settings = settings::SETTINGS.iter().any(|pattern| fits(pattern, &names));
        let is_ours = tables::NO_SETTINGS.iter().any(|pattern| fits(pattern, &names));
        (is_settings && !is_ours).then_some(Self::Settings)
    }

    /// A description, as the end of a sentence that starts with its name.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::OwnSettings => "holds the rules that agents work by",
            Self::Credentials => "is a place for keys or passwords",
            Self::EnvFile => "usually holds passwords",
            Self::Settings => "makes other programs run something",
        }
    }

    /// Whether it is a place for keys or passwords.
    #[must_use]
    pub const fn holds_secrets(self) -> bool {
        matches!(self, Self::Credentials | Self::EnvFile)
    }

    /// Whether a file with this name may contain a key; see [`holds_key`] for the test of its content.
    #[must_use]
    pub fn may_hold_key(path: &str) -> bool {
        let name = path.rsplit('/').next().map(folded).unwrap_or_default();
        let end = name.rsplit_once('.').map(|(_, end)| end).unwrap_or_default();
        matches!(end, "pem" | "key") || matches!(name.as_str(), ".npmrc" | ".yarnrc.yml")
    }
}

/// Whether the head of a file contains a private key, or settings with a token.
#[must_use]
pub fn holds_key(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let private = |line: &str| line.starts_with("-----BEGIN ") && line.contains("PRIVATE KEY");
    let token = |line: &str| {
        let names = ["_authtoken", "_auth", "_password", "npmauthtoken", "npmauthident"];
        let Some((name, value)) = line.split_once(['=', ':']).filter(|_| !line.starts_with("//"))
        else {
            // A line for one registry: `//registry.example/:_authToken=value`.
            return line.rsplit_once("_authToken=").is_some_and(|(_, value)| is_literal(value));
        };
        names.contains(&name.trim().to_ascii_lowercase().as_str()) && is_literal(value)
    };
    text.lines().map(str::trim).any(|line| private(line) || token(line))
}

/// Whether a value is literal, not a reference to a variable.
fn is_literal(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']);
    !value.is_empty() && !value.starts_with('$')
}

/// Whether one of the tables may contain this name: a quick test without false negatives.
fn could_be(name: &str) -> bool {
    let plain = name.is_ascii();
    let first = name.as_bytes().first().copied().unwrap_or_default();
    let known = |start: &&&str| name.len() >= start.len() && starts(name, start);
    let workspace = || {
        let name = name.to_ascii_lowercase();
        name.ends_with(".code-workspace") || name.ends_with(".sublime-project")
    };
    !plain || first == b'.' || workspace() || tables::UNDOTTED.iter().any(|start| known(&start))
}

fn starts(name: &str, start: &str) -> bool {
    name.as_bytes().iter().zip(start.as_bytes()).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

/// A name as the most forgiving file system compares it.
fn folded(name: &str) -> String {
    let ignored = |c: &char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}');
    let name: String = name
        .chars()
        .filter(|c| !ignored(c))
        .flat_map(char::to_lowercase)
        .take_while(|c| *c != ':')
        .collect();
    name.trim_end_matches(['.', ' ']).to_owned()
}

/// Whether a pattern of a table matches a path. `a/b/` matches that folder and everything in it, anywhere; `a/b`
/// matches that file; one `*` matches anything in a name.
fn fits(pattern: &str, names: &[String]) -> bool {
    let wanted: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let same = |window: &[String]| {
        window.iter().zip(&wanted).all(|(name, wanted)| match wanted.split_once('*') {
            None => name == wanted,
            Some((start, end)) => {
                let long = name.len() >= start.len() + end.len();
                long && name.starts_with(start) && name.ends_with(end)
            }
        })
    };
    if pattern.ends_with('/') {
        return names.windows(wanted.len()).any(same);
    }
    names.len() >= wanted.len() && same(&names[names.len() - wanted.len()..])
}

/// A private key as named by `ssh-keygen`, or a copy of one; not the public half, nor code about it.
fn is_key_pair(names: &[String]) -> bool {
    const KINDS: [&str; 6] =
        ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"];
    const COPIES: [&str; 6] = ["key", "pem", "bak", "old", "orig", "ppk"];
    let Some(name) = names.last() else { return false };
    KINDS.iter().filter_map(|kind| name.strip_prefix(kind)).any(|rest| {
        let named = rest.is_empty() || rest.starts_with(['.', '_', '-']);
        let end = rest.rsplit_once('.').map(|(_, end)| end);
        named && end.is_none_or(|end| COPIES.contains(&end))
    })
}

/// `.env`, `.env.local`, `.env.production`; not templates.
fn is_env_file(name: &str) -> bool {
    const EXAMPLES: [&str; 10] = [
        "example", "sample", "template", "dist", "defaults", "default", "schema", "test", "ci",
        "tpl",
    ];
    match name.strip_prefix(".env") {
        Some("") => true,
        Some(rest) => rest
            .strip_prefix('.')
            .is_some_and(|rest| !rest.split('.').any(|part| EXAMPLES.contains(&part))),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Sensitive> {
        Sensitive::of(&text.parse().expect("a path"))
    }

    #[test]
    fn credentials_are_known_wherever_they_lie_and_however_they_are_written() {
        for path in [
            ".ssh/id_rsa",
            ".ssh",
            "a/b/.ssh/config",
            ".SSH/known_hosts",
            ".ssh./x",
            ".s\u{200c}sh/x",
            ".gnupg/private-keys-v1.d/a.key",
            ".aws/credentials",
            ".azure/accessTokens.json",
            ".config/gcloud/credentials.db",
            ".kube/config",
            ".docker/config.json",
            ".netrc",
            "_netrc",
            ".pypirc",
            ".cargo/credentials.toml",
            ".git-credentials",
            ".config/gh/hosts.yml",
            ".vault-token",
            "keys/id_ed25519",
            "id_rsa_work",
            "id_rsa.bak",
            ".mozilla/firefox/x/key4.db",
            ".config/google-chrome/Default/Cookies",
            ".local/share/keyrings/login.keyring",
            ".local/state/bosun/journal.db",
            ".config/bosun/models.toml",
            ".pgpass",
            ".bash_history",
            "Library/Keychains/login.keychain-db",
            ".codex/auth.json",
        ] {
            assert_eq!(of(path), Some(Sensitive::Credentials), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_ordinary() {
        for path in [
            "docs/ssh.md",
            "docs/agents.md",
            "src/ssh/mod.rs",
            "id_rsa.pub",
            "src/id_rsa_parser.rs",
            "tests/data/server.pem",
            ".docker/Dockerfile",
            ".kube/deploy.yaml",
            ".env.example",
            ".env.sample",
            ".env.test",
            "env",
            ".gitignore",
            ".github/ISSUE_TEMPLATE/bug.md",
            ".github/README.md",
            ".editorconfig",
            "aws/credentials.rs",
            "netrc.c",
            ".cargo/audit.toml",
            ".husky/_/husky.sh",
            "agents.py",
            "src/AGENTS.rs",
            ".config/nextest.toml",
            "credentials",
            "package.json",
            ".environment",
            ".prettierrc",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn settings_that_run_things_are_known() {
        for path in [
            ".vscode/tasks.json",
            ".VSCode/settings.json",
            ".idea/workspace.xml",
            "lefthook.yaml",
            "a/lefthook-local.yml",
            ".config/lefthook.toml",
            "mise.local.toml",
            ".config/mise/config.toml",
            ".hg/hgrc",
            ".gitpod.yml",
            "a.sublime-project",
            "gradle/wrapper/gradle-wrapper.properties",
            ".mcp.json",
            ".claude/settings.json",
            ".cursor/mcp.json",
            ".codex/config.toml",
            ".agent/config.toml",
            ".gitmodules",
            ".gitattributes",
            "AGENTS.md",
            "crates/a/agents.md",
            "CLAUDE.md",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            ".circleci/config.yml",
            ".envrc",
            "sub/.envrc",
            ".husky/pre-commit",
            ".pre-commit-config.yaml",
            ".ripgreprc",
            ".bashrc",
            ".profile",
            ".zshrc",
            ".gitconfig",
            ".cargo/config.toml",
            ".npmrc",
            ".devcontainer/devcontainer.json",
            "x.code-workspace",
            ".config/systemd/user/x.service",
        ] {
            assert_eq!(of(path), Some(Sensitive::Settings), "{path}");
        }
        assert_eq!(of(".bosun/policy.toml"), Some(Sensitive::OwnSettings));
        assert_eq!(of("sub/.Bosun/prompts/base.md"), Some(Sensitive::OwnSettings));
        for path in [".env", "api/.env", ".env.local", ".env.production", ".ENV"] {
            assert_eq!(of(path), Some(Sensitive::EnvFile), "{path}");
        }
    }

    #[test]
    fn the_quick_look_misses_no_pattern() {
        for pattern in tables::CREDENTIALS.iter().chain(settings::SETTINGS) {
            let path = pattern.replace('*', "x");
            assert!(of(path.trim_end_matches('/')).is_some(), "{pattern}");
        }
    }

    #[test]
    fn a_key_is_told_by_its_content_and_a_certificate_is_none() {
        let may = Sensitive::may_hold_key;
        assert!(may("tls/server.pem") && may("a.KEY") && may(".npmrc") && !may("a.rs"));
        assert!(holds_key(b"-----BEGIN OPENSSH PRIVATE KEY-----\nabc"));
        assert!(holds_key(b"Bag Attributes\n-----BEGIN RSA PRIVATE KEY-----\n"));
        assert!(!holds_key(b"-----BEGIN CERTIFICATE-----\nabc"));
        assert!(holds_key(b"//registry.npmjs.org/:_authToken=npm_abc\n"));
        assert!(!holds_key(
            b"//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nregistry=https://r.test/\n"
        ));
        assert!(holds_key(b"npmAuthToken: \"abc\"\n"));
    }
}
