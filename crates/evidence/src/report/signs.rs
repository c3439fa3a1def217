//! Messages of tools about missing prerequisites, with an explanation for people. Only messages that no ordinary
//! failing test or compile error produces.

use crate::pattern::Pattern;

/// The missing thing in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Plain,
    /// These may be the repository's own, and then prove nothing.
    PythonModule,
    NodePackage,
    RubyLibrary,
}

/// One message.
#[derive(Debug)]
pub(super) struct Sign {
    /// Matched against single lines; group 1 is the thing.
    pub(super) pattern: Pattern,
    /// The required exit code, if the message alone is not enough.
    pub(super) exit: Option<i32>,
    pub(super) thing: Thing,
    pub(super) says: &'static str,
}

const fn sign(pattern: &'static str, says: &'static str) -> Sign {
    Sign { pattern: Pattern::new(pattern), exit: None, thing: Thing::Plain, says }
}

const fn exiting(exit: i32, pattern: &'static str, says: &'static str) -> Sign {
    Sign { pattern: Pattern::new(pattern), exit: Some(exit), thing: Thing::Plain, says }
}

const fn naming(thing: Thing, pattern: &'static str, says: &'static str) -> Sign {
    Sign { pattern: Pattern::new(pattern), exit: None, thing, says }
}

const NO_MODULE: &str = "the Python module {} is not installed: add a set-up command that installs it, or make its virtual environment visible";
const NO_PACKAGE: &str = "the dependency {} is not installed: node_modules is missing or incomplete; add a set-up command such as npm ci";
const NO_TESTS: &str = "no tests were found: correct the check's command, or add a test first";
const NO_CRATES: &str = "cargo cannot download crates: checks have no network access; add a set-up command such as cargo fetch";
const NO_GO_MODULES: &str = "go cannot download modules: checks have no network access; add a set-up command such as go mod download";
const NO_NPM_NETWORK: &str = "npm cannot download packages: checks have no network access; add a set-up command such as npm ci";
const NO_JARS: &str = "the build cannot download its dependencies: checks have no network access; add a set-up command that fetches them";

pub(super) static SIGNS: [Sign; 41] = [
    // Python
    naming(
        Thing::PythonModule,
        r"^\S*python[0-9.]*(?:\.exe)?: No module named '?([A-Za-z_][\w.]*)'?$",
        "{} is not installed: add a set-up command that installs it, or make its virtual environment visible",
    ),
    naming(
        Thing::PythonModule,
        r"^(?:E +)?ModuleNotFoundError: No module named '([A-Za-z_][\w.]*)'$",
        NO_MODULE,
    ),
    sign(
        r#"^(?:ERROR: )?(?:ImportError: )?Error importing plugin "([^"]+)": No module named"#,
        "the pytest plugin {} is not installed: add a set-up command that installs it",
    ),
    exiting(
        4,
        r"^\S.*: error: unrecognized arguments: (.+)$",
        "pytest does not know the option {}: a plugin is missing; add a set-up command that installs it",
    ),
    exiting(
        4,
        r"^ERROR: file or directory not found: (\S+)$",
        "pytest cannot find the file or folder {}: correct the check's command",
    ),
    exiting(5, r"^(?:=+ )?(?:no tests ran|\d+ deselected|NO TESTS RAN)\b", NO_TESTS),
    // JavaScript
    sign(
        r#"^npm (?:error|ERR!) Missing script: "?([^"]+?)"?$"#,
        "npm has no script named {}: correct the check's command",
    ),
    sign(
        r#"^error Command "([^"]+)" not found\.$"#,
        "yarn has no script named {}: correct the check's command",
    ),
    sign(
        r"ERR_PNPM_NO_SCRIPT\S* +Missing script: (\S+)",
        "pnpm has no script named {}: correct the check's command",
    ),
    sign(
        r"^Error: no test specified$",
        "package.json has no test script of its own: name the command that runs the tests",
    ),
    sign(
        r"^npm (?:error|ERR!) (?:enoent )?Could not read package\.json",
        "there is no package.json here: correct the check's command or its folder",
    ),
    sign(
        r"^npm (?:error|ERR!) npx canceled due to missing packages.*\[(?:'|\\?\x22)?([^'\x22\]]+)",
        "the package {} is not installed, and npx cannot download it: add a set-up command such as npm ci",
    ),
    sign(
        r"^npm (?:error|ERR!) code (?:EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|ETIMEDOUT)$",
        NO_NPM_NETWORK,
    ),
    naming(
        Thing::NodePackage,
        r"^\s*(?:Error: |Error \[ERR_MODULE_NOT_FOUND\]: )?Cannot find (?:module|package) '([^']+)'(?: (?:from|imported from) .*)?$",
        NO_PACKAGE,
    ),
    sign(r"^No tests found, exiting with code 1$", NO_TESTS),
    sign(r"^No test files found, exiting with code 1$", NO_TESTS),
    sign(r"^(?:Error: )?No test files found(?:: .*)?$", NO_TESTS),
    // Rust
    sign(
        r"^error: could not find `Cargo\.toml` in ",
        "there is no Cargo.toml here: correct the check's command or its folder",
    ),
    sign(
        r"^error: no such command: `([^`]+)`",
        "cargo {} is not installed: install it, or add a set-up command that installs it",
    ),
    sign(r"^\s*download of \S+ failed$", NO_CRATES),
    sign(r"^\s*failed to download from `https?://\S+`$", NO_CRATES),
    sign(r"^As a reminder, you're using offline mode \(--offline\)", NO_CRATES),
    sign(r"Unable to update registry `crates-io`", NO_CRATES),
    sign(
        r"^error: linker `([^`]+)` not found$",
        "the linker {} is not installed: install a C toolchain",
    ),
    sign(
        r"^error: toolchain '([^']+)' is not installed",
        "the Rust toolchain {} is not installed: install it with rustup",
    ),
    exiting(4, r"^error: no tests to run$", NO_TESTS),
    // Go
    sign(r"dial tcp: lookup (?:proxy|sum)\.golang\.org", NO_GO_MODULES),
    sign(r"module lookup disabled by GOPROXY=off", NO_GO_MODULES),
    sign(
        r"^(?:go: go\.mod file not found|go: cannot find main module|pattern \S+: directory prefix \S+ does not contain main module)",
        "there is no go.mod here: correct the check's command or its folder",
    ),
    sign(r"^no packages to test$", NO_TESTS),
    // make and just
    sign(
        r"^g?make: \*\*\* No rule to make target [`']([^']+)'\.  Stop\.$",
        "make has no target {}: correct the check's command",
    ),
    sign(
        r"^g?make: \*\*\* No targets specified and no makefile found\.",
        "there is no Makefile here: correct the check's command or its folder",
    ),
    sign(
        r"^error: [Jj]ustfile does not contain recipe `([^`]+)`",
        "just has no recipe {}: correct the check's command",
    ),
    // Ruby, PHP, Java, .NET
    sign(
        r"^Run `bundle install` to install missing gems",
        "Ruby gems are not installed: add a set-up command such as bundle install",
    ),
    naming(
        Thing::RubyLibrary,
        r"cannot load such file -- ([a-z][\w./-]*)(?: \(LoadError\))?$",
        "the Ruby library {} is not installed: add a set-up command such as bundle install",
    ),
    sign(
        r"(?:Failed opening required|Could not open input file:?) .?(?:\S*/)?vendor/(?:autoload\.php|bin/\S+)",
        "PHP packages are not installed: add a set-up command such as composer install",
    ),
    sign(r"No tests executed!", NO_TESTS),
    sign(
        r"^\[ERROR\] .*(?:Could not transfer artifact|PluginResolutionException|Cannot access \S+ \(.*\) in offline mode)",
        NO_JARS,
    ),
    sign(r"^\s*> Could not GET 'https?://", NO_JARS),
    sign(r"error NU1301: Unable to load the service index", NO_JARS),
    sign(
        r"^(?:ERROR: )?Cannot connect to the Docker daemon",
        "the check needs a Docker daemon, but checks have none: use a check that does not need it",
    ),
];
