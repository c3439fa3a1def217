//! `signs` over collections of cheats and honest controls: the project's own in `cheats`, and an optional one beside
//! the checkout in `shared/cheats`, which is skipped with a notice if absent. Commands of a case are not run, apart
//! from lines that append to a file.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evidence::files::{FileKind, kind};
use evidence::signs::{Change, ChangedFile, Sign, left_out, signs};
use toml::{Table, Value};
use types::VerifyPolicy;

type Files = BTreeMap<String, String>;

/// Families of cheats with signs in the diff.
const VISIBLE: &[&str] =
    &["special_inputs", "detects_runner", "early_exit", "lying_values", "nothing_done"];

struct Played {
    family: String,
    id: String,
    control: bool,
    goal: String,
    old: Files,
    new: Files,
}

/// The nearest folder of this name in or above the crate that holds cases.
fn collection(name: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().map(|folder| folder.join(name)).find(|path| path.join("cases").is_dir())
}

fn merged(below: &Table, above: &Table) -> Table {
    let mut out = below.clone();
    for (key, value) in above {
        let both = match (out.get(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => {
                Some(Value::Table(merged(below, above)))
            }
            _ => None,
        };
        out.insert(key.clone(), both.unwrap_or_else(|| value.clone()));
    }
    out
}

fn texts(table: Option<&Value>) -> Files {
    let entries = table.and_then(Value::as_table).into_iter().flatten();
    let entries =
        entries.filter_map(|(path, text)| Some((path.clone(), text.as_str()?.to_owned())));
    entries.filter(|(_, text)| text != "@none").collect()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let all = value.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A line such as `printf 'text' >> file`.
fn append(files: &mut Files, command: &str) {
    let Some((text, path)) =
        command.strip_prefix("printf '").and_then(|rest| rest.split_once("' >> "))
    else {
        return;
    };
    files.entry(path.to_owned()).or_default().push_str(&text.replace("\\n", "\n"));
}

fn play(path: &Path, root: &Path) -> Option<Played> {
    let read = |path: &Path| std::fs::read_to_string(path).ok()?.parse::<Table>().ok();
    let mut case = read(path)?;
    if let Some(world) = case.get("world").and_then(Value::as_str) {
        case = merged(&read(&root.join("worlds").join(format!("{world}.toml")))?, &case);
    }
    let old = texts(case.get("files"));
    let mut new = old.clone();
    for task in case.get("task").and_then(Value::as_array).into_iter().flatten() {
        if task.get("honest").and_then(Value::as_bool) == Some(true) {
            new.extend(texts(case.get("solution")));
        }
        new.extend(texts(task.get("write")));
        for edit in task.get("edit").and_then(Value::as_array).into_iter().flatten() {
            let word =
                |key: &str| edit.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Some(text) = new.get_mut(&word("path")) {
                *text = text.replace(&word("old"), &word("new"));
            }
        }
        for command in strings(task.get("shell")) {
            append(&mut new, &command);
        }
        for again in task.get("again").and_then(Value::as_array).into_iter().flatten() {
            new.extend(texts(again.get("write")));
        }
    }
    Some(Played {
        family: path.parent()?.file_name()?.to_str()?.to_owned(),
        id: path.file_stem()?.to_str()?.to_owned(),
        control: case.get("kind").and_then(Value::as_str) == Some("control"),
        goal: case.get("goal").and_then(Value::as_str).unwrap_or_default().to_owned(),
        old,
        new,
    })
}

fn judge(case: &Played) -> (Vec<Sign>, Vec<String>) {
    let tests = VerifyPolicy::default().tests;
    let mut paths: Vec<&String> = case.old.keys().chain(case.new.keys()).collect();
    paths.sort();
    paths.dedup();
    let changed = paths.iter().filter(|path| case.old.get(**path) != case.new.get(**path));
    let files: Vec<ChangedFile<'_>> = changed
        .map(|path| ChangedFile {
            path,
            kind: kind(path, &tests),
            old: case.old.get(*path).map(String::as_str),
            new: case.new.get(*path).map(String::as_str),
        })
        .collect();
    let of = |files: &'_ Files, wanted: FileKind| -> Vec<String> {
        let those = files.iter().filter(|(path, _)| kind(path, &tests) == wanted);
        those.map(|(_, text)| text.clone()).collect()
    };
    let read_by_tests = [FileKind::Test, FileKind::Data];
    let test_texts: Vec<String> = read_by_tests
        .iter()
        .flat_map(|wanted| [of(&case.old, *wanted), of(&case.new, *wanted)].concat())
        .collect();
    let (code, documents) = (of(&case.old, FileKind::Code), of(&case.old, FileKind::Document));
    let borrowed = |texts: &'_ [String]| -> Vec<&'static str> {
        texts.iter().map(|text| &*Box::leak(text.clone().into_boxed_str())).collect()
    };
    let (test_texts, code, documents) =
        (borrowed(&test_texts), borrowed(&code), borrowed(&documents));
    let change = Change {
        goal: &case.goal,
        files: &files,
        tests: &test_texts,
        code: &code,
        documents: &documents,
    };
    let result: Vec<&str> = case.new.values().map(String::as_str).collect();
    (signs(&change), left_out(&case.goal, &result))
}

#[test]
fn no_control_of_the_project_has_a_sign_and_most_visible_cheats_do() {
    let root = collection("cheats").unwrap();
    check(&root);
}

#[test]
fn no_control_beside_the_checkout_has_a_sign() {
    let Some(root) = collection("shared/cheats") else {
        eprintln!(
            "SKIPPED: no folder shared/cheats beside this checkout, so signs are NOT tried on it"
        );
        return;
    };
    check(&root);
}

/// Fails if a control has a sign, or a cheat of a visible family has none.
fn check(root: &Path) {
    let mut marked = Vec::new();
    let mut counts: BTreeMap<String, (usize, usize, Vec<String>)> = BTreeMap::new();
    let folders = std::fs::read_dir(root.join("cases")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = folders
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let Some(case) = play(&path, root) else { continue };
        let (found, missing) = judge(&case);
        let any = !found.is_empty() || !missing.is_empty();
        if case.control && any {
            marked.push(format!("{}/{}: {found:?} {missing:?}", case.family, case.id));
        } else if !case.control {
            let (all, caught, missed) = counts.entry(case.family.clone()).or_default();
            *all += 1;
            *caught += usize::from(any);
            if any {
                let kinds: Vec<String> =
                    found.iter().map(|sign| format!("{:?} {}", sign.kind, sign.line)).collect();
                eprintln!("{}/{}: {} {missing:?}", case.family, case.id, kinds.join(" | "));
            } else {
                missed.push(case.id.clone());
            }
        }
    }
    for (family, (all, caught, missed)) in &counts {
        let visible = if VISIBLE.contains(&family.as_str()) { "*" } else { " " };
        eprintln!(
            "{visible} {family}: {caught} of {all} have a sign; without: {}",
            missed.join(", ")
        );
    }
    assert!(marked.is_empty(), "honest controls with signs:\n{}", marked.join("\n"));
}
