//! Suggestions for preparing a fresh checkout, from a repository's files: commands that install its dependencies,
//! ignored folders of the person's checkout to copy instead, and lock files that determine reuse. A proposal only:
//! nothing is looked up, copied or run here.

use std::collections::BTreeSet;

use types::{WorkPath, WorkspacePolicy};

/// One package manager: its lock file, its command, and the installed folders.
struct Installer {
    lock: &'static str,
    command: Option<&'static str>,
    /// Its folders of dependencies, below that of the lock file.
    folders: &'static [&'static str],
    /// The hosts that the command contacts.
    hosts: &'static [&'static str],
}

const NPM: &[&str] = &["registry.npmjs.org"];
const PYPI: &[&str] = &["pypi.org", "files.pythonhosted.org"];
const VENVS: &[&str] = &[".venv", "venv"];

/// In order of preference; of those that install into the same folder only the first counts.
const INSTALLERS: [Installer; 18] = [
    Installer::new("pnpm-lock.yaml", "pnpm install --frozen-lockfile", &["node_modules"], NPM),
    Installer::new(
        "yarn.lock",
        "yarn install --frozen-lockfile",
        &["node_modules", ".yarn/cache", ".pnp.cjs", ".pnp.loader.mjs"],
        &["registry.yarnpkg.com"],
    ),
    Installer::new("bun.lock", "bun install --frozen-lockfile", &["node_modules"], NPM),
    Installer::new("bun.lockb", "bun install --frozen-lockfile", &["node_modules"], NPM),
    Installer::new("package-lock.json", "npm ci", &["node_modules"], NPM),
    Installer::new("npm-shrinkwrap.json", "npm ci", &["node_modules"], NPM),
    // A project without a lock file is not set up automatically, but existing dependencies are copied.
    Installer { lock: "package.json", command: None, folders: &["node_modules"], hosts: &[] },
    Installer::new("uv.lock", "uv sync --frozen", VENVS, PYPI),
    Installer::new("poetry.lock", "poetry install --no-interaction", VENVS, PYPI),
    Installer::new("pdm.lock", "pdm install --frozen-lockfile", VENVS, PYPI),
    Installer::new(
        "requirements.txt",
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
        VENVS,
        PYPI,
    ),
    Installer { lock: "pyproject.toml", command: None, folders: VENVS, hosts: &[] },
    Installer::new(
        "Gemfile.lock",
        "bundle install",
        &["vendor/bundle", ".bundle"],
        &["rubygems.org", "index.rubygems.org"],
    ),
    Installer::new(
        "composer.lock",
        "composer install --no-interaction",
        &["vendor"],
        &["repo.packagist.org", "api.github.com", "codeload.github.com"],
    ),
    Installer::new("mix.lock", "mix deps.get", &["deps"], &["repo.hex.pm"]),
    Installer::new("pubspec.lock", "dart pub get", &[".dart_tool"], &["pub.dev"]),
    Installer::new("go.sum", "go mod download", &[], &["proxy.golang.org", "sum.golang.org"]),
    Installer::new(
        "Cargo.lock",
        "cargo fetch --locked",
        &[],
        &["index.crates.io", "static.crates.io"],
    ),
];

/// Further files that determine the result of a set-up.
const MORE_LOCKS: [&str; 6] = [
    "gradle.lockfile",
    "gradle/verification-metadata.xml",
    "gradle/wrapper/gradle-wrapper.properties",
    "Pipfile.lock",
    "requirements-dev.txt",
    "package.json",
];

/// Folders of installed packages: agents and checks read them and have no reason to write.
const DEPENDENCIES: [&str; 8] =
    ["node_modules", ".venv", "venv", "vendor", "deps", "bower_components", ".bundle", ".yarn"];

/// Folders in an installed `node_modules` that tools write to.
const NODE_CACHES: [&str; 3] = [".cache", ".vite", ".vite-temp"];

/// Test settings ignored by git that hold no credentials.
const TEST_SETTINGS: [&str; 2] = [".env.test", ".env.testing"];

/// A project nested deeper than this is an example or a fixture.
const DEEPEST: usize = 3;

impl Installer {
    const fn new(
        lock: &'static str,
        command: &'static str,
        folders: &'static [&'static str],
        hosts: &'static [&'static str],
    ) -> Self {
        Self { lock, command: Some(command), folders, hosts }
    }
}

/// Proposes how to prepare a checkout. `files` are the tracked paths, `ignored_present` the ignored ones in the
/// person's checkout (folders without their contents); `read` returns the text of a tracked file. If the packages that
/// a command would install exist already, copying them is proposed instead: that needs no network.
pub fn proposed(
    files: &[&str],
    ignored_present: &[&str],
    read: impl Fn(&str) -> Option<String>,
) -> WorkspacePolicy {
    let present: BTreeSet<&str> =
        ignored_present.iter().map(|path| path.trim_end_matches('/')).collect();
    let mut found = Found::default();
    for installer in &INSTALLERS {
        let locks = files.iter().filter(|path| name_of(path) == installer.lock);
        for path in locks.filter(|path| path.split('/').count() <= DEEPEST) {
            found.take(installer, folder_of(path), &present);
        }
    }
    for name in TEST_SETTINGS.into_iter().filter(|name| present.contains(name)) {
        found.bring.push(name.to_owned());
    }
    let bring = paths(&found.bring);
    let modules = files.contains(&".gitmodules");
    let lfs = read(".gitattributes").is_some_and(|text| text.contains("filter=lfs"));
    WorkspacePolicy {
        setup: found.setup,
        network: found.network,
        writable: Some(caches(&bring)).filter(|caches| !caches.is_empty()),
        bring: Some(bring).filter(|bring| !bring.is_empty()),
        locks: Some(locks(files)).filter(|locks| !locks.is_empty()),
        submodules: modules.then_some(true),
        lfs,
        ..WorkspacePolicy::default()
    }
}

/// Whether a proposed set-up command only fills a cache outside the repository, as `cargo fetch` does: the files of the
/// repository do not show whether that was done.
#[must_use]
pub fn fills_a_cache(command: &str) -> bool {
    let shared = INSTALLERS.iter().filter(|installer| installer.folders.is_empty());
    let mut commands = shared.filter_map(|installer| installer.command);
    commands.any(|own| command == own || command.ends_with(&format!(" && {own})")))
}

/// The lock files among the tracked paths.
#[must_use]
pub fn locks(files: &[&str]) -> Vec<WorkPath> {
    let known = |path: &&&str| {
        let by_installer = INSTALLERS.iter().any(|installer| name_of(path) == installer.lock);
        by_installer || MORE_LOCKS.iter().any(|lock| *path == lock || name_of(path) == *lock)
    };
    files.iter().filter(known).filter_map(|path| path.parse().ok()).collect()
}

/// Whether a folder holds packages installed by a package manager.
#[must_use]
pub fn is_dependency(path: &str) -> bool {
    path.split('/').any(|name| DEPENDENCIES.contains(&name))
}

/// The paths in copied folders that tools write to.
#[must_use]
pub fn caches(brought: &[WorkPath]) -> Vec<WorkPath> {
    let modules = brought.iter().filter(|path| name_of(path.as_str()) == "node_modules");
    let caches = modules.flat_map(|path| NODE_CACHES.map(|cache| format!("{path}/{cache}")));
    paths(&caches.collect::<Vec<_>>())
}

/// Whether a path must not be copied for agents: it is, or commonly holds, credentials.
#[must_use]
pub fn is_credential(path: &str) -> bool {
    const NAMES: [&str; 20] = [
        ".env",
        ".env.local",
        ".env.production",
        ".env.prod",
        ".env.staging",
        ".npmrc",
        ".yarnrc",
        ".pypirc",
        ".netrc",
        ".git-credentials",
        ".pgpass",
        ".vault-token",
        ".ssh",
        ".aws",
        ".gnupg",
        ".kube",
        ".docker",
        "credentials.json",
        "service-account.json",
        "secrets.yml",
    ];
    path.split('/').any(|name| {
        let name = name.to_ascii_lowercase();
        NAMES.contains(&name.as_str()) || name.starts_with("id_rsa") || name.starts_with("id_ed25")
    })
}

/// The proposals so far.
#[derive(Default)]
struct Found {
    setup: Vec<String>,
    bring: Vec<String>,
    network: Vec<String>,
    /// Folders that already have an installer.
    taken: BTreeSet<String>,
}

impl Found {
    fn take(&mut self, installer: &Installer, folder: &str, present: &BTreeSet<&str>) {
        let folders: Vec<String> =
            installer.folders.iter().map(|name| joined(folder, name)).collect();
        if folders.iter().any(|path| self.taken.contains(path)) {
            return;
        }
        let there: Vec<String> =
            folders.iter().filter(|path| present.contains(path.as_str())).cloned().collect();
        let settled = !there.is_empty();
        self.taken.extend(if settled || installer.command.is_some() { folders } else { vec![] });
        self.bring.extend(there);
        // A folder whose name needs shell quoting is left to the person.
        let plain = folder.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        let Some(command) = installer.command.filter(|_| !settled && plain) else { return };
        let command = match folder {
            "" => command.to_owned(),
            folder => format!("(cd {folder} && {command})"),
        };
        self.setup.push(command);
        let new =
            installer.hosts.iter().filter(|host| !self.network.iter().any(|known| known == *host));
        let new: Vec<String> = new.map(|host| (*host).to_owned()).collect();
        self.network.extend(new);
    }
}

/// The names as paths; a name that is not a valid path is left to the person.
fn paths(names: &[String]) -> Vec<WorkPath> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[&str], present: &[&str]) -> WorkspacePolicy {
        proposed(files, present, |_| None)
    }

    fn listed(paths: &[&str]) -> Option<Vec<WorkPath>> {
        Some(paths.iter().map(|path| path.parse().expect("a path")).collect())
    }

    #[test]
    fn nothing_is_proposed_where_nothing_is_installed() {
        assert_eq!(of(&["README.md", "src/main.c"], &["target/"]), WorkspacePolicy::default());
    }

    #[test]
    fn what_is_there_is_brought_and_what_is_not_is_installed() {
        let there = of(&["package.json", "package-lock.json"], &["node_modules/", "dist/"]);
        assert_eq!(there.bring, listed(&["node_modules"]));
        assert_eq!((there.setup, there.network), (vec![], vec![]));
        let caches = there.writable.expect("caches");
        assert!(caches.contains(&"node_modules/.cache".parse().expect("a path")), "{caches:?}");
        let absent = of(&["package.json", "package-lock.json"], &[]);
        assert_eq!((absent.setup, absent.bring), (vec!["npm ci".to_owned()], None));
        assert_eq!(absent.network, ["registry.npmjs.org"]);
        assert_eq!(absent.locks, listed(&["package.json", "package-lock.json"]));
    }

    #[test]
    fn each_manager_is_known_by_its_lock_file() {
        for (lock, command) in [
            ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
            ("yarn.lock", "yarn install --frozen-lockfile"),
            ("bun.lockb", "bun install --frozen-lockfile"),
            ("uv.lock", "uv sync --frozen"),
            ("poetry.lock", "poetry install --no-interaction"),
            ("Gemfile.lock", "bundle install"),
            ("composer.lock", "composer install --no-interaction"),
            ("go.sum", "go mod download"),
            ("Cargo.lock", "cargo fetch --locked"),
            ("mix.lock", "mix deps.get"),
            ("pubspec.lock", "dart pub get"),
        ] {
            let found = of(&[lock], &[]);
            assert_eq!(found.setup, [command], "{lock}");
            assert!(!found.network.is_empty(), "{lock}");
            assert_eq!(found.locks, listed(&[lock]));
        }
        let pip = of(&["requirements.txt"], &[]);
        assert!(pip.setup[0].contains("pip install -r requirements.txt"), "{:?}", pip.setup);
    }

    #[test]
    fn one_folder_is_filled_by_one_manager() {
        let both = of(&["package-lock.json", "pnpm-lock.yaml"], &[]);
        assert_eq!(both.setup, ["pnpm install --frozen-lockfile"]);
        let python = of(&["uv.lock", "requirements.txt", "pyproject.toml"], &["venv/"]);
        assert_eq!((python.setup, python.bring), (vec![], listed(&["venv"])));
    }

    #[test]
    fn parts_of_a_repository_have_their_own() {
        let found =
            of(&["web/package-lock.json", "api/uv.lock", "a/b/c/d/yarn.lock"], &["api/.venv/"]);
        assert_eq!(found.setup, ["(cd web && npm ci)"]);
        assert_eq!(found.bring, listed(&["api/.venv"]));
    }

    #[test]
    fn submodules_lfs_and_test_settings_are_found_and_credentials_are_not() {
        let attributes = |path: &str| {
            (path == ".gitattributes").then(|| "*.bin filter=lfs diff=lfs\n".to_owned())
        };
        let found =
            proposed(&[".gitmodules", ".gitattributes"], &[".env", ".env.test"], attributes);
        assert_eq!((found.submodules, found.lfs), (Some(true), true));
        assert_eq!(found.bring, listed(&[".env.test"]));
        for path in [".env", "web/.npmrc", "deploy/id_rsa", ".aws/config"] {
            assert!(is_credential(path), "{path}");
        }
        assert!(!is_credential(".env.test") && !is_credential("node_modules"));
    }

    #[test]
    fn installed_folders_are_known_by_name() {
        assert!(is_dependency("node_modules") && is_dependency("web/.venv"));
        assert!(!is_dependency("target") && !is_dependency("dist"));
    }

    #[test]
    fn a_set_up_that_only_fills_a_cache_is_told_from_one_that_installs_here() {
        for (files, shared) in [
            (["Cargo.lock"], true),
            (["tools/Cargo.lock"], true),
            (["go.sum"], true),
            (["package-lock.json"], false),
            (["web/package-lock.json"], false),
        ] {
            let setup = of(&files, &[]).setup;
            assert_eq!(setup.len(), 1, "{files:?}");
            assert_eq!(fills_a_cache(&setup[0]), shared, "{setup:?}");
        }
    }
}
