//! Changes that are interrupted by a kill at every step that touches the disk, and recoveries interrupted likewise.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use super::*;
use crate::{Environment as _, LocalEnvironment};

const PLACE: &str = "BOSUN_TEST_PLACE";
const PHASE: &str = "BOSUN_TEST_PHASE";
const CALL: &str = "s1.t1.c0";
/// All system calls by which a process changes the disk.
const CALLS: &str =
    "renameat,renameat2,rename,unlinkat,unlink,mkdirat,mkdir,symlinkat,write,fsync,fdatasync";

fn path(text: &str) -> WorkPath {
    text.parse().expect("a path")
}

fn log(place: &Path) -> IntentLog {
    IntentLog::new(place.join("log"))
}

fn workspace(place: &Path) -> PathBuf {
    let work = place.join("work");
    fs::create_dir_all(place.join("log")).expect("a folder");
    fs::create_dir_all(work.join("d")).expect("a folder");
    for name in ["a", "b", "d/gone", "d/moved", "run.sh"] {
        fs::write(work.join(name), format!("old {name}\n")).expect("a file");
    }
    fs::write(work.join("picture"), [0, 159, 146, 150]).expect("a file");
    symlink("a", work.join("link")).expect("a link");
    fs::set_permissions(work.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    work
}

fn changes() -> Vec<Change> {
    let write = |name: &str| {
        let bytes = format!("new {name}\n").into_bytes();
        Change::Write { path: path(name), bytes }
    };
    let delete = |name: &str| Change::Delete { path: path(name) };
    vec![
        write("a"),
        write("new/folder/file"),
        delete("d/gone"),
        delete("link"),
        delete("picture"),
        write("run.sh"),
        write("d/moved"),
        Change::Move { path: path("d/moved"), to: path("e/there") },
        write("b"),
    ]
}

/// Every file and link of a folder, with its mode and its content.
fn shown(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let (place, facts) = (entry.path(), entry.metadata().expect("facts"));
            if facts.is_dir() {
                open.push(place);
            } else if facts.is_symlink() {
                let target = fs::read_link(&place).expect("a link").into_os_string();
                all.insert(place, (0, target.into_encoded_bytes()));
            } else {
                let mode = facts.permissions().mode() & 0o777;
                all.insert(place.clone(), (mode, fs::read(&place).expect("a file")));
            }
        }
    }
    all
}

/// Makes the changes, or recovers them, in the folder that an environment variable names.
#[tokio::test]
async fn phase_to_be_killed() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    if std::env::var_os(PHASE).is_some_and(|phase| phase == "recover") {
        log(&place).recover(&place.join("work")).expect("a recovery");
        return;
    }
    let env = LocalEnvironment::open(&place.join("work")).expect("a workspace");
    env.noting(&log(&place), CALL).apply(changes()).await.expect("changes");
}

/// Runs a phase, with a kill at the given step. Returns whether it was killed; `None` if it cannot be traced.
fn killed(place: &Path, phase: &str, step: usize) -> Option<bool> {
    let inject = format!("inject={CALLS}:signal=KILL:when={step}");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={CALLS}"), "-e", &inject]);
    strace.env(PLACE, place).env(PHASE, phase).arg(std::env::current_exe().expect("this test"));
    strace.args(["--exact", "local::intent::tests::phase_to_be_killed"]);
    let ran = strace.output().ok()?;
    match (ran.status.code(), ran.status.signal()) {
        (Some(0), _) => Some(false),
        (_, Some(9)) | (Some(137), _) => Some(true),
        _ => None,
    }
}

/// Promise 4, for changes to files: all or none, whenever the process is killed, also during recovery.
#[test]
fn changes_that_are_killed_at_any_step_are_all_made_or_none_and_nothing_is_left() {
    let whole = tempfile::tempdir().expect("a folder");
    let work = workspace(whole.path());
    let strip = |all: BTreeMap<PathBuf, (u32, Vec<u8>)>, root: &Path| -> BTreeMap<PathBuf, _> {
        let inner = |path: PathBuf| path.strip_prefix(root).expect("inside").to_owned();
        all.into_iter().map(|(path, content)| (inner(path), content)).collect()
    };
    let before = strip(shown(&work), &work);
    if killed(whole.path(), "change", 100_000) != Some(false) {
        eprintln!(
            "SKIPPED: strace is not here or may not trace, so nothing is killed step by step"
        );
        return;
    }
    let after = strip(shown(&work), &work);
    assert_ne!(before, after);
    let (mut steps, mut completed) = (0, 0);
    loop {
        steps += 1;
        let place = tempfile::tempdir().expect("a folder");
        let work = workspace(place.path());
        let cut_off = killed(place.path(), "change", steps).expect("it runs");
        if cut_off && steps % 3 == 0 {
            killed(place.path(), "recover", steps / 3).expect("it runs");
        }
        let became = log(place.path()).recover(&work).expect("a recovery").get(CALL).copied();
        let now = strip(shown(&work), &work);
        match became {
            Some(Recovered::Finished) => assert_eq!(now, after, "killed at step {steps}"),
            _ => assert_eq!(now, before, "killed at step {steps}: {became:?}"),
        }
        completed += usize::from(became == Some(Recovered::Finished));
        let left: Vec<_> = shown(&place.path().join("log")).into_keys().collect();
        assert!(left.iter().all(|file| file.ends_with(DONE)), "{left:?} at step {steps}");
        if !cut_off {
            break;
        }
    }
    assert!(steps > 30 && completed > 20, "{completed} of {steps}");
}

#[tokio::test]
async fn a_change_that_fails_takes_the_others_back_with_modes_and_links() {
    let place = tempfile::tempdir().expect("a folder");
    let work = workspace(place.path());
    let before = shown(&work);
    let env = LocalEnvironment::open(&work).expect("a workspace").noting(&log(place.path()), CALL);
    let mut all = changes();
    all.push(Change::Delete { path: path("absent") });
    assert!(matches!(env.apply(all).await, Err(EnvError::NotFound { .. })));
    assert_eq!(shown(&work), before);
    let became = log(place.path()).recover(&work).expect("a recovery");
    assert_eq!(became.get(CALL), Some(&Recovered::Undone));
}

#[tokio::test]
async fn what_is_not_all_of_a_call_says_nothing_of_it() {
    let place = tempfile::tempdir().expect("a folder");
    let work = workspace(place.path());
    let env = LocalEnvironment::open(&work).expect("a workspace").noting(&log(place.path()), CALL);
    env.write(&path("a"), b"1").await.expect("a write");
    env.rename(&path("a"), &path("x/a")).await.expect("a move");
    env.delete(&path("d/gone")).await.expect("a deletion");
    let became = log(place.path()).recover(&work).expect("a recovery");
    assert!(became.is_empty(), "{became:?}");
    // A name that was recorded twice tells nothing, either.
    for name in ["b", "c"] {
        let bytes = b"2".to_vec();
        env.apply(vec![Change::Write { path: path(name), bytes }]).await.expect("a change");
    }
    let became = log(place.path()).recover(&work).expect("a recovery");
    assert!(became.is_empty(), "{became:?}");
}

/// A single step succeeds or fails as a whole, so there is nothing to undo.
#[tokio::test]
async fn a_move_that_fails_leaves_what_is_at_its_end() {
    let place = tempfile::tempdir().expect("a folder");
    let work = workspace(place.path());
    let env = LocalEnvironment::open(&work).expect("a workspace");
    let before = shown(&work);
    let jail = Jail::open(&work).expect("a workspace");
    let hidden = Hidden::default();
    let files = Files { jail: &jail, root: env.root(), hidden: &hidden };
    let absent = [Change::Move { path: path("absent"), to: path("a") }];
    let failed = log(place.path()).make(CALL, &absent, &files);
    assert!(failed.is_err() && !matches!(failed, Err(EnvError::HalfDone { .. })), "{failed:?}");
    assert_eq!(shown(&work), before);
}
