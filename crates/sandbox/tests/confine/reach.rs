//! Keys, Bosun's own state, and settings that make other programs run commands: inaccessible to commands and file
//! tools, with namespaces and without.

use sandbox::{Bounds, EnvError, Environment as _, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{IsolationLevel, Millis, Scope, WorkPath};

use crate::fixture::{Fixture, asked, run, writing_to};

fn path(text: &str) -> WorkPath {
    text.parse().expect("a path")
}

fn put(fixture: &Fixture, name: &str, text: &str) {
    let place = fixture.ws().join(name);
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
    std::fs::write(place, text).expect("a file");
}

fn text(fixture: &Fixture, name: &str) -> String {
    std::fs::read_to_string(fixture.ws().join(name)).expect("a file")
}

const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nCANARY\n";

pub(crate) async fn keys_are_out_of_reach_of_commands_and_tools(fixture: Fixture) {
    for name in [".ssh/id_rsa", "deep/.aws/credentials", "id_ed25519", ".netrc", "tls/server.pem"] {
        put(&fixture, name, KEY);
    }
    put(&fixture, ".env", "KEY=CANARY");
    put(&fixture, "state/journal.db", "CANARY");
    put(&fixture, "tests/id_rsa", "TRACKED");
    let own = [fixture.ws().canonicalize().expect("a path").join("state")];
    let env = fixture.env().keeping_out(&own).expect("fine");
    let env = env.trusting(vec![path("tests/id_rsa")]).expect("fine");
    env.initialize().await.expect("a workspace");
    let output = run(
        &env,
        "cat .ssh/* deep/.aws/* id_ed25519 .netrc tls/* .env state/* tests/id_rsa; cp -r .ssh x; cat x/*; \
         mv .ssh y; echo z > .ssh/authorized_keys; rm -rf state; echo z > state/journal.db; echo z > .netrc; \
         ln id_ed25519 h; cat h; true",
        Millis::seconds(60),
    )
    .await
    .output;
    assert!(!output.contains("CANARY") && output.contains("TRACKED"), "{output}");
    assert_eq!(text(&fixture, ".ssh/id_rsa"), KEY);
    assert_eq!(text(&fixture, "state/journal.db"), "CANARY");
    assert!(!fixture.ws().join(".ssh/authorized_keys").exists());
    for name in [".ssh/id_rsa", "id_ed25519", "tls/server.pem", "state/journal.db"] {
        let read = env.read(&path(name)).await;
        assert!(matches!(read, Err(EnvError::Hidden { .. })), "{name}: {read:?}");
    }
    for name in [".ssh/new", "tests/id_rsa", "state/x", ".bosun/policy.toml", "tls/server.pem"] {
        let written = env.write(&path(name), b"x").await;
        assert!(matches!(written, Err(EnvError::OutOfReach { .. })), "{name}: {written:?}");
    }
    let moved = env.rename(&path("deep"), &path("seen")).await;
    assert!(matches!(moved, Err(EnvError::Hidden { .. })), "{moved:?}");
    run(&env, "printf -- '-----BEGIN PRIVATE KEY-----' > tls/new.pem", Millis::seconds(60)).await;
    let own_key = run(&env, "cat tls/new.pem", Millis::seconds(60)).await.output;
    assert!(own_key.contains("PRIVATE"), "what a command made is its own: {own_key}");
}

/// Attempts of commands to change settings; each must have no effect.
const TRIES: &str = "mkdir -p .vscode new/.vscode; echo x > .vscode/tasks.json; echo x > new/.vscode/tasks.json; \
     echo x > .envrc; echo x >> .github/workflows/ci.yml; mv .github g; mkdir -p .github/workflows; \
     echo x > .github/workflows/ci.yml; echo x > .gitmodules; rm -rf .bosun; mkdir -p .bosun; \
     echo x > .bosun/policy.toml; ln -s src .claude; echo fine > src/a; true";

async fn tried(fixture: &Fixture, env: &LocalEnvironment) {
    for name in [".github/workflows/ci.yml", ".bosun/policy.toml", ".gitmodules"] {
        put(fixture, name, "before");
    }
    std::fs::create_dir(fixture.ws().join("src")).expect("a folder");
    let output = run(env, TRIES, Millis::seconds(60)).await.output;
    for name in [".vscode", "new/.vscode/tasks.json", ".envrc", ".claude"] {
        let place = fixture.ws().join(name);
        assert!(std::fs::symlink_metadata(place).is_err(), "{name} is there: {output}");
    }
    for name in [".github/workflows/ci.yml", ".bosun/policy.toml", ".gitmodules"] {
        assert_eq!(text(fixture, name), "before", "{name}: {output}");
    }
    assert_eq!(text(fixture, "src/a"), "fine\n");
    assert!(output.contains(".vscode/tasks.json") && output.contains("which ask"), "{output}");
}

pub(crate) async fn settings_are_as_they_were_after_a_command(fixture: Fixture) {
    let aside = tempfile::tempdir().expect("a folder");
    let env = fixture.env().guarding_settings(vec![], Some(aside.path().to_owned()));
    tried(&fixture, &env).await;
    let kept = std::fs::read_dir(aside.path()).expect("a folder").flatten().next();
    let kept = kept.expect("what was taken away is kept").path().join(".vscode/tasks.json");
    assert!(kept.is_file(), "{}", kept.display());
}

pub(crate) async fn settings_are_as_they_were_also_without_a_sandbox(fixture: Fixture) {
    let env =
        LocalEnvironment::open(&fixture.ws()).expect("a workspace").guarding_settings(vec![], None);
    tried(&fixture, &env).await;
}

pub(crate) async fn a_file_with_rules_is_closed_wherever_it_is(fixture: Fixture) {
    put(&fixture, "conf/policy.toml", "before");
    let rules = fixture.ws().canonicalize().expect("a folder").join("conf/policy.toml");
    let env = fixture.env().closing(&[rules]).expect("an environment");
    let env = env.guarding_settings(vec![], None);
    let evil = "echo evil >> conf/policy.toml; mv conf away; mkdir conf; echo evil > conf/policy.toml; echo ran";
    let output = run(&env, evil, Millis::seconds(60)).await.output;
    assert!(output.contains("ran"), "{output}");
    assert_eq!(text(&fixture, "conf/policy.toml"), "before", "{output}");
    let policy = path("conf/policy.toml");
    assert!(env.write(&policy, b"evil").await.is_err() && env.delete(&policy).await.is_err());
    assert_eq!(env.read(&policy).await.expect("it may be read"), b"before");
    env.write(&path("conf/other.toml"), b"fine").await.expect("an ordinary file");
}

/// Folders whose names are no paths of a workspace, with settings in them.
const ODD: &str = r#"for top in "$(printf 'a\nb')" "$(printf 'c\351')" "$(printf 'd\t')" '~'; do
     mkdir -p "$top/.vscode" "$top/r/.git/objects" "$top/bare/objects" "$top/bare/refs" "$top/bare/hooks"
     echo x > "$top/.vscode/tasks.json"; echo x > "$top/fine"; echo 'ref: refs/heads/main' > "$top/bare/HEAD"
     echo x > "$top/r/.git/config"; echo x > "$top/bare/config"; echo x > "$top/bare/hooks/post-checkout"
     ln -s /etc "$top/link"
     done; echo ready"#;

pub(crate) async fn settings_below_names_that_are_no_paths_are_removed(fixture: Fixture) {
    use std::os::unix::ffi::OsStrExt as _;
    put(&fixture, "b\u{7}/.vscode/tasks.json", "before");
    let env = fixture.env().guarding_settings(vec![], None);
    let output = run(&env, ODD, Millis::seconds(60)).await.output;
    assert!(output.contains("ready") && output.contains("which ask"), "{output}");
    for top in [&b"a\nb"[..], b"c\xe9", b"d\t", b"~"] {
        let top = fixture.ws().join(std::ffi::OsStr::from_bytes(top));
        assert!(top.join("fine").is_file() && top.join("bare/HEAD").is_file(), "{output}");
        for gone in
            [".vscode/tasks.json", "r/.git/config", "bare/config", "bare/hooks/post-checkout"]
        {
            assert!(!top.join(gone).exists(), "{} {gone}: {output}", top.display());
        }
    }
    assert_eq!(text(&fixture, "b\u{7}/.vscode/tasks.json"), "before", "the person's own stays");
}

/// Every way in which git finds a repository whose settings run a program, below a workspace that is in one.
const REPOSITORIES: &str = "evil='[core]\n\tfsmonitor = touch ran\n'; \
     mkdir -p sub/.git/objects sub/.git/refs; echo 'ref: refs/heads/main' > sub/.git/HEAD; \
     printf \"$evil\" > sub/.git/config; \
     mkdir file; echo 'gitdir: ../sub/.git' > file/.git; mkdir link; ln -s ../sub/.git link/.git; \
     mkdir -p bare/objects bare/refs bare/hooks; cp sub/.git/HEAD bare/HEAD; \
     printf \"$evil\" > bare/config; echo x > bare/hooks/post-checkout; \
     mkdir common; cp sub/.git/HEAD common/HEAD; echo ../bare > common/commondir; \
     printf \"$evil\" > old/.git/config; echo x > old/.git/hooks/pre-commit; \
     mv moved away; mkdir -p moved/.git/objects moved/.git/refs; cp sub/.git/HEAD moved/.git/; \
     printf \"$evil\" > moved/.git/config; true";

pub(crate) async fn no_command_leaves_a_repository_that_runs_something(fixture: Fixture) {
    for old in ["old", "moved"] {
        put(&fixture, &format!("{old}/.git/HEAD"), "ref: refs/heads/main\n");
        put(&fixture, &format!("{old}/.git/config"), "before");
        for name in ["objects", "refs", "hooks"] {
            let folder = fixture.ws().join(old).join(".git").join(name);
            std::fs::create_dir_all(folder).expect("a folder");
        }
    }
    let own = std::fs::read_to_string(fixture.ws().join(".git/config")).ok();
    let env = fixture.env().guarding_settings(vec![], None);
    let output = run(&env, REPOSITORIES, Millis::seconds(60)).await.output;
    let gone =
        ["sub/.git/config", "file/.git", "link/.git", "bare/config", "bare/hooks/post-checkout"];
    let also = ["common/commondir", "old/.git/hooks/pre-commit", "away/.git/config"];
    for name in gone.into_iter().chain(also) {
        let place = fixture.ws().join(name);
        assert!(std::fs::symlink_metadata(place).is_err(), "{name} is there: {output}");
    }
    for name in ["old/.git/config", "moved/.git/config"] {
        assert_eq!(text(&fixture, name), "before", "{name}: {output}");
    }
    assert!(fixture.ws().join("sub/.git/objects").is_dir(), "nothing else is lost");
    assert_eq!(std::fs::read_to_string(fixture.ws().join(".git/config")).ok(), own);
    // File tools, too.
    let head = env.write(&path("tool/HEAD"), b"ref: refs/heads/main\n").await;
    head.expect("one name alone makes no repository");
    env.write(&path("tool/config"), b"x").await.expect("an ordinary file");
    env.write(&path("tool/objects/x"), b"x").await.expect("an ordinary file");
    assert!(env.write(&path("tool/refs/x"), b"x").await.is_err());
    env.write(&path("tool/r/x"), b"x").await.expect("an ordinary file");
    assert!(env.rename(&path("tool/r"), &path("tool/refs")).await.is_err());
    assert!(env.write(&path("old/.git/config"), b"x").await.is_err());
}

pub(crate) async fn passwords_in_the_settings_of_repositories_are_hidden(fixture: Fixture) {
    let settings = "[remote \"o\"]\n\turl = https://u:CANARY@example.org/a\n";
    let places =
        [".git/modules/sub/config", ".git/config.worktree", "sub/.git/config", ".git/config"];
    for place in places {
        put(&fixture, place, settings);
    }
    for git in [".git/modules/sub", "sub/.git", ".git"] {
        put(&fixture, &format!("{git}/HEAD"), "ref: refs/heads/main\n");
        for name in ["objects", "refs"] {
            std::fs::create_dir_all(fixture.ws().join(git).join(name)).expect("a folder");
        }
    }
    let env = fixture.env();
    env.initialize().await.expect("a workspace");
    let line = "cat .git/modules/sub/config .git/config.worktree sub/.git/config .git/config; \
                git config --list --show-origin; true";
    let output = run(&env, line, Millis::seconds(60)).await.output;
    assert!(!output.contains("CANARY"), "{output}");
    for place in places {
        assert!(env.read(&path(place)).await.is_err(), "{place}");
    }
}

pub(crate) async fn a_file_that_the_plan_names_may_be_written(fixture: Fixture) {
    for name in [".github/workflows/ci.yml", ".github/workflows/other.yml"] {
        put(&fixture, name, "before");
    }
    let named = path(".github/workflows/ci.yml");
    let scope = Scope(vec![".github/workflows/ci.yml".parse().expect("a place")]);
    let confine = fixture.confine_to(writing_to(scope));
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace").confined(confine);
    let env = env.guarding_settings(vec![named], None);
    let line =
        "cd .github/workflows; echo after > ci.yml; echo x > other.yml; echo x > third.yml; true";
    run(&env, line, Millis::seconds(60)).await;
    assert_eq!(text(&fixture, ".github/workflows/ci.yml"), "after\n");
    assert_eq!(text(&fixture, ".github/workflows/other.yml"), "before");
    assert!(!fixture.ws().join(".github/workflows/third.yml").exists());
}

/// A command can neither move the folder of a key away to replace the key, nor create a key where there was none.
pub(crate) async fn keys_are_neither_replaced_nor_planted(fixture: Fixture) {
    put(&fixture, ".config/gh/hosts.yml", "before");
    put(&fixture, "mine/.ssh/id_rsa", "before");
    let env = fixture.env().guarding_settings(vec![], None);
    let line = "mv .config c; mkdir -p .config/gh; echo x > .config/gh/hosts.yml; mv mine m; rm -rf mine; \
                mkdir -p .ssh; echo x > .ssh/authorized_keys; echo x > .netrc; echo fine > a; true";
    let output = run(&env, line, Millis::seconds(60)).await.output;
    assert_eq!(text(&fixture, ".config/gh/hosts.yml"), "before", "{output}");
    assert_eq!(text(&fixture, "mine/.ssh/id_rsa"), "before", "{output}");
    assert!(!fixture.ws().join(".ssh/authorized_keys").exists(), "{output}");
    assert!(!fixture.ws().join(".netrc").exists(), "{output}");
    assert_eq!(text(&fixture, "a"), "fine\n");
}

/// Files that the user adds while a command runs, as by `git pull`, are not the command's and are kept.
pub(crate) async fn what_git_knows_is_not_taken_away(fixture: Fixture) {
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(words);
        assert!(git.current_dir(fixture.ws()).status().expect("git runs").success());
    };
    git(&["init", "--quiet"]);
    let env = fixture.env().guarding_settings(vec![], None);
    let line = "touch begun; until [ -e go ]; do :; done; echo x > .envrc";
    let (ran, ()) = tokio::join!(run(&env, line, Millis::seconds(60)), async {
        crate::fixture::up(&fixture.ws().join("begun")).await;
        put(&fixture, ".github/workflows/ci.yml", "theirs");
        git(&["add", ".github"]);
        put(&fixture, "go", "");
    });
    assert_eq!(text(&fixture, ".github/workflows/ci.yml"), "theirs", "{}", ran.output);
    assert!(!fixture.ws().join(".envrc").exists(), "{}", ran.output);
}

pub(crate) async fn without_namespaces_a_command_beside_keys_is_not_run(fixture: Fixture) {
    put(&fixture, ".ssh/id_rsa", KEY);
    let confine =
        fixture.confine_to(Bounds { level: IsolationLevel::Landlock, ..Bounds::default() });
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace").confined(confine);
    let refused = env.exec(asked("true", Millis::seconds(60)), &CancellationToken::new()).await;
    assert!(matches!(refused, Err(EnvError::Unheld { .. })), "{refused:?}");
}
