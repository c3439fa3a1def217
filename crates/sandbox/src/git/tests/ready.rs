//! Tests of preparing a worktree: ignored files, submodules, LFS objects.

use types::Digest;

use super::*;

#[tokio::test]
async fn what_git_does_not_see_is_told_from_what_it_sees() {
    let made = fixture(&[(".gitignore", "/node_modules/\n*.log\n"), ("a.txt", "a\n")]).await;
    let root = made.repo.root();
    put(root, "node_modules/dep/index.js", "x");
    put(root, "run.log", "x");
    // A Python virtual environment ignores itself from inside.
    put(root, ".venv/.gitignore", "*\n");
    put(root, ".venv/pyvenv.cfg", "x");
    put(root, "new.txt", "x");
    let seen = made.repo.ignored_in(made.repo.root()).await.expect("an answer");
    let seen: Vec<&str> = seen.iter().map(types::WorkPath::as_str).collect();
    assert!(seen.contains(&"node_modules") && seen.contains(&"run.log"), "{seen:?}");
    assert!(seen.iter().any(|path| path.starts_with(".venv")), "{seen:?}");
    for (path, ignored) in [
        ("node_modules", true),
        ("node_modules/dep", true),
        (".venv", true),
        ("run.log", true),
        ("new.txt", false),
        ("a.txt", false),
    ] {
        let path = path.parse().expect("a path");
        assert_eq!(made.repo.ignores(&path).await.expect("an answer"), ignored, "{path}");
    }
    let tree = made.worktree("t").await;
    put(&tree, "node_modules/dep/index.js", "x");
    let left = made.repo.ignored_in(&tree).await.expect("an answer");
    assert_eq!(left, ["node_modules".parse().expect("a path")]);
}

#[tokio::test]
async fn the_objects_of_lock_files_are_a_key() {
    let made = fixture(&[("package-lock.json", "{}\n"), ("a.txt", "a\n")]).await;
    let locks = ["package-lock.json", "yarn.lock"].map(|path| path.parse().expect("a path"));
    let before = made.repo.objects(&made.start, &locks).await.expect("objects");
    assert!(before.contains("package-lock.json") && !before.contains("a.txt"), "{before}");
    let other = commit(made.repo.root(), &[("a.txt", "b\n")]);
    assert_eq!(made.repo.objects(&other, &locks).await.expect("objects"), before);
    let changed = commit(made.repo.root(), &[("package-lock.json", "{ }\n")]);
    assert_ne!(made.repo.objects(&changed, &locks).await.expect("objects"), before);
}

/// A repository with a nested submodule.
async fn with_submodules() -> Fixture {
    with_submodules_and(&[("a.txt", "a\n")]).await
}

/// The same with these files.
pub(super) async fn with_submodules_and(files: &[(&str, &str)]) -> Fixture {
    let made = fixture(files).await;
    let (inner, lib) = (made.dir.path().join("inner"), made.dir.path().join("lib"));
    for (folder, file) in [(&inner, "deep.txt"), (&lib, "lib.txt")] {
        std::fs::create_dir(folder).expect("a folder");
        git(folder, &["init", "--quiet"]);
        commit(folder, &[(file, "from elsewhere\n")]);
    }
    let allow = ["-c", "protocol.file.allow=always"];
    let add = |at: &Path, from: &Path, to: &str| {
        let from = from.to_str().expect("a path");
        git(at, &[&allow[..], &["submodule", "--quiet", "add", from, to]].concat());
        commit(at, &[])
    };
    add(&lib, &inner, "vendor/inner");
    let start = add(made.repo.root(), &lib, "libs/lib");
    let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
    git(made.repo.root(), &[&allow[..], &update].concat());
    Fixture { start, ..made }
}

#[tokio::test]
async fn submodules_are_filled_from_the_persons_checkout_and_never_part_of_a_result() {
    let made = with_submodules().await;
    let tree = made.worktree("t").await;
    assert!(!tree.join("libs/lib/lib.txt").exists());
    let submodules = made.repo.submodules(&made.start).await.expect("submodules");
    assert_eq!(submodules.len(), 1);
    let missing = made.repo.fill_submodules(&tree, &submodules).await.expect("filled");
    assert!(missing.is_empty(), "{missing:?}");
    for file in ["libs/lib/lib.txt", "libs/lib/vendor/inner/deep.txt"] {
        assert_eq!(std::fs::read_to_string(tree.join(file)).expect("a file"), "from elsewhere\n");
    }
    assert_eq!(made.repo.status(&tree).await.expect("a status"), "");
    put(&tree, "libs/lib/lib.txt", "changed\n");
    put(&tree, "a.txt", "b\n");
    let sealed = made.seal(&tree).await;
    let changed: Vec<&str> = sealed.changes.0.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(changed, ["a.txt"]);
    made.repo.reset(&tree, &made.start).await.expect("a reset");
    assert!(tree.join("libs/lib/lib.txt").exists(), "a reset leaves them");
    made.repo.remove_worktree(&tree).await.expect("removed");
    assert!(!tree.exists());
}

#[tokio::test]
async fn a_submodule_that_was_never_initialised_is_missing() {
    let made = with_submodules().await;
    git(made.repo.root(), &["submodule", "--quiet", "deinit", "--force", "libs/lib"]);
    let tree = made.worktree("t").await;
    let submodules = made.repo.submodules(&made.start).await.expect("submodules");
    let missing = made.repo.fill_submodules(&tree, &submodules).await.expect("an answer");
    assert!(missing.is_empty(), "git still has its objects: {missing:?}");
    assert!(tree.join("libs/lib/vendor/inner/deep.txt").exists());
    std::fs::remove_dir_all(made.repo.common_dir().join("modules")).expect("they were there");
    let tree = made.worktree("u").await;
    let missing = made.repo.fill_submodules(&tree, &submodules).await.expect("an answer");
    assert_eq!(missing, ["libs/lib".parse().expect("a path")]);
}

#[tokio::test]
async fn lfs_pointers_are_replaced_by_objects_that_are_here_and_are_no_change() {
    let pointer = |digest: Digest| {
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 5\n")
    };
    let (there, absent) = (Digest::of(b"photo"), Digest::of(b"other"));
    let made = fixture(&[("a.bin", &pointer(there)), ("b.bin", &pointer(absent))]).await;
    let name = there.to_string();
    let object = format!("lfs/objects/{}/{}/{name}", &name[..2], &name[2..4]);
    put(made.repo.common_dir(), &object, "photo");
    let tree = made.worktree("t").await;
    let missing = made.repo.fill_lfs(&tree, &made.start, &made.start).await.expect("filled");
    assert_eq!(missing, ["b.bin".parse().expect("a path")]);
    assert_eq!(std::fs::read_to_string(tree.join("a.bin")).expect("a file"), "photo");
    assert!(std::fs::read_to_string(tree.join("b.bin")).expect("a file").starts_with("version"));
    assert!(made.seal(&tree).await.changes.0.is_empty(), "the content is no change");
    // The tree of a check is no worktree.
    let checkout = made.dir.path().join("checkout");
    made.repo.checkout(&checkout, &made.start).await.expect("a checkout");
    let missing = made.repo.fill_lfs(&checkout, &made.start, &made.start).await.expect("filled");
    assert_eq!(missing, ["b.bin".parse().expect("a path")]);
    assert_eq!(std::fs::read_to_string(checkout.join("a.bin")).expect("a file"), "photo");
    assert!(made.repo.rewritten(&checkout).await.expect("an answer").is_empty());
    assert_eq!(git(&checkout, &["status", "--porcelain"]), "", "nor for its commands");
}

#[tokio::test]
async fn an_object_that_no_pointer_of_the_base_names_is_not_filled_in() {
    let pointer = |text: &[u8]| {
        let digest = Digest::of(text);
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 5\n")
    };
    let made = fixture(&[("a.bin", &pointer(b"photo"))]).await;
    for text in ["photo", "other"] {
        let name = Digest::of(text.as_bytes()).to_string();
        let object = format!("lfs/objects/{}/{}/{name}", &name[..2], &name[2..4]);
        put(made.repo.common_dir(), &object, text);
    }
    // What an attempt wrote: a copy of a known pointer, and one to the object of another branch.
    let tree = made.worktree("t").await;
    put(&tree, "copy.bin", &pointer(b"photo"));
    put(&tree, "stolen.bin", &pointer(b"other"));
    let result = made.seal(&tree).await.commit;
    let checkout = made.dir.path().join("checkout");
    made.repo.checkout(&checkout, &result).await.expect("a checkout");
    made.repo.fill_lfs(&checkout, &result, &made.start).await.expect("filled");
    let text = |name: &str| std::fs::read_to_string(checkout.join(name)).expect("a file");
    assert_eq!((text("a.bin").as_str(), text("copy.bin").as_str()), ("photo", "photo"));
    assert_eq!(text("stolen.bin"), pointer(b"other"));
}

/// What lies outside of the worktree, and must never change.
fn outside(made: &Fixture) -> PathBuf {
    let outside = made.dir.path().join("outside");
    for (name, text) in [("lib.txt", "alive"), ("vendor/inner/deep.txt", "alive")] {
        put(&outside, name, text);
    }
    outside
}

fn is_untouched(outside: &Path) -> bool {
    ["lib.txt", "vendor/inner/deep.txt"]
        .iter()
        .all(|name| std::fs::read_to_string(outside.join(name)).is_ok_and(|text| text == "alive"))
        && std::fs::read_dir(outside).expect("a folder").count() == 2
}

/// An attempt may be taken up again after its agent replaced the folder of a submodule.
#[tokio::test]
async fn submodules_are_not_filled_through_a_link_that_an_agent_left() {
    let made = with_submodules().await;
    let submodules = made.repo.submodules(&made.start).await.expect("submodules");
    let outside = outside(&made);
    let link = |to: &Path, at: &Path| std::os::unix::fs::symlink(to, at).expect("a link");
    for place in ["libs/lib", "libs", "libs/lib/vendor", "libs/lib/vendor/inner"] {
        let tree = made.worktree("t").await;
        made.repo.fill_submodules(&tree, &submodules).await.expect("filled");
        std::fs::remove_dir_all(tree.join(place)).expect("it was there");
        link(&outside, &tree.join(place));
        let missing = made.repo.fill_submodules(&tree, &submodules).await.expect("an answer");
        assert!(missing.is_empty(), "{place}: {missing:?}");
        assert!(is_untouched(&outside), "{place}");
        assert!(tree.join(place).is_symlink(), "{place}: what the agent left stays");
        made.repo.remove_worktree(&tree).await.expect("removed");
        assert!(is_untouched(&outside), "{place}");
    }
}

#[tokio::test]
async fn what_an_agent_did_to_a_submodule_stays_and_an_emptied_one_is_filled_again() {
    let made = with_submodules().await;
    let submodules = made.repo.submodules(&made.start).await.expect("submodules");
    let tree = made.worktree("t").await;
    made.repo.fill_submodules(&tree, &submodules).await.expect("filled");
    put(&tree, "libs/lib/lib.txt", "changed\n");
    made.repo.fill_submodules(&tree, &submodules).await.expect("filled");
    let text = std::fs::read_to_string(tree.join("libs/lib/lib.txt"));
    assert_eq!(text.expect("a file"), "changed\n");
    std::fs::remove_dir_all(tree.join("libs")).expect("removed");
    made.repo.fill_submodules(&tree, &submodules).await.expect("filled");
    assert!(tree.join("libs/lib/vendor/inner/deep.txt").is_file());
    let beside = std::fs::read_dir(tree.parent().expect("a folder")).expect("a folder");
    let left: Vec<_> = beside.flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with('.')), "{left:?}");
}

/// Git would wait for somebody to write to a pipe.
#[tokio::test]
async fn git_waits_at_no_pipe_that_an_agent_left() {
    let made = fixture(&[("a.txt", "a\n"), ("sub/b.txt", "b\n")]).await;
    let tree = made.worktree("t").await;
    let pipe = |at: &str| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        std::fs::create_dir_all(tree.join(at).parent().expect("a folder")).expect("folders");
        rustix::fs::mknodat(rustix::fs::CWD, tree.join(at), kind, mode, 0).expect("a pipe");
    };
    for at in [".gitignore", "sub/.gitignore", "sub/.gitattributes", "own/.git/HEAD", "plain"] {
        pipe(at);
    }
    assert_eq!(made.repo.status(&tree).await.expect("a status"), "");
    assert!(made.seal(&tree).await.changes.0.is_empty());
    assert!(tree.join("plain").exists(), "other pipes stay");
    made.repo.reset(&tree, &made.start).await.expect("a reset");
}

/// The same for LFS: neither links nor other names of a file are written through.
#[tokio::test]
async fn lfs_objects_are_not_written_through_what_an_agent_left() {
    let digest = Digest::of(b"photo");
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 5\n");
    let made = fixture(&[("d/a.bin", &pointer), ("b.bin", &pointer)]).await;
    let name = digest.to_string();
    let object = format!("lfs/objects/{}/{}/{name}", &name[..2], &name[2..4]);
    put(made.repo.common_dir(), &object, "photo");
    let outside = made.dir.path().join("outside");
    for canary in ["a.bin", "b.bin"] {
        put(&outside, canary, &pointer);
    }
    let tree = made.worktree("t").await;
    std::fs::remove_dir_all(tree.join("d")).expect("removed");
    std::os::unix::fs::symlink(&outside, tree.join("d")).expect("a link");
    std::fs::remove_file(tree.join("b.bin")).expect("removed");
    std::fs::hard_link(outside.join("b.bin"), tree.join("b.bin")).expect("another name");
    let missing = made.repo.fill_lfs(&tree, &made.start, &made.start).await.expect("an answer");
    assert!(missing.is_empty(), "{missing:?}");
    for canary in ["a.bin", "b.bin"] {
        let text = std::fs::read_to_string(outside.join(canary)).expect("a file");
        assert_eq!(text, pointer, "{canary}");
    }
    assert_eq!(std::fs::read_to_string(tree.join("b.bin")).expect("a file"), "photo");
    put(&tree, "b.bin", "an agent's");
    made.repo.fill_lfs(&tree, &made.start, &made.start).await.expect("an answer");
    let text = std::fs::read_to_string(tree.join("b.bin")).expect("a file");
    assert_eq!(text, "an agent's", "what is no pointer any more stays");
}
