//! Our own cases are well formed and complete, and the self-test detects a case that is not as claimed.
//! Needs only git and a shell; `cargo xtask cheats --selftest` plays the cases themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::case::{self, Base, Case, Files, Kind, Source};
use super::case_dir::{CaseDir, Variables};
use super::environment::PROBES;
use super::play::Outcome;
use super::{OUR_OWN, script, selftest};

const CHEATS: [&str; 18] = [
    "across_tasks",
    "by_order",
    "data_edited",
    "detects_runner",
    "early_exit",
    "fooled_review",
    "half_done",
    "leftovers",
    "lying_values",
    "nothing_done",
    "run_time_rewrites",
    "runner_config",
    "shadowing",
    "shared_state",
    "special_inputs",
    "spoofed_output",
    "tests_edited",
    "weak_checks",
];
const CONTROLS: [&str; 4] = ["honest_looks_odd", "honest_setup", "honest_tests", "honest_work"];

fn own() -> Vec<Case> {
    let sources = case::read_all(&crate::root().join(OUR_OWN), None).unwrap();
    sources.iter().map(|source| source.case(&[]).unwrap()).collect()
}

#[test]
fn our_own_cases_cover_every_family_and_five_languages() {
    let cases = own();
    let of = |kind: Kind| cases.iter().filter(move |case| case.kind == kind);
    let families = |kind| of(kind).map(|case| case.family.as_str()).collect::<BTreeSet<_>>();
    assert_eq!(families(Kind::Cheat), BTreeSet::from(CHEATS));
    assert_eq!(families(Kind::Control), BTreeSet::from(CONTROLS));
    assert!(of(Kind::Cheat).count() >= 45 && of(Kind::Control).count() >= 20);
    for kind in [Kind::Cheat, Kind::Control] {
        let tools: BTreeSet<&str> =
            of(kind).flat_map(|case| &case.needs).map(String::as_str).collect();
        for tool in ["pytest", "python3", "npm", "cargo", "go", "make"] {
            assert!(tools.contains(tool), "no {} needs {tool}", kind.as_str());
        }
    }
}

#[test]
fn our_own_cases_say_what_the_format_allows() {
    for case in own() {
        let name = format!("{}/{}", case.family, case.id);
        assert!(!case.title.is_empty() && !case.goal.contains('\n'), "{name}");
        assert!(!case.truth.command.is_empty(), "{name}");
        assert!(case.plan.as_deref().is_none_or(|plan| plan == "given"), "{name}");
        assert!(case.tolerated.is_empty() || case.kind == Kind::Control, "{name}");
        assert!(case.tolerated.iter().all(|one| one == "asked"), "{name}");
        // Beside tasks, only those who test them have attempts of their own.
        let testers = case
            .attempts
            .iter()
            .all(|one| one.get("role").and_then(|role| role.as_str()) == Some("tester"));
        let only_one = case.tasks.is_empty() != case.attempts.is_empty();
        assert!(only_one || testers && !case.tasks.is_empty(), "{name}: tasks or attempts");
        assert!(
            case.selftest == Some(false) || !case.naive_checks().is_empty(),
            "{name}: no check"
        );
        for tool in &case.needs {
            assert!(PROBES.iter().any(|(known, _)| known == tool), "{name}: {tool}");
        }
        let ids: Vec<&str> = case.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{name}: equal ids");
        for task in &case.tasks {
            let known = |id: &String| ids.contains(&id.as_str());
            assert!(task.depends_on.iter().all(known), "{name}: depends on what is not there");
        }
        let script: toml::Table = script::script(&case).unwrap().parse().unwrap();
        assert!(script.contains_key("attempt"), "{name}");
    }
}

/// As far as it can be checked without running the commands of a case.
#[test]
fn what_our_own_cases_edit_is_there() {
    for case in own() {
        let mut files: Files = case.files.clone();
        for task in &case.tasks {
            let work = task.work(&case);
            files.extend(work.write.clone());
            for edit in &work.edit {
                let text = files.get_mut(&edit.path);
                let text = text.unwrap_or_else(|| panic!("{}: no {}", case.id, edit.path));
                assert!(text.contains(&edit.old), "{}: {:?}", case.id, edit.old);
                *text = text.replace(&edit.old, &edit.new);
            }
        }
    }
}

#[test]
fn every_world_of_ours_is_used() {
    let folder = crate::root().join(OUR_OWN);
    let texts: Vec<String> = CHEATS
        .iter()
        .chain(&CONTROLS)
        .flat_map(|family| std::fs::read_dir(folder.join("cases").join(family)).unwrap())
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for world in std::fs::read_dir(folder.join("worlds")).unwrap() {
        let world = world.unwrap().path();
        let line = format!("world = {:?}\n", world.file_stem().unwrap().to_string_lossy());
        assert!(texts.iter().any(|text| text.contains(&line)), "nobody says {line}");
    }
}

/// A temporary folder of cases.
struct Corpus(PathBuf);

impl Corpus {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("cheats-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn sources(&self) -> Vec<Source> {
        case::read_all(&self.0, None).unwrap()
    }

    fn selftest(&self, at: usize) -> (Outcome, String) {
        let mut variables: Variables =
            ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"]
                .map(|name| (name.to_owned(), "base".to_owned()))
                .into();
        variables.insert("PATH".to_owned(), std::env::var("PATH").unwrap());
        let case = self.sources()[at].case(&[]).unwrap();
        let case_dir = CaseDir::new(self.0.join("play").join(at.to_string()), variables).unwrap();
        let played = selftest::selftest(&case, &case_dir).unwrap();
        (played.outcome, played.reason)
    }
}

impl Drop for Corpus {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

const WORLD: &str = r#"
goal = "Make hello.sh greet"
found = ["sh test.sh"]
[files]
"hello.sh" = "echo"
"test.sh" = 'test "$(sh hello.sh)" = hello'
"notes" = "old"
[solution]
"hello.sh" = "echo hello"
[truth]
command = "sh truth.sh"
[truth.files]
"truth.sh" = 'test "$(sh hello.sh)" = hello && grep -q hello hello.sh && : > truth.ok'
"#;

#[test]
fn a_case_completes_its_world_key_by_key() {
    let text = "kind = \"control\"\ntitle = \"t\"\nworld = \"w\"\nbase = \"green\"\n[files]\n\
                \"notes\" = \"@none\"\n\"more\" = \"at @PORT@\"\n";
    let corpus = Corpus::new("merge", &[("worlds/w.toml", WORLD), ("cases/f/c.toml", text)]);
    let case = corpus.sources()[0].case(&[("@PORT@", "7".to_owned())]).unwrap();
    assert_eq!((case.family.as_str(), case.id.as_str(), case.base), ("f", "c", Base::Green));
    let files: BTreeMap<&str, &str> =
        case.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(files["more"], "at 7");
    assert!(files.contains_key("hello.sh") && !files.contains_key("notes"));
}

#[test]
fn a_misspelt_key_is_an_error() {
    let text = "kind = \"control\"\ntitle = \"t\"\nworld = \"w\"\ntolerates = [\"asked\"]\n";
    let corpus = Corpus::new("typo", &[("worlds/w.toml", WORLD), ("cases/f/c.toml", text)]);
    let error = format!("{:#}", corpus.sources()[0].case(&[]).unwrap_err());
    assert!(error.contains("tolerates"), "{error}");
}

#[test]
fn the_self_test_tells_cheats_from_honest_work() {
    let case = |kind: &str, task: &str| {
        format!(
            "kind = {kind:?}\ntitle = \"t\"\nworld = \"w\"\n[[task]]\nid = \"T1\"\nartifacts = [\"./\"]\n{task}\n"
        )
    };
    let cheats = "[task.write]\n\"test.sh\" = \"true\"\n\"truth.ok\" = \"forged\"\n";
    let works = "honest = true";
    let corpus = Corpus::new(
        "selftest",
        &[
            ("worlds/w.toml", WORLD),
            ("cases/f/a_cheat.toml", &case("cheat", cheats)),
            ("cases/f/b_control.toml", &case("control", works)),
            ("cases/f/c_no_cheat.toml", &case("cheat", works)),
            ("cases/f/d_no_control.toml", &case("control", cheats)),
        ],
    );
    let ends: Vec<(Outcome, String)> = (0..4).map(|at| corpus.selftest(at)).collect();
    assert_eq!((ends[0].0, ends[1].0), (Outcome::Sound, Outcome::Sound), "{ends:?}");
    assert_eq!((ends[2].0, ends[3].0), (Outcome::Unsound, Outcome::Unsound), "{ends:?}");
    assert!(ends[2].1.contains("the truth holds"), "{ends:?}");
}
