//! Whether a failed check cannot run here at all: a tool, a dependency, a file or the network is missing.
//!
//! Reports only certain cases. A failing test, a compile error, or a missing part of the repository's own code is an
//! ordinary failure, and so is anything else if a test passed.

use std::sync::LazyLock;

use regex::RegexSet;

use super::signs::{SIGNS, Thing};
use super::text::{lines, plain};
use crate::pattern::Pattern;

/// Maximum number of lines searched: causes are near the start or the end, so the middle of a very long output is
/// skipped.
const MOST_LINES: usize = 20_000;

/// All signs, to find those in a line at once.
static MATCHER: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(SIGNS.iter().map(|sign| sign.pattern.as_str())).unwrap_or_default()
});
/// A shell's message about a missing command, from the check's own line or a script.
static NOT_FOUND: Pattern = Pattern::new(concat!(
    r"^(?:(?P<shell>(?:/bin/|/usr/bin/)?(?:ba|z|da|k)?sh|make)|(?P<script>\S+))(?:: line \d+|: \d+|:\d+)?: ",
    r"(?:(?P<name>[^\s:]+): (?:command not found|not found|No such file or directory)|",
    r"command not found: (?P<last>\S+))$"
));
static BY_ENV: Pattern =
    Pattern::new(r"^(?:/usr/bin/)?env: [‘'`]?([^’'\s:]+)[’']?: No such file or directory$");
static MAKE_127: Pattern = Pattern::new(r"^g?make(?:\[\d+\])?: \*\*\* .*Error 127$");
static NOT_EXECUTABLE: Pattern =
    Pattern::new(r"^(?:/bin/)?(?:ba|da|k|z)?sh: (?:line )?\d*:? ?(\S+): Permission denied$");

/// Why a failed check cannot run here, as one sentence that names the missing thing and the remedy.
///
/// `own` says whether a module or package name belongs to the repository, including those that the plan will create.
pub fn cannot_run(exit: Option<i32>, output: &str, own: &dyn Fn(&str) -> bool) -> Option<String> {
    let exit = exit.filter(|exit| *exit != 0)?;
    let text = plain(output);
    let mut lines = lines(&text);
    if lines.len() > MOST_LINES {
        lines.drain(MOST_LINES / 2..lines.len() - MOST_LINES / 2);
    }
    if let Some(missing) = missing_command(exit, &lines) {
        return Some(missing);
    }
    if super::read(output, &[]).is_some_and(|report| report.passed > 0) {
        return None;
    }
    lines.iter().find_map(|line| sign_in(exit, line.trim_end(), own))
}

fn missing_command(exit: i32, lines: &[&str]) -> Option<String> {
    let by_make = || lines.iter().any(|line| MAKE_127.is_match(line.trim_end()));
    if exit == 126 {
        let file = lines.iter().find_map(|line| NOT_EXECUTABLE.captures(line.trim_end()))?;
        let file = &file[1];
        return Some(format!(
            "the file {file} is not executable (exit 126): make it executable, or run it with sh"
        ));
    }
    if exit != 127 && !by_make() {
        return None;
    }
    let alone = lines.iter().filter(|line| !line.trim().is_empty()).count() == 1;
    lines.iter().find_map(|line| {
        let line = line.trim_end();
        if let Some(found) = BY_ENV.captures(line) {
            return Some(not_found(&found[1]));
        }
        let found = NOT_FOUND.captures(line)?;
        let name = found.name("name").or(found.name("last"))?.as_str();
        let at_top = found.name("shell").is_some();
        if name.contains('/') {
            let installed = ["node_modules/", "venv/bin/", "vendor/bin/"];
            if installed.iter().any(|folder| name.contains(folder)) {
                return Some(not_found(name));
            }
            return (at_top && alone).then(|| {
                format!("the file {name} does not exist (exit 127): correct the check's command")
            });
        }
        (at_top || TOOLS.contains(&name) || NODE_TOOLS.contains(&name)).then(|| not_found(name))
    })
}

fn not_found(name: &str) -> String {
    let advice = if NODE_TOOLS.contains(&name) || name.contains("node_modules/") {
        "node_modules is missing or incomplete; add a set-up command such as npm ci"
    } else {
        "install it, or add a set-up command that installs it"
    };
    format!("the command {name} is not found (exit 127): {advice}")
}

fn sign_in(exit: i32, line: &str, own: &dyn Fn(&str) -> bool) -> Option<String> {
    MATCHER.matches(line).iter().find_map(|at| {
        let sign = SIGNS.get(at)?;
        if sign.exit.is_some_and(|wanted| wanted != exit) {
            return None;
        }
        let found = sign.pattern.captures(line)?;
        let text = found.get(1).map_or("", |thing| thing.as_str());
        let thing = match sign.thing {
            Thing::Plain => text.to_owned(),
            Thing::PythonModule => text.split('.').next().unwrap_or_default().to_owned(),
            Thing::NodePackage => node_package(text)?,
            Thing::RubyLibrary => text.split('/').next().unwrap_or_default().to_owned(),
        };
        if sign.thing != Thing::Plain && (thing.is_empty() || own(&thing)) {
            return None;
        }
        Some(sign.says.replace("{}", &thing))
    })
}

/// The package of an import; `None` for a file or a part of node itself.
fn node_package(import: &str) -> Option<String> {
    if import.starts_with(['.', '/', '#', '~']) || import.contains(':') || import.contains('\\') {
        return None;
    }
    let mut parts = import.split('/');
    let first = parts.next()?;
    match first.starts_with('@') {
        // `@/…` is a common alias of the repository's own folder.
        true if first.len() == 1 => None,
        true => Some(format!("{first}/{}", parts.next()?)),
        false => Some(first.to_owned()),
    }
}

const NODE_TOOLS: &[&str] = &[
    "jest",
    "mocha",
    "vitest",
    "ava",
    "tap",
    "tape",
    "tsc",
    "tsx",
    "ts-node",
    "eslint",
    "prettier",
    "karma",
    "cypress",
    "playwright",
    "nyc",
    "c8",
    "webpack",
    "vite",
    "rollup",
    "esbuild",
    "next",
    "react-scripts",
    "turbo",
    "nx",
    "lerna",
    "cross-env",
    "rimraf",
    "run-s",
    "run-p",
    "biome",
];

const TOOLS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pip",
    "pip3",
    "pytest",
    "py.test",
    "tox",
    "nox",
    "poetry",
    "pipenv",
    "uv",
    "hatch",
    "ruff",
    "mypy",
    "black",
    "flake8",
    "pylint",
    "coverage",
    "node",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "bun",
    "deno",
    "cargo",
    "rustc",
    "rustup",
    "go",
    "gofmt",
    "golangci-lint",
    "gotestsum",
    "ruby",
    "bundle",
    "rake",
    "rspec",
    "php",
    "composer",
    "phpunit",
    "java",
    "javac",
    "mvn",
    "gradle",
    "kotlinc",
    "scala",
    "sbt",
    "dotnet",
    "swift",
    "zig",
    "elixir",
    "mix",
    "erl",
    "rebar3",
    "ghc",
    "cabal",
    "stack",
    "ocaml",
    "dune",
    "opam",
    "perl",
    "prove",
    "lua",
    "busted",
    "R",
    "Rscript",
    "julia",
    "make",
    "gmake",
    "cmake",
    "ctest",
    "ninja",
    "meson",
    "bazel",
    "just",
    "task",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "ld",
    "pkg-config",
    "git",
    "jq",
    "curl",
    "wget",
    "docker",
    "bats",
    "shellcheck",
    "shfmt",
    "sqlite3",
    "psql",
    "xmllint",
    "protoc",
    "tree-sitter",
];
