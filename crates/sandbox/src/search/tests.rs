//! Both search implementations, which must give the same results where both apply.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, WorkPath};

use super::*;
use crate::{EnvError, Environment, LocalEnvironment};

/// The local environment without its fast search.
#[derive(Debug)]
struct Plain(LocalEnvironment);

#[async_trait]
impl Environment for Plain {
    fn facts(&self) -> types::Facts {
        self.0.facts()
    }
    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        self.0.read(path).await
    }
    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
        self.0.write(path, bytes).await
    }
    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        self.0.delete(path).await
    }
    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
        self.0.exists(path).await
    }
    async fn list(&self, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError> {
        self.0.list(path, depth).await
    }
    async fn exec(
        &self,
        request: ExecRequest,
        stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        self.0.exec(request, stop).await
    }
}

fn path(text: &str) -> WorkPath {
    text.parse().expect("a path")
}

fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, LocalEnvironment) {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let file = dir.path().join(name);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        std::fs::write(file, text).expect("a file");
    }
    let env = LocalEnvironment::open(dir.path()).expect("a workspace");
    (dir, env)
}

fn looking_for(pattern: &str, folder: &str) -> GrepRequest {
    GrepRequest {
        pattern: pattern.to_owned(),
        path: path(folder),
        include: None,
        ignore_case: false,
        context: 0,
        max: 100,
    }
}

async fn grep(env: &dyn Environment, request: GrepRequest) -> Found<Hits> {
    env.grep(request, &CancellationToken::new()).await.expect("an answer")
}

async fn glob(env: &dyn Environment, pattern: &str, folder: &str) -> Vec<String> {
    let request = GlobRequest { pattern: pattern.to_owned(), path: path(folder), max: 100 };
    let found = env.glob(request, &CancellationToken::new()).await.expect("an answer");
    found.items.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn both_ways_find_the_same_lines_with_context() {
    let text = "one\ntwo\nthree\nfour\n";
    let (_dir, env) = workspace(&[("a/x.rs", text), ("b.txt", "TWO\n"), ("bin", "two\0\n")]);
    let request = GrepRequest { context: 1, ..looking_for("t(wo|hree)", ".") };
    let fast = grep(&env, request.clone()).await;
    assert_eq!(fast.items.len(), 1);
    let lines: Vec<_> = fast.items[0].lines.iter().map(|l| (l.number, l.matched)).collect();
    assert_eq!(lines, [(1, false), (2, true), (3, true), (4, false)]);
    assert_eq!(grep(&Plain(env.clone()), request).await, fast);
    let request = GrepRequest { ignore_case: true, ..looking_for("two", ".") };
    assert_eq!(grep(&env, request).await.items.len(), 2);
    let request = GrepRequest { include: Some("*.rs".to_owned()), ..looking_for(".", ".") };
    assert_eq!(grep(&env, request).await.items.len(), 1);
    assert_eq!(grep(&env, looking_for("one", "a/x.rs")).await.items.len(), 1);
}

#[tokio::test]
async fn the_limit_counts_matching_lines_and_says_that_there_are_more() {
    let (_dir, env) = workspace(&[("a", "x\nx\nx\n"), ("b", "x\nx\n")]);
    for (max, lines, more) in [(2, 2, true), (4, 4, true), (5, 5, false), (9, 5, false)] {
        let found = grep(&env, GrepRequest { max, ..looking_for("x", ".") }).await;
        let count: usize = found.items.iter().map(|hits| hits.lines.len()).sum();
        assert_eq!((count, found.more), (lines, more), "with a limit of {max}");
    }
}

#[tokio::test]
async fn ignored_files_are_left_out_also_when_the_ignore_file_is_above_the_start() {
    let files = [
        (".gitignore", "target/\n*.log\n"),
        ("src/a.rs", "needle"),
        ("src/target/b.rs", "needle"),
        ("src/c.log", "needle"),
        (".git/x", "needle"),
        (".hidden", "needle"),
    ];
    let (_dir, env) = workspace(&files);
    let names = |found: Found<Hits>| {
        found.items.iter().map(|hits| hits.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(grep(&env, looking_for("needle", ".")).await), [".hidden", "src/a.rs"]);
    assert_eq!(names(grep(&env, looking_for("needle", "src")).await), ["src/a.rs"]);
    assert_eq!(names(grep(&env, looking_for("needle", "src/target")).await), ["src/target/b.rs"]);
}

/// Whoever opened such a pipe would wait forever.
#[tokio::test]
async fn a_pipe_or_a_link_in_place_of_an_ignore_file_ignores_nothing() {
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("rules"), "*.rs\n").expect("a file");
    let (dir, env) =
        workspace(&[("a/b/c.rs", "needle"), (".ignore", "*.log\n"), ("d.log", "needle")]);
    for folder in ["", "a", "a/b"] {
        let path = dir.path().join(folder).join(".gitignore");
        let owner = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, owner, 0)
            .expect("a pipe");
    }
    let found = |found: Found<Hits>| found.items.len();
    assert_eq!(found(grep(&env, looking_for("needle", ".")).await), 1);
    assert_eq!(found(grep(&env, looking_for("needle", "a/b")).await), 1);
    let linked = dir.path().join("a/b/.gitignore");
    std::fs::remove_file(&linked).expect("the pipe");
    std::os::unix::fs::symlink(outside.path().join("rules"), &linked).expect("a link");
    assert_eq!(glob(&env, "**/*.rs", "a").await, ["a/b/c.rs"]);
}

#[tokio::test]
async fn a_link_to_the_outside_is_not_searched() {
    let (dir, env) = workspace(&[("a", "x")]);
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret"), "needle").expect("a file");
    std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).expect("a link");
    assert_eq!(grep(&env, looking_for("needle", ".")).await.items, []);
    assert_eq!(glob(&env, "**/*", ".").await, ["a"]);
    let refused = env.grep(looking_for("needle", "out"), &CancellationToken::new()).await;
    assert!(matches!(refused, Err(EnvError::Escapes { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_glob_is_relative_to_its_folder_and_gives_the_newest_first() {
    let (dir, env) =
        workspace(&[("a/old.rs", ""), ("a/b/new.rs", ""), ("a/x.txt", ""), ("y.rs", "")]);
    let old = std::time::SystemTime::UNIX_EPOCH;
    let file = std::fs::File::open(dir.path().join("a/old.rs")).expect("a file");
    file.set_modified(old).expect("a time");
    assert_eq!(glob(&env, "**/*.rs", "a").await, ["a/b/new.rs", "a/old.rs"]);
    assert_eq!(glob(&env, "*.rs", "a").await, ["a/old.rs"]);
    assert_eq!(glob(&Plain(env), "**/*.rs", "a").await, ["a/b/new.rs", "a/old.rs"]);
}

#[tokio::test]
async fn a_glob_that_visits_too_many_files_says_that_there_are_more() {
    let (dir, env) = workspace(&[]);
    for number in 0..2_100 {
        std::fs::write(dir.path().join(format!("{number}.txt")), "").expect("a file");
    }
    let request = GlobRequest { pattern: "*.rs".to_owned(), path: path("."), max: 10 };
    let found = env.glob(request, &CancellationToken::new()).await.expect("a search");
    assert!(found.items.is_empty() && found.more);
}

#[tokio::test]
async fn a_pattern_that_explodes_elsewhere_is_harmless_and_a_broken_one_is_explained() {
    let (_dir, env) = workspace(&[("f", &"a".repeat(50_000))]);
    assert_eq!(grep(&env, looking_for("(a+)+$b", ".")).await.items, []);
    let broken = env.grep(looking_for("(", "."), &CancellationToken::new()).await;
    assert!(matches!(broken, Err(EnvError::BadPattern { .. })), "{broken:?}");
    let long = grep(&env, looking_for("a", ".")).await;
    assert!(long.items[0].lines[0].text.len() < 600);
}

#[tokio::test]
async fn changes_are_made_all_or_none() {
    use crate::Change;
    let (dir, env) = workspace(&[("a", "1"), ("b", "1")]);
    let write = |name: &str| Change::Write { path: path(name), bytes: b"2".to_vec() };
    let delete = |name: &str| Change::Delete { path: path(name) };
    let failed = env.apply(vec![write("a"), delete("b"), write("new"), write(".git/x")]).await;
    assert!(matches!(failed, Err(EnvError::Protected { .. })), "{failed:?}");
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
    assert_eq!(
        (text("a").as_deref(), text("b").as_deref(), text("new")),
        (Some("1"), Some("1"), None)
    );
    env.apply(vec![write("a"), delete("b"), write("new")]).await.expect("all of them");
    assert_eq!(
        (text("a").as_deref(), text("b"), text("new").as_deref()),
        (Some("2"), None, Some("2"))
    );
}
