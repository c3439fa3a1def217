//! Tests of checkouts for checks, and of commits that mix the files of two.

use types::WorkPath;

use super::super::{Edit, EditTo};
use super::{commit, fixture, git, put};

#[tokio::test]
async fn a_checkout_is_an_ordinary_clone_and_says_what_was_rewritten() {
    let fixture = fixture(&[("a.txt", "one\n"), ("b/c.txt", "two\n")]).await;
    let dir = fixture.dir.path().join("check");
    fixture.repo.checkout(&dir, &fixture.start).await.expect("a checkout");
    assert!(dir.join(".git").is_dir(), "nothing tells it from a person's own clone");
    assert_eq!(git(&dir, &["rev-parse", "HEAD"]), fixture.start.0);
    assert_eq!(git(&dir, &["status", "--porcelain"]), "");
    assert_eq!(fixture.repo.rewritten(&dir).await.expect("a list"), []);
    put(&dir, "left.txt", "untracked\n");
    put(&dir, "a.txt", "one\n");
    put(&dir, "b/c.txt", "three\n");
    let rewritten = fixture.repo.rewritten(&dir).await.expect("a list");
    assert_eq!(rewritten.iter().map(WorkPath::as_str).collect::<Vec<_>>(), ["b/c.txt"]);
    // A second checkout is fresh, regardless of leftovers.
    fixture.repo.checkout(&dir, &fixture.start).await.expect("a checkout");
    assert!(!dir.join("left.txt").exists());
    fixture.repo.remove_checkout(&dir).expect("it is removed");
    assert!(!dir.exists());
}

#[tokio::test]
async fn a_mixed_commit_has_files_of_both_and_texts_of_nobody() {
    let fixture = fixture(&[("code.sh", "old\n"), ("test.sh", "old\n"), ("gone.sh", "x\n")]).await;
    let new = commit(
        fixture.repo.root(),
        &[("code.sh", "new\n"), ("test.sh", "new\n"), ("more.sh", "y\n")],
    );
    let edit = |path: &str, to: EditTo| Edit { path: path.parse().expect("a path"), to };
    let edits = [
        edit("test.sh", EditTo::AsIn(fixture.start.clone())),
        edit("more.sh", EditTo::Gone),
        edit("gone.sh", EditTo::Text("z\n".to_owned())),
    ];
    let scratch = fixture.dir.path().join("scratch.index");
    let mixed = fixture.repo.mixed(&new, &edits, &new, &scratch).await.expect("a commit");
    let root = fixture.repo.root();
    let about = |commit: &str| git(root, &["log", "--format=%an %ae %at %cn %ct %P %s", commit]);
    assert_eq!(about(&mixed.0), about(&new.0), "its history is that of the result");
    let paths = fixture.repo.paths(&mixed).await.expect("paths");
    let texts = fixture.repo.texts(&mixed, &paths).await.expect("texts");
    let texts: Vec<(&str, &str)> = texts.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    assert_eq!(texts, [("code.sh", "new\n"), ("gone.sh", "z\n"), ("test.sh", "old\n")]);
    assert!(!scratch.exists());
}

#[tokio::test]
async fn the_links_of_a_commit_are_told_with_their_targets() {
    let fixture = fixture(&[("a", "1")]).await;
    let tree = fixture.worktree("T1.1").await;
    std::fs::create_dir(tree.join("d")).expect("a folder");
    std::os::unix::fs::symlink("../a", tree.join("d/in")).expect("a link");
    std::os::unix::fs::symlink("/etc/passwd", tree.join("out")).expect("a link");
    let sealed = fixture.seal(&tree).await;
    let links = fixture.repo.links(&sealed.commit).await.expect("links");
    let links: Vec<(&str, &str)> = links.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(links, [("d/in", "../a"), ("out", "/etc/passwd")]);
    assert!(fixture.repo.links(&fixture.start).await.expect("links").is_empty());
}

/// As builds with Go leave its cache of modules: an ordinary user may not even remove what is in such a folder.
#[tokio::test]
async fn folders_that_a_check_has_closed_are_compared_and_removed() {
    use std::os::unix::fs::PermissionsExt as _;
    crate::user::as_ordinary_user();
    let made = fixture(&[("src/a.txt", "a\n")]).await;
    let [lower, upper] = ["lower", "upper"].map(|name| made.dir.path().join(name));
    put(&lower, "src/a.txt", "a\n");
    put(&upper, "src/a.txt", "b\n");
    put(&upper, "cache/mod/a.go", "x");
    for (closed, mode) in [("cache/mod", 0o555), ("cache", 0o555), ("src", 0), (".", 0o555)] {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(upper.join(closed), mode).expect("a mode");
    }
    let rewritten = made.repo.rewritten_above(&upper, &[lower]).await.expect("a list");
    assert_eq!(rewritten, ["src/a.txt".parse().expect("a path")]);
    made.repo.remove_checkout(&upper).expect("removed");
    assert!(!upper.exists());
}
