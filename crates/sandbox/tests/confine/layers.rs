//! Workspaces that are stacks of folders.

use std::fs;
use std::path::{Path, PathBuf};

use sandbox::{Bounds, LaidOut, Layers, LocalEnvironment, Most, Repo};
use types::{CommitId, Millis};

use crate::fixture::{Fixture, run};

/// A stack with these lower folders, below a name of its own.
fn stack(fixture: &Fixture, name: &str, lower: &[PathBuf]) -> (LocalEnvironment, PathBuf) {
    let place = fixture.dir.path().join(name);
    let (upper, work) = (place.join("upper"), place.join("work"));
    for folder in [&upper, &work] {
        fs::create_dir_all(folder).expect("a folder");
    }
    let at = PathBuf::from("/src/project");
    let layers = Layers { at, lower: lower.to_vec(), upper: upper.clone(), work };
    let visible = vec![fixture.dir.path().join("repo/.git")];
    let bounds = Bounds { layers: Some(layers), visible, ..Bounds::default() };
    let env = LocalEnvironment::open(&upper).expect("a folder");
    (env.confined(fixture.confine_to(bounds)), upper)
}

/// Runs a command on what the one before it left.
async fn says(env: &LocalEnvironment, line: &str) -> String {
    let work = env.root().with_file_name("work");
    sandbox::remove(&work).expect("removed");
    fs::create_dir(&work).expect("a folder");
    run(env, line, Millis::seconds(60)).await.output
}

fn sh(folder: &Path, line: &str) -> String {
    let done = std::process::Command::new("bash").args(["-ec", line]).current_dir(folder).output();
    let done = done.expect("bash");
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

pub(crate) async fn commands_see_a_stack_as_one_folder_and_write_only_on_top(fixture: Fixture) {
    let (a, b) = (fixture.dir.path().join("a"), fixture.dir.path().join("b: c,d\\"));
    sh(fixture.dir.path(), "mkdir -p a/sub 'b: c,d\\'; echo low > a/x; echo low > a/sub/y");
    fs::write(b.join("x"), "high\n").expect("a file");
    let (env, upper) = stack(&fixture, "one", &[b, a.clone()]);
    let said = says(
        &env,
        "pwd; cat x sub/y; echo new > sub/y; rm x; echo z > z; ls; mkdir -m 0 no; echo $PWD",
    )
    .await;
    assert_eq!(said, "/src/project\nhigh\nlow\nsub\nz\n/src/project\n");
    assert_eq!(fs::read_to_string(a.join("sub/y")).expect("a file"), "low\n");
    assert_eq!(fs::read_to_string(upper.join("sub/y")).expect("a file"), "new\n");
    // Nothing above or beside it is there, and the layers themselves are not.
    let said = says(&env, &format!("ls /src; ls {} 2>/dev/null | wc -l", a.display())).await;
    assert_eq!(said, "project\n0\n");
    sandbox::remove(upper.parent().expect("a folder")).expect("it can be removed");
    assert!(!upper.exists());
}

pub(crate) async fn commands_at_the_same_path_do_not_meet(fixture: Fixture) {
    let low = fixture.dir.path().join("low");
    sh(fixture.dir.path(), "mkdir low; echo 0 > low/n");
    let [one, two] = ["one", "two"].map(|name| stack(&fixture, name, std::slice::from_ref(&low)).0);
    let line = |n| format!("echo {n} > n; for i in $(seq 300); do cat n; done | sort -u");
    let (first, second) = (line(1), line(2));
    let said = tokio::join!(says(&one, &first), says(&two, &second));
    assert_eq!(said, ("1\n".to_owned(), "2\n".to_owned()));
    assert_eq!(fs::read_to_string(low.join("n")).expect("a file"), "0\n");
}

/// A repository with two commits, and a checkout of the first.
async fn two_commits(fixture: &Fixture, second: &str) -> (Repo, CommitId, CommitId, PathBuf) {
    let top = fixture.dir.path();
    let commit = "git add -A && git -c user.name=u -c user.email=u@localhost commit -qm x && git rev-parse HEAD";
    let first = format!(
        "git init -q repo; cd repo; mkdir -p d/e gone/deep; echo 1 > a; echo 1 > d/e/f; echo 1 > gone/deep/x; \
         echo 1 > gone/y; echo 1 > d/g; printf 'out/\\n*.o\\n' > .gitignore; {commit}"
    );
    let base = CommitId(sh(top, &first));
    let commit = CommitId(sh(&top.join("repo"), &format!("{second}; {commit}")));
    let repo = Repo::discover(&top.join("repo")).await.expect("a repository");
    let below = top.join("base");
    repo.checkout_layer(&below, &base).await.expect("a checkout");
    (repo, base, commit, below)
}

pub(crate) async fn a_commit_is_its_difference_above_another(fixture: Fixture) {
    let second = "echo 2 > a; git rm -rq gone; rm d/e/f; ln -s /etc d/e/f; rm -r d/g; mkdir d/g; echo 2 > d/g/new; chmod +x d/g/new";
    let (repo, base, commit, below) = two_commits(&fixture, second).await;
    let layer = fixture.dir.path().join("difference");
    let how = repo.difference_layer(&layer, (&below, &base), &commit).await.expect("a layer");
    assert_eq!(how, LaidOut::Above { hides: true });
    let lower = [layer, below];
    let (env, upper) = stack(&fixture, "one", &lower);
    let said = says(&env, "git status --short; git rev-parse HEAD; find . -path ./.git -prune -o -type f -print | sort; readlink d/e/f; ls gone").await;
    let files = "./.gitignore\n./a\n./d/g/new\n/etc\n";
    assert!(said.starts_with(&format!("{}\n{files}", commit.0)), "{said}");
    assert!(said.contains("gone"), "an error: {said}");
    let age = says(&env, "stat -c %Y .gitignore; test a -nt .gitignore && echo newer").await;
    assert_eq!(age, "946684800\nnewer\n");
    // What a command changes is found, and only that.
    assert_eq!(repo.rewritten_above(&upper, &lower).await.expect("a list"), []);
    says(
        &env,
        "touch a; echo 3 > .gitignore; rm -r d; mkdir d; echo x > d/new; mkdir out; echo x > out/x",
    )
    .await;
    let rewritten = repo.rewritten_above(&upper, &lower).await.expect("a list");
    let rewritten: Vec<&str> = rewritten.iter().map(types::WorkPath::as_str).collect();
    assert_eq!(rewritten, [".gitignore", "d/e/f", "d/g/new"]);
    // Attributes change how other files are checked out.
    let commit = sh(
        &fixture.dir.path().join("repo"),
        "echo '* text' > .gitattributes; git add -A; git -c user.name=u -c user.email=u@localhost commit -qm x; git rev-parse HEAD",
    );
    let layer = fixture.dir.path().join("whole");
    let how = repo.difference_layer(&layer, (&lower[1], &base), &CommitId(commit)).await;
    assert_eq!(how.expect("a checkout"), LaidOut::Whole);
    assert!(layer.join("a").exists() && !layer.join("gone").exists());
}

pub(crate) async fn only_ignored_files_of_a_build_are_kept(fixture: Fixture) {
    let (repo, _, _, below) = two_commits(&fixture, "echo 2 > a").await;
    let lower = [below.clone()];
    let (env, upper) = stack(&fixture, "one", &lower);
    let build = "mkdir -p out/empty new/none; echo x > out/x; echo x > out/report; echo x > a.o; echo x > new/n; echo x > d/e/b.o; \
                 echo 2 > a; rm -r gone; mkdir gone; echo 3 > gone/z.o; mkfifo out/pipe; ln -s /etc/passwd out/link";
    says(&env, build).await;
    let most = Most { bytes: 1 << 20, files: 100 };
    let without = ["out/report".parse().expect("a path")];
    assert!(repo.keep_ignored(&upper, &below, &without, most).await.expect("kept"));
    let left = sh(&upper, "find . -mindepth 1 | sort | tr '\\n' ' '");
    assert_eq!(
        left,
        "./a.o ./d ./d/e ./d/e/b.o ./gone ./gone/z.o ./out ./out/empty ./out/link ./out/x"
    );
    // As a layer, it adds to the checkout and hides nothing of it.
    let (env, _) = stack(&fixture, "two", &[upper.clone(), below.clone()]);
    let said = says(&env, "git status --short; cat a gone/y gone/z.o out/x").await;
    assert_eq!(said, "1\n1\n3\nx\n");
    let most = Most { bytes: 4, files: 100 };
    assert!(!repo.keep_ignored(&upper, &below, &[], most).await.expect("too much"));
}
