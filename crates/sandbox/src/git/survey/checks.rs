//! Checks that a repository's own files suggest: one table, several entries may apply. Used only where neither the
//! request nor the policy names any.

use std::collections::BTreeMap;

use types::Check;

/// The files of a commit, with the texts of those that may suggest checks.
pub(super) struct Files<'a> {
    pub(super) paths: Vec<&'a str>,
    pub(super) texts: BTreeMap<&'a str, String>,
}

impl Files<'_> {
    fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    /// Whether a folder contains a file whose path relative to it satisfies `fits`.
    fn has_below(&self, folder: &str, fits: fn(&str) -> bool) -> bool {
        self.paths.iter().filter_map(|path| path.strip_prefix(folder)).any(fits)
    }

    /// The text of a file, if it was read.
    fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }
}

/// One entry of the table.
struct Finder {
    name: &'static str,
    finds: fn(&Files<'_>) -> Option<&'static str>,
}

/// The table, in the order in which the checks run.
const TABLE: &[Finder] = &[
    Finder { name: "cargo test", finds: |files| files.has("Cargo.toml").then_some("cargo test") },
    Finder { name: "npm test", finds: node },
    Finder { name: "deno test", finds: deno },
    Finder { name: "pytest", finds: pytest },
    Finder { name: "go test", finds: |files| files.has("go.mod").then_some("go test ./...") },
    Finder { name: "maven test", finds: maven },
    Finder { name: "gradle test", finds: gradle },
    Finder { name: "dotnet test", finds: dotnet },
    Finder { name: "make", finds: make },
    Finder { name: "just test", finds: just },
    Finder { name: "task test", finds: taskfile },
    Finder { name: "test.sh", finds: |files| script(files, "test.sh", "sh test.sh") },
    Finder {
        name: "tests/run.sh",
        finds: |files| script(files, "tests/run.sh", "sh tests/run.sh"),
    },
];

/// Files whose text the table inspects.
pub(super) const READ: &[&str] = &[
    "package.json",
    "deno.json",
    "deno.jsonc",
    "setup.cfg",
    "tox.ini",
    "pyproject.toml",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
];

pub(super) fn found(files: &Files<'_>) -> Vec<Check> {
    let found = TABLE.iter().filter_map(|finder| {
        let command = (finder.finds)(files)?;
        // For npm and make, the command depends on the package manager or target, and is the name as well.
        let name =
            if finder.name == "npm test" || finder.name == "make" { command } else { finder.name };
        Some(Check::new(name, command))
    });
    found.collect()
}

fn node(files: &Files<'_>) -> Option<&'static str> {
    let manifest: serde_json::Value = serde_json::from_str(files.text("package.json")?).ok()?;
    let script = manifest["scripts"]["test"].as_str()?;
    // The default script of `npm init` is not a test.
    if script.trim().is_empty() || script.contains("no test specified") {
        return None;
    }
    let named = manifest["packageManager"].as_str().unwrap_or_default();
    let by = |manager: &str, lock: &str| named.starts_with(manager) || files.has(lock);
    Some(match () {
        () if by("pnpm", "pnpm-lock.yaml") => "pnpm test",
        () if by("yarn", "yarn.lock") => "yarn test",
        () if by("bun", "bun.lockb") || files.has("bun.lock") => "bun run test",
        () => "npm test",
    })
}

fn deno(files: &Files<'_>) -> Option<&'static str> {
    let settings = files.text("deno.json").or_else(|| files.text("deno.jsonc"))?;
    // Settings with comments cannot be parsed here; `deno test`, which needs no task, works for them as well.
    let settings: serde_json::Value = serde_json::from_str(settings).unwrap_or_default();
    let task = !settings["tasks"]["test"].is_null();
    Some(if task { "deno task test" } else { "deno test" })
}

/// A Python project has tests if its settings mention pytest, or if there are files that pytest would collect; unless a
/// Makefile has a target for them, and pytest is mentioned nowhere.
fn pytest(files: &Files<'_>) -> Option<&'static str> {
    let is_test = |path: &str| {
        let python = path.rsplit('/').next().and_then(|name| name.strip_suffix(".py"));
        python.is_some_and(|name| name.starts_with("test_") || name.ends_with("_test"))
    };
    let says = |path: &str, mark: &str| files.text(path).is_some_and(|text| text.contains(mark));
    let named = files.has("pytest.ini")
        || says("pyproject.toml", "[tool.pytest")
        || says("setup.cfg", "[tool:pytest]")
        || says("tox.ini", "[pytest]");
    let project = ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|path| files.has(path));
    // Elsewhere, a file with the name of a test may be anything.
    let folders: &[&str] = if project { &[""] } else { &["tests/", "test/"] };
    let there = folders.iter().any(|folder| files.has_below(folder, is_test));
    let makefiles = ["GNUmakefile", "makefile", "Makefile"];
    let settings = ["pyproject.toml", "setup.cfg", "tox.ini"];
    let mentioned = makefiles.iter().chain(&settings).any(|path| says(path, "pytest"));
    let elsewhere = make(files).is_some() && !mentioned;
    (named || there && !elsewhere).then_some("python3 -m pytest -q")
}

fn maven(files: &Files<'_>) -> Option<&'static str> {
    let wrapped = if files.has("mvnw") { "sh mvnw -q -B test" } else { "mvn -q -B test" };
    files.has("pom.xml").then_some(wrapped)
}

fn gradle(files: &Files<'_>) -> Option<&'static str> {
    let build = ["build.gradle", "build.gradle.kts"].iter().any(|path| files.has(path));
    let wrapped = if files.has("gradlew") { "sh gradlew test" } else { "gradle test" };
    build.then_some(wrapped)
}

fn dotnet(files: &Files<'_>) -> Option<&'static str> {
    let is_project =
        |path: &str| !path.contains('/') && (path.ends_with(".sln") || path.ends_with(".csproj"));
    files.has_below("", is_project).then_some("dotnet test")
}

/// A script that runs the tests; unless the Makefile, the settings of npm or the like have a check that names it: then
/// it is run by that, and may need what that does before.
fn script(files: &Files<'_>, path: &str, command: &'static str) -> Option<&'static str> {
    let runners: [(Option<&str>, &[&str]); 4] = [
        (make(files), &["GNUmakefile", "makefile", "Makefile"]),
        (node(files), &["package.json"]),
        (just(files), &["justfile", "Justfile", ".justfile"]),
        (taskfile(files), &["Taskfile.yml", "Taskfile.yaml"]),
    ];
    let by_another = runners
        .iter()
        .filter(|(check, _)| check.is_some())
        .any(|(_, own)| own.iter().filter_map(|own| files.text(own)).any(|text| names(text, path)));
    (files.has(path) && !by_another).then_some(command)
}

/// Whether a text names a path, not only as a part of another name.
fn names(text: &str, path: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || "-_/.".contains(c);
    text.match_indices(path).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + path.len()..]);
        let before = before.strip_suffix("./").unwrap_or(before);
        !before.ends_with(part) && !after.starts_with(part)
    })
}

fn make(files: &Files<'_>) -> Option<&'static str> {
    let text = ["GNUmakefile", "makefile", "Makefile"].iter().find_map(|path| files.text(path))?;
    match () {
        () if text.lines().any(|line| is_target(line, "test")) => Some("make test"),
        () if text.lines().any(|line| is_target(line, "check")) => Some("make check"),
        () => None,
    }
}

fn is_target(line: &str, target: &str) -> bool {
    line.strip_prefix(target).is_some_and(|rest| {
        let rest = rest.trim_start();
        rest.starts_with(':') && !rest.starts_with(":=")
    })
}

fn just(files: &Files<'_>) -> Option<&'static str> {
    let text = ["justfile", "Justfile", ".justfile"].iter().find_map(|path| files.text(path))?;
    let recipe = |line: &str| {
        let rest = line.strip_prefix("test")?;
        let plain = rest.starts_with(':') || rest.starts_with(' ');
        (plain && rest.contains(':') && !rest.contains(":=")).then_some(())
    };
    text.lines().find_map(recipe).map(|()| "just test")
}

fn taskfile(files: &Files<'_>) -> Option<&'static str> {
    let text = ["Taskfile.yml", "Taskfile.yaml"].iter().find_map(|path| files.text(path))?;
    text.lines().any(|line| line.trim_end() == "  test:").then_some("task test")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(files: &[(&'static str, &'static str)]) -> Vec<String> {
        let paths = files.iter().map(|(path, _)| *path).collect();
        let texts = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
        found(&Files { paths, texts }).into_iter().map(|check| check.command).collect()
    }

    const JEST: &str = r#"{"scripts": {"test": "jest"}}"#;

    /// P51: each kind of project is recognized by its files.
    #[test]
    fn each_line_of_the_table_finds_its_project() {
        let cases: &[(&[(&str, &str)], &str)] = &[
            (&[("Cargo.toml", "")], "cargo test"),
            (&[("package.json", JEST)], "npm test"),
            (&[("package.json", JEST), ("pnpm-lock.yaml", "")], "pnpm test"),
            (&[("package.json", JEST), ("yarn.lock", "")], "yarn test"),
            (&[("package.json", JEST), ("bun.lock", "")], "bun run test"),
            (
                &[("package.json", r#"{"packageManager":"pnpm@9","scripts":{"test":"x"}}"#)],
                "pnpm test",
            ),
            (&[("deno.json", "{}")], "deno test"),
            (&[("deno.json", r#"{"tasks":{"test":"deno test -A"}}"#)], "deno task test"),
            (&[("deno.json", r#"{"test":{"include":["a"]}}"#)], "deno test"),
            (&[("deno.jsonc", "{ // \"test\"\n}")], "deno test"),
            (&[("pyproject.toml", ""), ("pkg/a_test.py", "")], "python3 -m pytest -q"),
            (&[("pytest.ini", "")], "python3 -m pytest -q"),
            (&[("tests/test_a.py", "")], "python3 -m pytest -q"),
            (&[("tox.ini", "[pytest]\n")], "python3 -m pytest -q"),
            (&[("go.mod", "module x")], "go test ./..."),
            (&[("pom.xml", "")], "mvn -q -B test"),
            (&[("pom.xml", ""), ("mvnw", "")], "sh mvnw -q -B test"),
            (&[("build.gradle.kts", "")], "gradle test"),
            (&[("build.gradle", ""), ("gradlew", "")], "sh gradlew test"),
            (&[("app.csproj", "")], "dotnet test"),
            (&[("Makefile", "all:\n\ntest: all\n\ttrue\n")], "make test"),
            (&[("Makefile", "check:\n\ttrue\n")], "make check"),
            (&[("justfile", "test filter='':\n  cargo test\n")], "just test"),
            (&[("Taskfile.yml", "tasks:\n  test:\n    cmds: [x]\n")], "task test"),
            (&[("test.sh", "")], "sh test.sh"),
            (&[("tests/run.sh", "")], "sh tests/run.sh"),
        ];
        for (files, command) in cases {
            let files: Vec<(&'static str, &'static str)> = files.to_vec();
            assert_eq!(commands(&files), [*command], "{files:?}");
        }
    }

    #[test]
    fn what_only_looks_like_tests_is_none() {
        for files in [
            vec![(
                "package.json",
                r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
            )],
            vec![("package.json", "{}")],
            vec![("package.json", "not json")],
            vec![("Makefile", "testing:\n\ntest := 1\n.PHONY: test\n")],
            vec![("justfile", "test := 'x'\ntesting:\n  x\n")],
            vec![("tox.ini", "[tox]\n")],
            vec![("src/app.py", "")],
            vec![("scripts/test_a.py", "")],
            vec![("pyproject.toml", ""), ("pkg/a.py", "")],
            vec![("app/app.csproj", "")],
        ] {
            assert!(commands(&files).is_empty(), "{files:?}");
        }
    }

    /// A Makefile says how the tests of a project are run, unless it or the settings mention pytest.
    #[test]
    fn a_makefile_without_pytest_is_enough() {
        let with = |recipe| [("pyproject.toml", ""), ("tests/test_a.py", ""), ("Makefile", recipe)];
        assert_eq!(commands(&with("test:\n\tpython3 -m unittest\n")), ["make test"]);
        let both = ["python3 -m pytest -q", "make test"];
        assert_eq!(commands(&with("test:\n\tpython3 -m pytest\n")), both);
        assert_eq!(commands(&with("all:\n")), both[..1]);
    }

    /// A script that another check runs is not a check of its own.
    #[test]
    fn a_script_that_another_check_names_is_left_to_it() {
        let with = |recipe| [("test.sh", ""), ("tests/run.sh", ""), ("Makefile", recipe)];
        let both = ["make test", "sh test.sh", "sh tests/run.sh"];
        assert_eq!(commands(&with("test: build\n\t./test.sh\n")), [both[0], both[2]]);
        assert_eq!(commands(&with("test: build\n\tsh tests/run.sh -q\n")), both[..2]);
        for other in ["./mytest.sh", "lib/test.sh", "test.sh.in", "true"] {
            let recipe: &'static str = format!("test:\n\t{other}\n").leak();
            assert_eq!(commands(&with(recipe)), both, "{other}");
        }
        let npm = r#"{"scripts": {"test": "tsc && ./test.sh"}}"#;
        assert_eq!(commands(&[("test.sh", ""), ("package.json", npm)]), ["npm test"]);
        let no_target = [("test.sh", ""), ("Makefile", "all:\n\t./test.sh\n")];
        assert_eq!(commands(&no_target), ["sh test.sh"]);
    }

    #[test]
    fn several_may_apply_in_the_tables_order() {
        let files = [("test.sh", ""), ("Cargo.toml", ""), ("package.json", JEST)];
        assert_eq!(commands(&files), ["cargo test", "npm test", "sh test.sh"]);
    }
}
