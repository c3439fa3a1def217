//! Commits and branches are synced before they are reported, as seen by the system calls made; and objects that are
//! lost or damaged nevertheless are not an attempt's failure.

use std::collections::BTreeSet;

use types::FaultClass;

use super::*;

const WATCHED: &str = "BOSUN_TEST_WATCHED";
const BRANCH: &str = "bosun/x";

/// Makes a seal, a merge and a branch in the repository named by a variable, for the test below to trace.
#[tokio::test]
async fn work_to_be_watched() {
    let Some(dir) = std::env::var_os(WATCHED).map(PathBuf::from) else { return };
    let repo = Repo::discover(&dir.join("repo")).await.expect("a repository");
    let start = CommitId(git(repo.root(), &["rev-parse", "HEAD"]));
    let tree = dir.join("trees/T1.1");
    repo.add_worktree(&tree, &start).await.expect("a worktree");
    put(&tree, "deep/folder/new", "new\n");
    put(&tree, "a", "2\n");
    // This object was written before, and was not synced.
    git(&tree, &["hash-object", "-w", "a"]);
    let sealed = repo.seal(&tree, &start, "work", AT).await.expect("a seal");
    let other = start.clone();
    let merged = repo.merge(&sealed.commit, &other, "merged", AT).await.expect("a merge");
    let Merged::Commit(merged) = merged else { panic!("{merged:?}") };
    repo.point_branch(BRANCH, &merged).await.expect("a branch");
    let other = dir.join("trees/T2.1");
    repo.add_worktree(&other, &start).await.expect("a worktree");
    put(&other, "left/over", "x\n");
    repo.reset(&other, &sealed.commit).await.expect("a reset");
}

/// Runs that test under strace; returns the files and folders that were synced.
fn synced(dir: &Path) -> Option<BTreeSet<String>> {
    let log = dir.join("strace.log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(&log);
    strace.arg(std::env::current_exe().expect("this test")).env(WATCHED, dir);
    strace.args(["--exact", "git::tests::durable::work_to_be_watched"]);
    let ran = strace.output().ok()?;
    let log = std::fs::read_to_string(&log).ok()?;
    if log.is_empty() && !ran.status.success() {
        return None;
    }
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    let path = |line: &str| {
        let (path, rest) = line.split_once('<')?.1.split_once(">)")?;
        rest.trim_start().starts_with("= 0").then(|| path.to_owned())
    };
    Some(log.lines().filter_map(path).collect())
}

#[tokio::test]
async fn objects_references_and_their_folders_are_synced_before_anybody_hears_of_them() {
    let fixture = fixture(&[("a", "1\n"), ("b", "1\n")]).await;
    let Some(synced) = synced(fixture.dir.path()) else {
        eprintln!("SKIPPED: strace is not here or may not trace, so nobody can see what is synced");
        return;
    };
    let common = fixture.repo.common_dir();
    let start = &fixture.start.0;
    let objects = git(fixture.repo.root(), &["rev-list", "--objects", BRANCH, "--not", start]);
    let objects: Vec<&str> = objects.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(objects.len(), 6, "a commit, three trees and two files: {objects:?}");
    let mut wanted: Vec<PathBuf> = Vec::new();
    for object in objects {
        let folder = common.join("objects").join(&object[..2]);
        wanted.extend([folder.join(&object[2..]), folder]);
    }
    for name in ["objects", "refs/heads/bosun", "refs/heads", "refs", "worktrees", ""] {
        wanted.push(common.join(name).components().collect());
    }
    wanted.extend([common.join("refs/heads").join(BRANCH), common.join("worktrees/T1.1")]);
    wanted.extend(
        ["HEAD", "gitdir", "commondir"].map(|name| common.join("worktrees/T1.1").join(name)),
    );
    let tree = common.join("../../trees/T1.1").canonicalize().expect("a worktree");
    let reset = tree.with_file_name("T2.1");
    wanted.extend([tree.join("b"), tree]);
    wanted.extend(["deep/folder/new", "deep/folder", "deep"].map(|name| reset.join(name)));
    let indexes = ["index", "bosun-index"].map(|name| common.join("worktrees/T2.1").join(name));
    wanted.extend(indexes);
    for path in wanted {
        assert!(synced.contains(&path.display().to_string()), "{} was not", path.display());
    }
    let lock = common.join("refs/heads/bosun/x.lock").display().to_string();
    assert!(synced.contains(&lock), "git renames the reference before it is on the disk");
}

/// Empties, removes or corrupts the file of an object.
fn damage(repo: &Repo, object: &str, how: &str) {
    let file = repo.common_dir().join("objects").join(&object[..2]).join(&object[2..]);
    let mut bytes = std::fs::read(&file).expect("a loose object");
    std::fs::remove_file(&file).expect("removed");
    let half = bytes.len() / 2;
    match how {
        "gone" => return,
        "empty" => bytes.clear(),
        _ => bytes[half..].fill(7),
    }
    std::fs::write(&file, bytes).expect("damaged");
}

#[tokio::test]
async fn damaged_objects_are_named_as_that_and_no_attempt_is_blamed() {
    for what in ["", "^{tree}", ":d", ":d/a"] {
        for how in ["gone", "empty", "garbled"] {
            let fixture = fixture(&[("d/a", "1\n")]).await;
            let (repo, old) = (&fixture.repo, fixture.start.clone());
            let new = commit(repo.root(), &[("d/a", "2\n"), ("b", "other\n")]);
            damage(repo, &git(repo.root(), &["rev-parse", &format!("{new}{what}")]), how);
            let tree = fixture.tree("T1.1");
            // Each may succeed without the object; those that fail report the same.
            let made = repo.add_worktree(&tree, &new).await.err();
            assert!(made.is_some(), "a worktree without {what:?}, which is {how}");
            let changes = repo.changes(&old, &new).await.err();
            let merged = repo.merge(&new, &old, "m", AT).await.err();
            let faults = [made, changes, merged].into_iter().flatten();
            for fault in faults {
                let fault = fault.fault();
                assert_eq!(fault.code, "git.damaged", "{what} {how}: {}", fault.what);
                assert_ne!(fault.class, FaultClass::Structural);
                assert!(fault.what.contains("git fsck"), "{}", fault.what);
            }
        }
    }
}

#[test]
fn a_disk_that_is_full_is_no_failed_attempt_either() {
    let said = "fatal: unable to write new index file: No space left on device";
    let full = GitError::of("add".to_owned(), said.to_owned()).fault();
    assert_eq!((full.class, full.code.as_str()), (FaultClass::Person, "git.disk"));
    let source = std::io::Error::from_raw_os_error(28);
    let full = GitError::Io { doing: "syncing", path: "x".to_owned(), source }.fault();
    assert_eq!(full.code, "git.disk");
}
