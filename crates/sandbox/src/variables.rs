//! Environment variables of commands: a new set, built from scratch. Variables that look like secrets, by name or by
//! value, are passed only if they are named explicitly; variables that could make a program load foreign code are never
//! passed, unless Bosun sets them itself.

mod secrets;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use types::Inherit;

use secrets::{secret_name, secret_value};

/// The policy for variables.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    inherit: Inherit,
    named: Vec<String>,
    set: Vec<(String, String)>,
    told: Vec<(String, String)>,
    /// Folders in which programs are searched first.
    first: Vec<PathBuf>,
    /// Folders in which Python searches for modules first.
    modules: Vec<PathBuf>,
}

impl Variables {
    #[must_use]
    pub fn new(inherit: Inherit) -> Self {
        Self { inherit, ..Self::default() }
    }

    /// Passes a variable of this process although it looks like a secret, because it was named explicitly.
    #[must_use]
    pub fn passing(mut self, name: &str) -> Self {
        self.named.push(name.to_owned());
        self
    }

    /// Sets a variable, overriding this process's value. Variables that could inject code are ignored.
    #[must_use]
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.set.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a variable on behalf of Bosun itself, even one by which programs load code.
    #[must_use]
    pub(crate) fn telling(mut self, name: &str, value: &str) -> Self {
        self.told.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Searches for programs in these folders first, such as those of a virtual environment.
    #[must_use]
    pub fn first_in_path(mut self, folders: Vec<PathBuf>) -> Self {
        self.first = folders;
        self
    }

    /// Lets Python find modules in these folders of the workspace first, so that packages that an environment has
    /// installed from a checkout are the workspace's own.
    #[must_use]
    pub fn python_modules(mut self, folders: Vec<PathBuf>) -> Self {
        self.modules = folders;
        self
    }

    /// Keeps package managers from trying a network that is not there; they use earlier downloads.
    #[must_use]
    pub fn offline(self) -> Self {
        OFFLINE.iter().fold(self, |all, (name, value)| all.setting(name, value))
    }

    /// Reverts [`Self::offline`], so that package managers use the network.
    #[must_use]
    pub(crate) fn online(mut self) -> Self {
        self.set.retain(|(name, value)| {
            !OFFLINE.iter().any(|(known, set)| name == known && value == set)
        });
        self
    }

    /// The variables for a command. `ours` is the environment of this process.
    pub(crate) fn for_command(
        &self,
        ours: impl Iterator<Item = (OsString, OsString)>,
        workspace: &Path,
    ) -> Vec<(OsString, OsString)> {
        let mut given = vec![
            ("PATH".into(), PATH.into()),
            ("HOME".into(), workspace.as_os_str().to_owned()),
            ("USER".into(), "user".into()),
            ("TMPDIR".into(), "/tmp".into()),
        ];
        for (name, value) in ours.filter(|(name, value)| self.passes(name, value)) {
            put(&mut given, name, value);
        }
        for (name, value) in FIXED {
            put(&mut given, name.into(), value.into());
        }
        let set = self.set.iter().filter(|(name, _)| !injects(name));
        for (name, value) in set.chain(&self.told) {
            put(&mut given, name.into(), value.into());
        }
        for (name, value) in &mut given {
            if name == "PATH" {
                *value = absolute_only(&self.first, value);
            }
        }
        if let (false, Ok(modules)) = (self.modules.is_empty(), std::env::join_paths(&self.modules))
        {
            put(&mut given, "PYTHONPATH".into(), modules);
        }
        given
    }

    fn passes(&self, name: &OsStr, value: &OsStr) -> bool {
        // Names and values that are not UTF-8 are never needed.
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { return false };
        let wanted = match self.inherit {
            Inherit::None => false,
            Inherit::Core => CORE.contains(&name) || TOOLCHAINS.contains(&name),
            Inherit::All => !name.starts_with("LC_") && name != "LANGUAGE",
        };
        let named = self.named.iter().any(|wanted| wanted == name);
        !injects(name) && (named || (wanted && !secret_name(name) && !secret_value(value)))
    }
}

/// The names that `Inherit::Core` inherits besides those of toolchains.
const CORE: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TZ",
    "TMPDIR",
    "RUSTUP_TOOLCHAIN",
    "GOCACHE",
    "NVM_BIN",
];

/// Variables that name the location of a toolchain: inherited as well, and the locations are visible in a sandbox.
pub(crate) const TOOLCHAINS: [&str; 16] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "GEM_HOME",
    "PNPM_HOME",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
];

/// Fixed values: no pager, no prompt, no colours, the same locale for everyone. Only `LC_CTYPE` differs from the C
/// locale, because every program reads a file for each category that does.
const FIXED: [(&str, &str); 6] = [
    ("LANG", "C"),
    ("LC_CTYPE", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Variables that tell package managers that there is no network.
const OFFLINE: [(&str, &str); 4] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
    ("UV_OFFLINE", "1"),
];

/// Default search path for programs.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables by which a program runs or loads something, or reaches a service that acts for the user.
const INJECTING: [&str; 26] = [
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "IFS",
    "CDPATH",
    "GLOBIGNORE",
    "SHELLOPTS",
    "BASHOPTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "RUSTC_WRAPPER",
    "EDITOR",
    "VISUAL",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "KUBECONFIG",
];

fn injects(name: &str) -> bool {
    let families = ["LD_", "DYLD_", "BASH_FUNC_", "GIT_", "DBUS_", "XDG_RUNTIME"];
    INJECTING.contains(&name)
        || families.iter().any(|family| name.starts_with(family))
        || name.is_empty()
        || name.contains(['=', '\0'])
}

/// A search path without relative folders.
fn absolute_only(first: &[PathBuf], path: &OsStr) -> OsString {
    let places = first.iter().cloned().chain(std::env::split_paths(path));
    let places = places.filter(|place| place.is_absolute());
    std::env::join_paths(places).unwrap_or_else(|_| PATH.into())
}

fn put(given: &mut Vec<(OsString, OsString)>, name: OsString, value: OsString) {
    match given.iter_mut().find(|(known, _)| *known == name) {
        Some(entry) => entry.1 = value,
        None => given.push((name, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variables: &Variables, ours: &[(&str, &str)]) -> Vec<(String, String)> {
        let ours = ours.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let text = |text: OsString| text.into_string().expect("text");
        let given = variables.for_command(ours, Path::new("/ws"));
        given.into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn value<'a>(given: &'a [(String, String)], name: &str) -> Option<&'a str> {
        given.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A25, A71, K28
    #[test]
    fn the_three_policies_differ_and_core_is_the_list() {
        let ours = [("PATH", "/opt/bin"), ("CARGO_HOME", "/c"), ("MONKEY", "mk")];
        let none = given(&Variables::new(Inherit::None), &ours);
        let core = given(&Variables::default(), &ours);
        let all = given(&Variables::new(Inherit::All), &ours);
        let shown = |given: &[(String, String)]| {
            ["PATH", "CARGO_HOME", "MONKEY"].map(|name| value(given, name).map(str::to_owned))
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(shown(&none), [text(PATH), None, None]);
        assert_eq!(shown(&core), [text("/opt/bin"), text("/c"), None]);
        assert_eq!(shown(&all), [text("/opt/bin"), text("/c"), text("mk")]);
    }

    #[test]
    fn there_is_one_language_whatever_ours_is() {
        let ours = [("LANG", "de_DE.UTF-8"), ("LC_ALL", "de_DE"), ("LANGUAGE", "de")];
        for inherit in [Inherit::Core, Inherit::All] {
            let given = given(&Variables::new(inherit), &ours);
            let words = ["LANG", "LC_CTYPE", "LC_ALL", "LANGUAGE"].map(|name| value(&given, name));
            assert_eq!(words, [Some("C"), Some("C.UTF-8"), None, None]);
        }
        let wanted = Variables::default().passing("LC_ALL");
        assert_eq!(value(&given(&wanted, &ours), "LC_ALL"), Some("de_DE"));
    }

    #[test]
    fn secrets_never_pass_unless_they_are_named() {
        let secrets = [
            ("OPENAI_API_KEY", "x"),
            ("openai_api_key", "x"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("GITHUBTOKEN", "x"),
            ("DB_PASSWORD", "x"),
            ("npm_config_auth", "x"),
            ("INNOCENT", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"),
            ("DATABASE_URL", "postgres://me:pw@host/db"),
            ("HARMLESS", "-----BEGIN OPENSSH PRIVATE KEY-----"),
            ("MYSQL_PWD", "x"),
            ("SSHPASS", "x"),
            ("PGPASSWORD", "x"),
            ("dbPasswordFile", "x"),
            ("DB_PW", "x"),
            ("SECRETKEYBASE", "x"),
            ("SENTRY_DSN", "x"),
            ("INNOCENT_URL", "https://0123456789abcdef0123@errors.test/1"),
            ("STORE", "Server=db;User=me;Password=hunter2"),
            ("BLOB", "DefaultEndpointsProtocol=https;AccountKey=abc=="),
            ("HEADER", "Bearer abcdefghijklmnop"),
            ("X", "f3Kq9ZpL0vTnW8xYbR2mQsD7"),
            ("ACCOUNT", r#"{"type": "service_account", "private_key": "x"}"#),
        ];
        let all = given(&Variables::new(Inherit::All), &secrets);
        for (name, _) in secrets {
            assert_eq!(value(&all, name), None, "{name} got in");
        }
        let named = Variables::new(Inherit::None).passing("DB_PASSWORD");
        assert_eq!(value(&given(&named, &secrets), "DB_PASSWORD"), Some("x"));
    }

    #[test]
    fn harmless_names_that_look_like_secrets_pass() {
        let harmless = [
            ("TOKENIZERS_PARALLELISM", "false"),
            ("KEYBOARD_LAYOUT", "us"),
            ("MONKEY", "mk"),
            ("PWD", "/ws"),
            ("OLDPWD", "/"),
            ("BYPASS", "1"),
            ("COMPASS_DIR", "x"),
            ("GITHASH", "9fceb02d0ae598e95dc970b74767f19372d61af8"),
            ("TOOLS", "/nix/store/0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0-hello"),
            ("SITE", "https://example.org/path?x=1"),
            ("WORDS", "a;b;c=d"),
        ];
        let all = given(&Variables::new(Inherit::All), &harmless);
        for (name, there) in harmless {
            assert_eq!(value(&all, name), Some(there));
        }
    }

    #[test]
    fn code_is_injected_neither_by_us_nor_by_a_caller() {
        let evil = [
            ("BASH_ENV", "./e.sh"),
            ("LD_PRELOAD", "./e.so"),
            ("GIT_SSH_COMMAND", "x"),
            ("NODE_OPTIONS", "x"),
        ];
        let mut variables = Variables::new(Inherit::All).setting("PATH", ".:/usr/bin::/bin");
        for (name, value) in evil {
            variables = variables.setting(name, value).passing(name);
        }
        let given = given(&variables, &evil);
        for (name, _) in evil {
            assert_eq!(value(&given, name), None, "{name} got in");
        }
        assert_eq!(value(&given, "PATH"), Some("/usr/bin:/bin"));
        assert_eq!(value(&given, "GIT_PAGER"), Some("cat"));
    }
}
