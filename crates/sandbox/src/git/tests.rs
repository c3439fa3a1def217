//! Tests of the hardened git against real repositories, some of them hostile.

use std::path::Path;
use std::process::Command;

use types::{Artifact, Timestamp};

use super::*;

mod checkout;
mod dirty;
mod durable;
mod history;
mod hostile;
mod ready;
mod sharing;
mod unfinished;

const AT: Timestamp = Timestamp::from_millis(1_700_000_000_000);

struct Fixture {
    dir: tempfile::TempDir,
    repo: Repo,
    start: CommitId,
}

/// Plain git, as a user would call it.
fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=u",
            "-c",
            "user.email=u@localhost",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn put(dir: &Path, name: &str, text: &str) {
    let file = dir.join(name);
    std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
    std::fs::write(file, text).expect("a file");
}

fn commit(dir: &Path, files: &[(&str, &str)]) -> CommitId {
    for (name, text) in files {
        put(dir, name, text);
    }
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    CommitId(git(dir, &["rev-parse", "HEAD"]))
}

async fn fixture(files: &[(&str, &str)]) -> Fixture {
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().join("repo");
    std::fs::create_dir(&root).expect("a folder");
    git(&root, &["init", "--quiet"]);
    let start = commit(&root, files);
    let repo = Repo::discover(&root).await.expect("a repository");
    Fixture { dir, repo, start }
}

impl Fixture {
    fn tree(&self, name: &str) -> PathBuf {
        self.dir.path().join("trees").join(name)
    }

    async fn worktree(&self, name: &str) -> PathBuf {
        let tree = self.tree(name);
        self.repo.add_worktree(&tree, &self.start).await.expect("a worktree");
        tree
    }

    async fn seal(&self, tree: &Path) -> types::Sealed {
        self.repo.seal(tree, &self.start, "work", AT).await.expect("a seal")
    }
}

#[tokio::test]
async fn a_folder_without_a_repository_and_one_without_a_commit_are_told_apart() {
    let dir = tempfile::tempdir().expect("a folder");
    let found = Repo::discover(dir.path()).await;
    assert!(matches!(found, Err(GitError::NotARepository { .. })), "{found:?}");
    git(dir.path(), &["init", "--quiet"]);
    let repo = Repo::discover(dir.path()).await.expect("a repository");
    assert!(matches!(repo.survey().await, Err(GitError::NoCommit)));
    git(dir.path(), &["init", "--quiet", "--bare", "bare"]);
    let found = Repo::discover(&dir.path().join("bare")).await;
    assert!(matches!(found, Err(GitError::Bare { .. })), "{found:?}");
}

#[tokio::test]
async fn a_survey_names_files_documents_branch_and_checks() {
    let fixture = fixture(&[
        ("AGENTS.md", "be kind"),
        ("context/deep/a.md", "why"),
        ("context/b.txt", "not markdown"),
        ("Cargo.toml", ""),
        ("package.json", r#"{"scripts":{"test":"node t.js"}}"#),
        ("Makefile", "all:\n\ntest: all\n\ttrue\n"),
        ("tests/run.sh", ""),
    ])
    .await;
    let survey = fixture.repo.survey().await.expect("a survey");
    assert_eq!(survey.base, fixture.start);
    assert_eq!(survey.branch.as_deref(), Some("main"));
    assert_eq!(survey.file_count, 7);
    assert!(survey.files.is_sorted());
    let documents: Vec<_> =
        survey.documents.iter().map(|document| document.path.as_str()).collect();
    assert_eq!(documents, ["AGENTS.md", "context/deep/a.md"]);
    let commands: Vec<_> = survey.checks.iter().map(|check| check.command.as_str()).collect();
    assert_eq!(commands, ["cargo test", "npm test", "make test", "sh tests/run.sh"]);
}

#[tokio::test]
async fn documents_are_cut_with_a_mark() {
    let long = "x".repeat(40_000);
    let fixture = fixture(&[("AGENTS.md", &long), ("context/z.md", "never reached")]).await;
    let survey = fixture.repo.survey().await.expect("a survey");
    assert_eq!(survey.documents.len(), 1);
    let text = &survey.documents[0].text;
    assert!(text.len() < 33_000 && text.ends_with("is left out]\n"), "{} bytes", text.len());
}

#[tokio::test]
async fn a_seal_takes_everything_is_the_same_twice_and_has_start_as_parent() {
    let fixture = fixture(&[("a", "1\n"), ("gone", "x\n")]).await;
    let tree = fixture.worktree("T1.1").await;
    assert_eq!(fixture.seal(&tree).await.commit, fixture.start, "nothing changed");
    put(&tree, "a", "1\n2\n");
    put(&tree, "new/b", "b\n");
    std::fs::remove_file(tree.join("gone")).expect("a removed file");
    // Commits made by an agent itself are squashed.
    git(&tree, &["commit", "--quiet", "-am", "mine"]);
    let sealed = fixture.seal(&tree).await;
    let facts: Vec<_> =
        sealed.changes.0.iter().map(|c| (c.path.as_str(), c.added, c.removed)).collect();
    assert_eq!(facts, [("a", 1, 0), ("gone", 0, 1), ("new/b", 1, 0)]);
    assert_eq!(fixture.seal(&tree).await, sealed);
    let parent = git(fixture.repo.root(), &["rev-parse", &format!("{}^", sealed.commit)]);
    assert_eq!(parent, fixture.start.0);
    let shown =
        git(fixture.repo.root(), &["log", "-1", "--format=%an %ae %ad %cd", &sealed.commit.0]);
    assert!(shown.starts_with("Bosun bosun@localhost Tue Nov 14 22:13:20 2023"), "{shown}");
}

#[tokio::test]
async fn a_worktree_is_made_anew_over_a_half_made_one_and_removed_twice_without_harm() {
    let fixture = fixture(&[("a", "1")]).await;
    let tree = fixture.worktree("T1.1").await;
    put(&tree, "left", "over");
    std::fs::remove_file(tree.join(".git")).expect("cut off");
    fixture.worktree("T1.1").await;
    assert!(!tree.join("left").exists() && tree.join("a").exists());
    fixture.repo.remove_worktree(&tree).await.expect("removed");
    fixture.repo.remove_worktree(&tree).await.expect("removed again");
    assert!(!tree.exists());
    assert_eq!(
        git(fixture.repo.root(), &["worktree", "list", "--porcelain"]).matches("HEAD").count(),
        1
    );
}

#[tokio::test]
async fn a_replaced_git_file_and_hidden_changes_fool_nobody() {
    let fixture = fixture(&[("a", "1\n"), ("b", "1\n")]).await;
    let tree = fixture.worktree("T1.1").await;
    git(&tree, &["update-index", "--assume-unchanged", "a"]);
    put(&tree, "a", "changed\n");
    // The agent replaces the worktree's `.git` by a repository of its own, with a command in its configuration.
    std::fs::remove_file(tree.join(".git")).expect("removed");
    git(&tree, &["init", "--quiet"]);
    git(&tree, &["config", "core.fsmonitor", "touch pwned; false"]);
    assert_eq!(fixture.repo.status(&tree).await.expect("a status"), " M a");
    let sealed = fixture.seal(&tree).await;
    assert_eq!(sealed.changes.0.len(), 1);
    assert!(!tree.join("pwned").exists(), "a configured command ran");
    fixture.repo.reset(&tree, &fixture.start).await.expect("a reset");
    assert_eq!(std::fs::read_to_string(tree.join("a")).expect("a"), "1\n");
    assert!(tree.join(".git").is_file());
}

#[tokio::test]
async fn no_hook_filter_or_driver_of_the_repository_runs() {
    let fixture =
        fixture(&[("a", "1\n"), (".gitattributes", "* filter=evil diff=evil merge=evil\n")]).await;
    let root = fixture.repo.root().to_owned();
    let mark = fixture.dir.path().join("pwned");
    let evil = format!("touch {}; cat", mark.display());
    let keys = [
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.sshCommand",
    ];
    for key in keys {
        git(&root, &["config", key, &evil]);
    }
    for hook in ["post-checkout", "pre-commit", "reference-transaction", "post-index-change"] {
        let file = root.join(".git/hooks").join(hook);
        std::fs::write(&file, format!("#!/bin/sh\ntouch {}\n", mark.display())).expect("a hook");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).expect("a mode");
    }
    let tree = fixture.worktree("T1.1").await;
    put(&tree, "a", "2\n");
    fixture.repo.status(&tree).await.expect("a status");
    let sealed = fixture.seal(&tree).await;
    assert_eq!(sealed.changes.0.len(), 1);
    let merged =
        fixture.repo.merge(&sealed.commit, &fixture.start, "m", AT).await.expect("a merge");
    assert!(matches!(merged, Merged::Commit(_)));
    fixture.repo.point_branch("bosun/x", &sealed.commit).await.expect("a branch");
    fixture.repo.reset(&tree, &fixture.start).await.expect("a reset");
    fixture.repo.survey().await.expect("a survey");
    assert!(!mark.exists(), "a command of the repository ran");
}

/// Git cannot list worktrees while one of them is incomplete.
#[tokio::test]
async fn a_branch_is_not_moved_while_a_worktree_is_made() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let being_made = fixture.repo.inner.worktrees.lock().await;
    let pointing = fixture.repo.point_branch("bosun/x", &fixture.start);
    tokio::pin!(pointing);
    let other_calls = async {
        for _ in 0..20 {
            fixture.repo.changes(&fixture.start, &fixture.start).await.expect("no changes");
        }
    };
    tokio::select! {
        _ = &mut pointing => panic!("it did not wait"),
        () = other_calls => {}
    }
    drop(being_made);
    pointing.await.expect("a branch");
}

#[tokio::test]
async fn merges_make_a_line_and_conflicts_name_their_paths() {
    let fixture = fixture(&[("a", "1\n"), ("b", "1\n")]).await;
    let mut sealed = Vec::new();
    for (name, file, text) in [("T1.1", "a", "2\n"), ("T2.1", "b", "2\n"), ("T3.1", "a", "3\n")] {
        let tree = fixture.worktree(name).await;
        put(&tree, file, text);
        sealed.push(fixture.seal(&tree).await.commit);
    }
    let merge = |commit, onto| fixture.repo.merge(commit, onto, "merged", AT);
    let Merged::Commit(one) = merge(&sealed[0], &fixture.start).await.expect("a merge") else {
        panic!("a conflict")
    };
    let Merged::Commit(two) = merge(&sealed[1], &one).await.expect("a merge") else {
        panic!("a conflict")
    };
    assert_eq!(merge(&sealed[1], &one).await.expect("again"), Merged::Commit(two.clone()));
    assert_eq!(merge(&sealed[0], &two).await.expect("nothing new"), Merged::Commit(two.clone()));
    assert_eq!(merge(&two, &two).await.expect("itself"), Merged::Commit(two.clone()));
    let conflict = merge(&sealed[2], &two).await.expect("an answer");
    let Merged::Conflict { paths, hunks } = conflict else { panic!("{conflict:?}") };
    assert_eq!(paths, ["a"]);
    assert!(hunks.starts_with("a:\n") && hunks.contains("<<<<<<< the branch"), "{hunks}");
    assert!(hunks.contains("\n=======\n") && hunks.contains(">>>>>>> this task"), "{hunks}");
    let parents = git(fixture.repo.root(), &["log", "--format=%p", &two.0]);
    assert!(
        parents.lines().all(|line| !line.contains(' ')),
        "a commit with two parents: {parents}"
    );
    let changes = fixture.repo.changes(&fixture.start, &two).await.expect("changes");
    assert_eq!(changes.0.len(), 2);
}

#[tokio::test]
async fn a_branch_is_pointed_unless_it_is_checked_out_or_badly_named() {
    let fixture = fixture(&[("a", "1")]).await;
    let point = |name: &'static str| fixture.repo.point_branch(name, &fixture.start);
    point("bosun/r_1").await.expect("a branch");
    assert!(matches!(point("main").await, Err(GitError::CheckedOut { .. })));
    for bad in ["-f", "a..b", "a b", "x.lock", "", "refs/../heads/main", "a\nb", "@{-1}"] {
        assert!(matches!(point(bad).await, Err(GitError::BadBranch { .. })), "{bad:?} was taken");
    }
    let head = git(fixture.repo.root(), &["rev-parse", "bosun/r_1"]);
    assert_eq!(head, fixture.start.0);
}

#[tokio::test]
async fn missing_artifacts_are_found_by_what_the_commit_holds() {
    let fixture = fixture(&[("src/a", "1"), ("b", "1")]).await;
    let artifacts: Vec<Artifact> = ["src/a", "src/", "b", "b/", "src/x", "./"]
        .map(|text| text.parse().expect("an artifact"))
        .to_vec();
    let missing = fixture.repo.missing(&fixture.start, &artifacts).await.expect("an answer");
    let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(missing, ["b/", "src/x"]);
    let option = CommitId("--help".to_owned());
    assert!(matches!(
        fixture.repo.missing(&option, &artifacts).await,
        Err(GitError::NotACommit { .. })
    ));
}

#[tokio::test]
async fn a_file_name_that_could_be_mistaken_is_refused_and_shown_escaped() {
    let fixture = fixture(&[("a", "1")]).await;
    let tree = fixture.worktree("T1.1").await;
    put(&tree, "evil\nname", "x");
    assert!(fixture.repo.status(&tree).await.expect("a status").contains("evil\\nname"));
    match fixture.repo.seal(&tree, &fixture.start, "m", AT).await {
        Err(GitError::BadName { name }) => assert_eq!(name, "\"evil\\nname\""),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_half_written_file_of_ours_is_not_sealed_and_a_reset_keeps_ignored_files() {
    let fixture = fixture(&[("a", "1"), (".gitignore", "out/\n")]).await;
    let tree = fixture.worktree("T1.1").await;
    put(&tree, ".bosun-staging-1-0", "half");
    put(&tree, "out/built", "x");
    assert_eq!(fixture.seal(&tree).await.commit, fixture.start);
    put(&tree, "extra", "x");
    fixture.repo.reset(&tree, &fixture.start).await.expect("a reset");
    assert!(tree.join("out/built").exists() && !tree.join("extra").exists());
    assert_eq!(fixture.repo.status(&tree).await.expect("a status"), "");
}

#[tokio::test]
async fn a_repository_inside_the_worktree_runs_nothing_and_is_not_sealed() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let tree = fixture.worktree("T1.1").await;
    let inner = tree.join("sub/inner");
    std::fs::create_dir_all(&inner).expect("a folder");
    git(&inner, &["init", "--quiet"]);
    commit(&inner, &[("f", "1\n"), (".gitattributes", "* filter=evil\n")]);
    let mark = fixture.dir.path().join("pwned");
    let evil = format!("touch {}; cat", mark.display());
    for key in ["core.fsmonitor", "filter.evil.clean", "filter.evil.process", "core.sshCommand"] {
        git(&inner, &["config", key, &evil]);
    }
    put(&inner, "f", "2\n");
    put(&tree, "b", "2\n");
    for _ in 0..2 {
        let sealed = fixture.seal(&tree).await;
        let names: Vec<_> = sealed.changes.0.iter().map(|c| c.path.as_str()).collect();
        assert_eq!(names, ["b"]);
        fixture.repo.status(&tree).await.expect("a status");
    }
    fixture.repo.reset(&tree, &fixture.start).await.expect("a reset");
    assert!(!mark.exists(), "a command of the inner repository ran");
    assert!(!inner.exists(), "the inner repository is still there");
}

#[tokio::test]
async fn builds_are_written_to_what_is_ignored_by_name_and_holds_nothing_that_is_kept() {
    let ignored = "# builds\n/target\nnode_modules/\nkept\n*.log\nsrc/gen\n.gitx\n../out\n";
    let made = fixture(&[("kept/a", "x"), ("src/b", "y")]).await;
    let start = commit(made.repo.root(), &[(".gitignore", ignored)]);
    let builds = made.repo.builds(Some(&start)).await.expect("an answer");
    let names: Vec<&str> = builds.iter().map(types::WorkPath::as_str).collect();
    assert_eq!(names, ["target", "node_modules"]);
    assert_eq!(made.repo.builds(None).await.expect("an answer"), builds);
    let bare = fixture(&[("a", "x")]).await;
    assert!(bare.repo.builds(None).await.expect("an answer").is_empty());
}

#[test]
fn a_reference_is_never_an_option_or_a_command() {
    for bad in ["", "--output=x", "-p", "HEAD\n--output=x", "a;b", "$(id)", "a b"] {
        assert!(named(bad).is_err(), "{bad:?} was taken as a reference");
    }
    for good in ["HEAD", "main~2", "v1.0", "feature/x", "HEAD@{1}", "abc123^"] {
        assert!(named(good).is_ok(), "{good:?} was refused");
    }
}
