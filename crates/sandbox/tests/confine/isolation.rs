//! Access of commands to files, networks, git and the kernel.

use std::time::{Duration, Instant};

use sandbox::{Bounds, EnvError, Environment as _, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecRequest, IsolationLevel, Millis, Scope};

use crate::fixture::{Fixture, asked, run, writing_to};

pub(crate) async fn the_proof_holds(fixture: Fixture) {
    let began = Instant::now();
    let proof = fixture.confine().prove().await.expect("a proof");
    assert!(proof.holds(), "{proof:#?}");
    assert!(proof.attacks.len() >= 14);
    println!("  {} attacks held in {:?}", proof.attacks.len(), began.elapsed());
}

pub(crate) async fn a_command_runs_with_its_folder_output_and_exit_code(fixture: Fixture) {
    std::fs::create_dir(fixture.ws().join("sub")).expect("a folder");
    let request = ExecRequest {
        folder: "sub".parse().expect("a path"),
        ..asked("pwd; echo e >&2; exit 3", Millis::seconds(60))
    };
    let result = fixture.env().exec(request, &CancellationToken::new()).await.expect("it ran");
    let sub = fixture.ws().canonicalize().expect("a path").join("sub");
    assert_eq!(result.output, format!("{}\ne\n", sub.display()));
    assert_eq!(result.ended, Ended::Exited(3));
    assert_eq!(fixture.sh("kill -9 $$").await.ended, Ended::Signalled(9));
    let tools = "f=$(mktemp) && echo hi > $f && cat $f && seq 5 | sort -r > o && wc -l < o && ls -d ~ /proc/self";
    let result = fixture.sh(tools).await;
    assert!(result.passed(), "{}", result.output);
}

pub(crate) async fn the_workspace_is_writable_and_nothing_else_is(fixture: Fixture) {
    let out = fixture.out();
    let out = out.display();
    let line = format!(
        "echo x > inside; echo x > {out}/new; chmod 777 {out}/secret; touch -d 2001-01-01 {out}/secret; \
         ln {out}/secret h; ln -s {out} l; echo x > l/new; echo x > /etc/x; echo x > /usr/x; echo x > /x; \
         echo x > /proc/sys/kernel/core_pattern; rm -rf {out}; true"
    );
    fixture.sh(&line).await;
    assert!(fixture.ws().join("inside").exists());
    assert!(!fixture.ws().join("h").exists());
    let left: Vec<_> = std::fs::read_dir(fixture.out()).expect("a list").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let secret = std::fs::metadata(fixture.out().join("secret")).expect("the secret");
    assert!(
        secret.modified().expect("a time").elapsed().expect("the past") < Duration::from_secs(600)
    );
}

pub(crate) async fn what_is_outside_cannot_be_read(fixture: Fixture) {
    let home = std::env::var("HOME").expect("a home");
    let line = format!(
        "cat {}/secret; cat /etc/shadow; ls -A {home}/.ssh {home}/.aws; cat /proc/1/environ; \
         cat /proc/$PPID/environ; ls /sys /run /var/lib /boot /mnt /srv",
        fixture.out().display()
    );
    let output = fixture.sh(&line).await.output;
    assert!(!output.contains("CANARY") && !output.contains("root:"), "{output}");
    assert!(!output.contains("PATH="), "{output}");
}

pub(crate) async fn there_is_no_network_but_the_own_loopback(fixture: Fixture) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let line = format!(
        "echo x > /dev/tcp/127.0.0.1/{port} && echo REACHED; echo x > /dev/udp/192.0.2.1/9 && echo SENT; \
         python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",0)); \
         c=socket.create_connection(s.getsockname()); print(\"OWN\")'; \
         python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' || echo NO RAW"
    );
    let output = fixture.sh(&line).await.output;
    assert!(!output.contains("REACHED") && !output.contains("SENT"), "{output}");
    assert!(output.contains("OWN") && output.contains("NO RAW"), "{output}");
}

pub(crate) async fn git_files_can_neither_be_changed_nor_moved(fixture: Fixture) {
    std::fs::create_dir_all(fixture.ws().join(".git/hooks")).expect("a folder");
    fixture
        .sh("mv .git .git2; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; rm -rf .git; mount -o remount,rw,bind .git; umount -l .git; echo x > .git/y")
        .await;
    assert!(fixture.ws().join(".git/hooks").is_dir());
    assert!(!fixture.ws().join(".git2").exists() && !fixture.ws().join(".git/y").exists());
    assert!(!fixture.ws().join(".git/hooks/pre-commit").exists());
    std::fs::remove_dir_all(fixture.ws().join(".git")).expect("removed");
    std::fs::write(fixture.ws().join(".git"), "gitdir: /x\n").expect("a file");
    fixture.sh("echo x > .git; mv .git away; rm -f .git").await;
    assert_eq!(std::fs::read_to_string(fixture.ws().join(".git")).expect("a file"), "gitdir: /x\n");
}

pub(crate) async fn only_the_scope_is_writable_when_there_is_one(fixture: Fixture) {
    std::fs::create_dir(fixture.ws().join("docs")).expect("a folder");
    std::fs::write(fixture.ws().join("one.txt"), "1").expect("a file");
    std::fs::write(fixture.ws().join("two.txt"), "2").expect("a file");
    let scope =
        ["src/deep/", "one.txt", "absent.txt"].map(|text| text.parse().expect("an artifact"));
    let confine = fixture.confine_to(writing_to(Scope(scope.to_vec())));
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace").confined(confine);
    let line = "echo x > src/deep/a; mkdir src/deep/b; echo 9 > one.txt; echo 9 > two.txt; echo x > docs/a; \
        echo x > new; echo x > src/a; rm two.txt; mv docs d; ln src/deep/a docs/b; cat two.txt";
    let output = run(&env, line, Millis::seconds(60)).await.output;
    assert!(output.ends_with('2'), "{output}");
    let text = |name: &str| std::fs::read_to_string(fixture.ws().join(name)).ok();
    assert_eq!(text("src/deep/a").as_deref(), Some("x\n"));
    assert_eq!((text("one.txt").as_deref(), text("two.txt").as_deref()), (Some("9\n"), Some("2")));
    for name in ["docs/a", "docs/b", "new", "src/a", "d", "absent.txt"] {
        assert!(!fixture.ws().join(name).exists(), "{name} was made");
    }
    run(&env, "echo made > absent.txt; echo x > other.txt", Millis::seconds(60)).await;
    assert_eq!(text("absent.txt").as_deref(), Some("made\n"));
    assert!(!fixture.ws().join("other.txt").exists());
    std::fs::remove_file(fixture.ws().join("absent.txt")).expect("removed");
    run(&env, "touch absent.txt", Millis::seconds(60)).await;
    assert_eq!(text("absent.txt").as_deref(), Some(""), "an empty file can be meant");
}

pub(crate) async fn who_would_replace_a_single_file_hears_what_works_instead(fixture: Fixture) {
    std::fs::write(fixture.ws().join("one.txt"), "old\n").expect("a file");
    let scope = Scope(vec!["one.txt".parse().expect("an artifact")]);
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace");
    let env = env.confined(fixture.confine_to(writing_to(scope)));
    for line in ["sed -i s/old/new/ one.txt", "echo new > /tmp/copy; mv /tmp/copy one.txt"] {
        let result = run(&env, line, Millis::seconds(60)).await;
        assert!(!result.passed(), "{line} works now; say so: {}", result.output);
        assert!(result.output.contains("only one.txt may be written"), "{}", result.output);
    }
    let works = "sed s/old/new/ one.txt > /tmp/copy && cat /tmp/copy > one.txt";
    assert!(run(&env, works, Millis::seconds(60)).await.passed());
    let text = std::fs::read_to_string(fixture.ws().join("one.txt"));
    assert_eq!(text.ok().as_deref(), Some("new\n"));
}

pub(crate) async fn a_single_file_is_replaced_and_what_is_beside_it_stays(fixture: Fixture) {
    std::fs::create_dir_all(fixture.ws().join("src/deep")).expect("folders");
    for name in ["one.txt", "two.txt", "src/a.rs", "src/b.rs", "src/deep/c.rs"] {
        std::fs::write(fixture.ws().join(name), "old\n").expect("a file");
    }
    std::os::unix::fs::symlink("two.txt", fixture.ws().join("link")).expect("a link");
    let scope = ["one.txt", "src/a.rs", "new.txt"].map(|text| text.parse().expect("an artifact"));
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace").replacing_files();
    let env = env.confined(fixture.confine_to(writing_to(Scope(scope.to_vec()))));
    let works = "set -e; sed -i s/old/new/ one.txt; sed s/old/new/ src/a.rs > src/a.tmp; mv src/a.tmp src/a.rs; \
        echo x > part; mv part new.txt";
    let result = run(&env, works, Millis::seconds(60)).await;
    assert!(result.passed(), "{}", result.output);
    let text = |name: &str| std::fs::read_to_string(fixture.ws().join(name)).ok();
    for (name, content) in [("one.txt", "new\n"), ("src/a.rs", "new\n"), ("new.txt", "x\n")] {
        assert_eq!(text(name).as_deref(), Some(content), "{name}");
    }
    let tampers = "sed -i s/old/bad/ two.txt; echo bad > two.txt; mv one.txt two.txt; rm -f two.txt; \
        echo bad > src/b.rs; mv src/a.rs src/b.rs; echo bad > src/deep/c.rs; mv src/deep gone; rm -rf src; \
        ln -sf /etc link; echo stray > stray.txt; mkdir -p d/e; touch src/conftest.py; cp one.txt .git; true";
    let output = run(&env, tampers, Millis::seconds(60)).await.output;
    for name in ["two.txt", "src/b.rs", "src/deep/c.rs"] {
        assert_eq!(text(name).as_deref(), Some("old\n"), "{name}: {output}");
    }
    for name in ["stray.txt", "d", "src/conftest.py", "gone", ".git"] {
        assert!(!fixture.ws().join(name).exists(), "{name} was left: {output}");
    }
    let link = std::fs::read_link(fixture.ws().join("link"));
    assert_eq!(link.expect("a link"), std::path::Path::new("two.txt"));
    assert!(output.contains("removed or put back") && output.contains("stray.txt"), "{output}");
}

pub(crate) async fn a_link_in_the_scope_opens_nothing(fixture: Fixture) {
    std::os::unix::fs::symlink(fixture.out(), fixture.ws().join("src")).expect("a link");
    let scope = Scope(vec!["src/".parse().expect("an artifact")]);
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace");
    let env = env.confined(fixture.confine_to(writing_to(scope)));
    let refused =
        env.exec(asked("echo x > src/x", Millis::seconds(60)), &CancellationToken::new()).await;
    assert!(matches!(refused, Err(EnvError::Sandbox { .. })), "{refused:?}");
    assert!(!fixture.out().join("x").exists());
}

/// A repository with a worktree, in which everything that commands must not see says so.
struct Canaries {
    repo: sandbox::Repo,
    start: types::CommitId,
    tree: std::path::PathBuf,
    seen: sandbox::Seen,
    /// Searches for them in every way.
    search: String,
}

async fn canaries(fixture: &Fixture) -> Canaries {
    let sh = |line: &str| {
        let done = std::process::Command::new("bash")
            .args(["-ec", line])
            .current_dir(fixture.dir.path())
            .status();
        assert!(done.expect("bash").success());
    };
    sh("git init -q repo; cd repo; echo 1 > a; git add a; \
        git -c user.name=u -c user.email=u@localhost commit -qm x");
    let root = fixture.dir.path().join("repo");
    let repo = sandbox::Repo::discover(&root).await.expect("a repository");
    let start = repo.survey().await.expect("a survey").base;
    let tree = fixture.dir.path().join("tree");
    repo.add_worktree(&tree, &start).await.expect("a worktree");
    let common = repo.common_dir().display().to_string();
    sh(&format!(
        "cd repo; git checkout -q -b other-branch; echo CANARY > b; git add b; \
         git -c user.name=u -c user.email=u@localhost commit -qm CANARY; \
         git rev-parse HEAD > ../other; git repack -adq; git checkout -q -; \
         echo CANARY | git hash-object -w --stdin > stash; mkdir -p {common}/modules/sub; \
         for f in modules/sub/config config.worktree logs/HEAD FETCH_HEAD; do \
         echo 'https://u:CANARY@example.org' > {common}/$f; done; \
         git config remote.origin.url https://u:CANARY@example.org/a"
    ));
    let store = repo.history(&fixture.dir.path().join("history"), &start).await.expect("a store");
    let seen = repo.seen_from(&tree, Some(store));
    let other = std::fs::read_to_string(fixture.dir.path().join("other")).expect("a commit");
    let search = format!(
        "grep -ra . {common}; git branch -a; git log --all --format=%D; git show {}; \
         git cat-file --batch-all-objects --batch; true",
        other.trim()
    );
    Canaries { repo, start, tree, seen, search }
}

pub(crate) async fn git_works_in_a_worktree_but_cannot_change_the_repository(fixture: Fixture) {
    let Canaries { repo, start, tree, seen, search } = canaries(&fixture).await;
    let confine = fixture.confine_to(Bounds {
        objects: seen.objects,
        visible: seen.visible,
        masked: seen.masked,
        ..Bounds::default()
    });
    let env = LocalEnvironment::open(&tree).expect("a workspace").confined(confine);
    let line = format!(
        "echo 2 > a; git diff | tail -1; git log --format=%s; git add a; git config x.y z; \
         echo x > {0}/hooks/post-commit; echo x > {0}/evil; true",
        repo.common_dir().display()
    );
    let output = run(&env, &line, Millis::seconds(60)).await.output;
    assert!(output.starts_with("+2\nx\n"), "{output}");
    let output = run(&env, &search, Millis::seconds(60)).await.output;
    assert!(!output.contains("CANARY") && !output.contains("other-branch"), "{output}");
    assert!(!repo.common_dir().join("evil").exists());
    assert!(!repo.common_dir().join("hooks/post-commit").exists());
    let at = types::Timestamp::from_millis(0);
    let sealed = repo.seal(&tree, &start, "work", at).await.expect("a seal");
    assert_eq!(sealed.changes.0.len(), 1);
}

pub(crate) async fn git_sees_the_history_of_a_commit_alone_also_without_namespaces(
    fixture: Fixture,
) {
    if nix::unistd::getuid().is_root() {
        return;
    }
    let Canaries { repo, tree, seen, search, .. } = canaries(&fixture).await;
    // Without mounts, settings with a password cannot be read at all, and git ends.
    let settings = repo.common_dir().join("config");
    std::fs::write(settings, "[core]\nrepositoryformatversion = 0\n").expect("settings");
    let store = seen.objects.map(|objects| objects.from);
    let seen = repo.seen_from(&tree, store);
    let confine = fixture.confine_to(Bounds {
        level: IsolationLevel::Landlock,
        objects: seen.objects,
        visible: seen.visible,
        masked: seen.masked,
        ..Bounds::default()
    });
    let env = LocalEnvironment::open(&tree).expect("a workspace").confined(confine);
    // Git says that it cannot read the repository's own packs.
    let line = "echo 2 > a; git diff 2>/dev/null | tail -1; git log --format=%s 2>/dev/null; true";
    let output = run(&env, line, Millis::seconds(60)).await.output;
    assert_eq!(output, "+2\nx\n");
    let output = run(&env, &search, Millis::seconds(60)).await.output;
    assert!(!output.contains("CANARY") && !output.contains("other-branch"), "{output}");
}

pub(crate) async fn every_rule_for_environments_is_kept(fixture: Fixture) {
    let broken = testkit::environments::complaints(&fixture.env()).await;
    assert_eq!(broken, Vec::<String>::new());
}

pub(crate) async fn dangerous_calls_are_denied(fixture: Fixture) {
    let line = "python3 - <<'P'\nimport ctypes\nl=ctypes.CDLL(None,use_errno=True)\n\
        for n,s in (('bpf',321),('perf',298),('keyctl',250),('userfaultfd',323),('kexec',246),('initmod',175),('obha',304),('fsopen',430),('unshare',272),('clone3',435),('io_uring',425),('ptrace',101)):\n\
        \x20 r=l.syscall(s,0,0,0,0,0);e=ctypes.get_errno();print(n,'DENIED' if r==-1 and e in (1,38) else f'ALLOWED r={r} e={e}')\nP";
    let result = fixture.sh(line).await;
    assert!(result.passed() && !result.output.contains("ALLOWED"), "{}", result.output);
    let result = fixture.sh("unshare -U true; unshare -r true; echo $?; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status").await;
    assert!(result.output.contains("NoNewPrivs:\t1"), "{}", result.output);
    assert_eq!(result.output.matches("0000000000000000").count(), 2, "{}", result.output);
}

pub(crate) async fn a_link_cannot_be_used_to_start_elsewhere(fixture: Fixture) {
    std::os::unix::fs::symlink("/etc", fixture.ws().join("etc")).expect("a link");
    let request =
        ExecRequest { folder: "etc".parse().expect("a path"), ..asked("pwd", Millis::seconds(60)) };
    let refused = fixture.env().exec(request, &CancellationToken::new()).await;
    assert!(matches!(refused, Err(EnvError::Escapes { .. })), "{refused:?}");
}

pub(crate) async fn a_hidden_file_is_empty_for_commands_and_closed_to_tools(fixture: Fixture) {
    for name in [".env", "deep/.env"] {
        std::fs::create_dir_all(fixture.ws().join("deep")).expect("a folder");
        std::fs::write(fixture.ws().join(name), "KEY=CANARY").expect("a file");
    }
    std::os::unix::fs::symlink(".env", fixture.ws().join("readme")).expect("a link");
    let env = fixture.env().hiding(&["**/.env"]).expect("a glob");
    let output =
        run(&env, "cat .env deep/.env readme; mv .env x; cp .env y; cat x y", Millis::seconds(60))
            .await
            .output;
    assert!(!output.contains("CANARY"), "{output}");
    for name in [".env", "readme"] {
        let read = env.read(&name.parse().expect("a path")).await;
        assert!(matches!(read, Err(EnvError::NotFound { .. })), "{name}: {read:?}");
    }
    assert_eq!(std::fs::read_to_string(fixture.ws().join(".env")).expect("a file"), "KEY=CANARY");
}
