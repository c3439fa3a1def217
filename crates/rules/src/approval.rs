//! The extent of an approval: a person's yes to a command covers the line and the files that it names, as they were at
//! that moment, those that a pattern matches, and those that its programs are known to read (`make`: the Makefile). A
//! changed script is a new command and needs a new approval. Files that those files use are not tracked.

use types::{Access, CallFacts, Decision, FileState, RuleId, WorkPath};

use crate::command;

/// Maximum number of words of a line that are considered.
const MOST_WORDS: usize = 256;

/// Files that programs read without being told their names, in the folder where they start.
const READ_BY: [(&[&str], &[&str]); 18] = [
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml"]),
    (&["npm", "npx", "pnpm", "yarn", "bun", "node"], &["package.json"]),
    (&["cargo"], &["Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb"]),
    (&["bundle"], &["Gemfile"]),
    (
        &["gradle", "gradlew"],
        &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
    ),
    (&["mvn", "mvnw"], &["pom.xml"]),
    (&["ant"], &["build.xml"]),
    (&["ninja"], &["build.ninja"]),
    (&["cmake"], &["CMakeLists.txt"]),
    (&["tox"], &["tox.ini"]),
    (&["nox"], &["noxfile.py"]),
    (&["pytest"], &["conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg"]),
    (&["uv", "poetry", "pip", "pip3"], &["pyproject.toml", "setup.py"]),
    (&["composer"], &["composer.json"]),
    (
        &["docker", "docker-compose", "podman"],
        &["Dockerfile", "compose.yaml", "docker-compose.yml"],
    ),
];

/// Options whose value is the folder where such a program starts.
const FOLDER_OPTIONS: [&str; 7] =
    ["-C", "--chdir", "--directory", "--prefix", "--cwd", "--project-directory", "--dir"];

/// What a word begins with if it names a file in the folder of the command.
const HERE: [&str; 4] = ["$PWD/", "${PWD}/", "~+/", "$(pwd)/"];

/// The words of a call's command line that may name files, relative to the workspace; none for a call without one.
#[must_use]
pub fn words(facts: &CallFacts) -> Vec<String> {
    let Some(line) = facts.command.as_deref().filter(|_| facts.access == Access::Execute) else {
        return vec![];
    };
    let parts = command::read(line);
    let begins = facts.folder.as_ref().map_or(".", WorkPath::as_str);
    let mut folders = vec![begins.to_owned()];
    let (mut found, mut derived): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for part in &parts {
        let targets = part.redirections.iter().map(|redirection| &redirection.target);
        let texts: Vec<String> = part.words.iter().chain(targets).filter_map(text).collect();
        if let [name, .., folder] = texts.as_slice()
            && matches!(name.as_str(), "cd" | "pushd")
        {
            folders.push(below(begins, folder));
        }
        let mut starts = starts(&texts);
        starts.extend(part.set("PYTHONPATH").and_then(text));
        let places = |word: &str| -> Vec<String> {
            let pairs =
                folders.iter().flat_map(|folder| starts.iter().map(move |start| (folder, start)));
            pairs.map(|(folder, start)| below(folder, &below(start, word))).collect()
        };
        found.extend(texts.iter().flat_map(|text| read_by(text)).flat_map(places));
        for text in &texts {
            // `--file=x` names x.
            let value = text.split_once('=').map(|(_, value)| value.to_owned());
            let named = value.into_iter().chain([text.clone()]);
            found.extend(named.flat_map(|word| places(&word)).collect::<Vec<_>>());
            derived.extend(modules(&texts, text).iter().flat_map(|word| places(word)));
        }
    }
    // Words as they stand are never pushed out by what they might stand for.
    found.append(&mut derived);
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|word| is_a_name(word) && seen.insert(word.clone()));
    found.truncate(MOST_WORDS);
    found
}

/// The states worth recording: existing files, and missing ones whose word is certainly a path.
#[must_use]
pub fn bound(found: &[FileState]) -> Vec<FileState> {
    let counts = |file: &&FileState| {
        let path = file.path.as_str();
        let known = || READ_BY.iter().any(|(_, names)| names.contains(&path));
        file.digest.is_some() || (path.contains(['/', '.']) && !file.path.is_root()) || known()
    };
    found.iter().filter(counts).cloned().collect()
}

/// The files that have changed.
#[must_use]
pub fn changed(before: &[FileState], now: &[FileState]) -> Vec<WorkPath> {
    let same = |file: &&FileState| !now.contains(file);
    before.iter().filter(same).map(|file| file.path.clone()).collect()
}

/// The decision to ask again because these files have changed since the approval.
#[must_use]
pub fn outdated(decision: &Decision, changed: &[WorkPath], by: &str) -> Decision {
    let names: Vec<&str> = changed.iter().map(WorkPath::as_str).collect();
    let reason = format!("changed since {by} allowed it: {}", names.join(", "));
    let rule = RuleId::fixed("permit.approval_outdated");
    Decision { rule, reason, ..decision.clone() }
}

/// The files that a program reads without being told.
fn read_by(program: &str) -> impl Iterator<Item = &'static str> {
    let name = program.rsplit('/').next().unwrap_or(program).to_owned();
    let known = READ_BY.iter().filter(move |(programs, _)| programs.contains(&name.as_str()));
    known.flat_map(|(_, names)| names.iter().copied())
}

/// The folders in which the program of a part may start: its own, and those named by options.
fn starts(texts: &[String]) -> Vec<String> {
    let mut starts = vec![".".to_owned()];
    for (place, text) in texts.iter().enumerate() {
        let (option, value) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (text.as_str(), texts.get(place + 1).map(String::as_str)),
        };
        if FOLDER_OPTIONS.contains(&option) {
            starts.extend(value.map(str::to_owned));
        } else if let Some(folder) = text.strip_prefix("-C").filter(|folder| !folder.is_empty()) {
            starts.push(folder.to_owned());
        }
    }
    starts
}

/// A word as far as it is known, relative to the folder of the command.
fn text(word: &command::Word) -> Option<String> {
    if let Some(likely) = word.likely() {
        let here = HERE.iter().find_map(|here| likely.strip_prefix(here));
        return Some(here.map_or_else(|| likely.clone(), str::to_owned));
    }
    let shown = word.shown();
    let rest = HERE.iter().find_map(|here| shown.strip_prefix(here))?;
    (!rest.contains(['$', '`'])).then(|| rest.to_owned())
}

/// The files that an interpreter runs if it is told to run a folder or a module by this word.
fn modules(texts: &[String], word: &str) -> Vec<String> {
    let runs = |name: &str| {
        let interpreter = |text: &String| {
            let program = text.rsplit('/').next().unwrap_or_default();
            program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == name
        };
        texts.iter().any(interpreter)
    };
    let is_name = word.chars().all(|c| c.is_alphanumeric() || "._/-".contains(c));
    if !is_name || word.starts_with('-') {
        return vec![];
    }
    if ["python", "pypy"].into_iter().any(runs) {
        let module = word.replace('.', "/");
        return vec![
            format!("{word}/__main__.py"),
            format!("{module}.py"),
            format!("{module}/__init__.py"),
            format!("{module}/__main__.py"),
        ];
    }
    let folder = ["node", "bun", "deno"].into_iter().any(runs);
    let names: &[&str] = if folder { &["index.js", "package.json"] } else { &[] };
    names.iter().map(|name| format!("{word}/{name}")).collect()
}

/// A word of a command that runs in a folder, relative to the workspace.
fn below(folder: &str, word: &str) -> String {
    if folder == "." || word.starts_with('/') {
        word.to_owned()
    } else {
        format!("{folder}/{word}")
    }
}

fn is_a_name(word: &str) -> bool {
    let last = word.rsplit('/').next().unwrap_or(word);
    !matches!(last, "" | "." | "..") && !last.starts_with('-') && word.len() <= WorkPath::MAX_BYTES
}

#[cfg(test)]
mod tests {
    use types::{Digest, Repeat};

    use super::*;

    fn of(line: &str, folder: Option<&str>) -> Vec<String> {
        words(&CallFacts {
            access: Access::Execute,
            paths: vec![],
            command: Some(line.to_owned()),
            folder: folder.map(|folder| folder.parse().expect("a path")),
            repeat: Repeat::Unknown,
            tool: None,
            agent: None,
            hosts: vec![],
        })
    }

    #[test]
    fn every_word_that_may_name_a_file_is_looked_at() {
        assert_eq!(of("bash build.sh -x", None), ["bash", "build.sh"]);
        assert_eq!(of("./run --file=a.txt < in", None), ["./run", "a.txt", "in"]);
        assert_eq!(of("sh x", Some("sub")), ["sub/sh", "sub/x"]);
        assert!(of("cd sub && env bash -c './x.sh'", None).contains(&"sub/./x.sh".to_owned()));
        assert!(of("cat $(./gen.sh)", None).contains(&"./gen.sh".to_owned()));
        assert!(of(&"x".repeat(100_000), None).is_empty());
        assert!(of(&(0..500).map(|n| format!("a{n} ")).collect::<String>(), None).len() <= 256);
    }

    #[test]
    fn a_script_is_found_however_its_folder_is_named() {
        let has = |line: &str, wanted: &str| of(line, None).contains(&wanted.to_owned());
        assert!(has("env -C sub sh run.sh", "sub/run.sh"));
        assert!(has("env --chdir=sub sh run.sh", "sub/run.sh"));
        for here in HERE {
            assert!(has(&format!("sh {here}run.sh"), "run.sh"), "{here}");
        }
        assert!(has("sh \"$PWD\"/run.sh", "run.sh"));
        assert!(has("python3 sub/pkg", "sub/pkg/__main__.py"));
        assert!(has("cd sub && python3.11 -m m", "sub/m.py"));
        assert!(has("python -m sub.m", "sub/m.py") && has("python -m pkg", "pkg/__main__.py"));
        assert!(has("PYTHONPATH=sub python3 -m m", "sub/m.py"));
        assert!(has("node sub", "sub/index.js"));
    }

    #[test]
    fn files_that_a_program_reads_unasked_are_looked_at() {
        let has = |line: &str, wanted: &str| of(line, None).contains(&wanted.to_owned());
        assert!(has("make test", "Makefile") && has("make test", "GNUmakefile"));
        assert!(has("make -C sub test", "sub/Makefile") && has("make -Csub", "sub/Makefile"));
        assert!(has("env CI=1 npm run build", "package.json") && has("cd a && just", "a/justfile"));
        assert!(!has("cat make.txt", "Makefile"));
        let missing = |path: &str| FileState { path: path.parse().expect("a path"), digest: None };
        assert_eq!(bound(&[missing("GNUmakefile"), missing("test")]), [missing("GNUmakefile")]);
    }

    #[test]
    fn a_file_that_is_another_or_gone_or_new_counts_as_changed() {
        let file = |path: &str, text: Option<&str>| FileState {
            path: path.parse().expect("a path"),
            digest: text.map(|text| Digest::of(text.as_bytes())),
        };
        let found =
            [file("sh", None), file("a", Some("1")), file("b.sh", None), file("c", Some("1"))];
        let before = bound(&found);
        assert_eq!(before, found[1..]);
        assert_eq!(changed(&before, &found), Vec::<WorkPath>::new());
        let now = [file("a", Some("2")), file("b.sh", Some("new")), file("c", None)];
        assert_eq!(changed(&before, &now).len(), 3);
    }
}
