//! Conformance suite for every [`Environment`]: this machine, a container, a remote host, a fake. It uses only the
//! trait, in an empty workspace, and describes violations in words.

use sandbox::{Change, EnvError, Environment, GlobRequest, GrepRequest};
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecRequest, Millis, WorkPath};

/// Checks an environment, opened on an empty workspace. Returns every rule that it broke.
pub async fn complaints(env: &dyn Environment) -> Vec<String> {
    let mut broken = Vec::new();
    let mut hold = |rule: &str, holds: bool| {
        if !holds {
            broken.push(rule.to_owned());
        }
    };
    place(env, &mut hold).await;
    files(env, &mut hold).await;
    folders(env, &mut hold).await;
    changes(env, &mut hold).await;
    searches(env, &mut hold).await;
    commands(env, &mut hold).await;
    hold("it can be given back", env.cleanup().await.is_ok());
    broken
}

fn path(text: &str) -> WorkPath {
    // All texts are literals below; one that does not parse becomes the root, so that its rule fails as it should.
    text.parse().unwrap_or_else(|_| WorkPath::root())
}

async fn place(env: &dyn Environment, hold: &mut impl FnMut(&str, bool)) {
    hold("it can be begun with", env.initialize().await.is_ok());
    hold("it can be begun with twice", env.initialize().await.is_ok());
    let facts = env.facts();
    let known = ["linux", "darwin", "win32"].contains(&facts.platform.as_str());
    hold("its system is one of three", known);
    hold("its system has a version", !facts.os_version.is_empty());
    hold("its folder has a name", !facts.working_dir.is_empty());
}

async fn files(env: &dyn Environment, hold: &mut impl FnMut(&str, bool)) {
    let bytes = b"\xef\xbb\xbfa\r\n\xff\0b";
    hold("a write makes the folders above it", env.write(&path("d/e/f"), bytes).await.is_ok());
    let read = env.read(&path("d/e/f")).await;
    hold("what is read is what was written, byte for byte", read.is_ok_and(|read| read == bytes));
    hold("a write replaces what was there", env.write(&path("d/e/f"), b"2").await.is_ok());
    hold(
        "nothing of the old file stays",
        env.read(&path("d/e/f")).await.is_ok_and(|read| read == b"2"),
    );
    let absent = env.read(&path("absent")).await;
    hold("a file that is not there is not found", matches!(absent, Err(EnvError::NotFound { .. })));
    hold("a folder is not read as a file", env.read(&path("d")).await.is_err());
    hold("a folder is not overwritten by a file", env.write(&path("d"), b"").await.is_err());
    let git = env.write(&path(".git/hooks/x"), b"").await;
    hold("git's own files are protected", matches!(git, Err(EnvError::Protected { .. })));
    hold("what is there exists", env.exists(&path("d/e/f")).await.is_ok_and(|there| there));
    hold("a file is deleted", env.delete(&path("d/e/f")).await.is_ok());
    hold("what is deleted is gone", env.exists(&path("d/e/f")).await.is_ok_and(|there| !there));
    hold("deleting twice is an error", env.delete(&path("d/e/f")).await.is_err());
    hold("a file is written", env.write(&path("m/a"), b"12").await.is_ok());
    hold("a file is moved", env.rename(&path("m/a"), &path("n/o/b")).await.is_ok());
    hold("what is moved is gone", env.exists(&path("m/a")).await.is_ok_and(|there| !there));
    let moved = env.read(&path("n/o/b")).await;
    hold("what is moved is at its new place", moved.is_ok_and(|bytes| bytes == b"12"));
    hold("moving twice is an error", env.rename(&path("m/a"), &path("n/p")).await.is_err());
    let git = env.rename(&path("n/o/b"), &path(".git/x")).await;
    hold("nothing is moved into git's own files", git.is_err());
    hold("a file is deleted", env.delete(&path("n/o/b")).await.is_ok());
}

async fn folders(env: &dyn Environment, hold: &mut impl FnMut(&str, bool)) {
    for name in ["l/a", "l/b/c", "l/b/d/e"] {
        hold("a file is written", env.write(&path(name), b"12").await.is_ok());
    }
    let names = |depth| async move {
        let entries = env.list(&path("l"), depth).await.unwrap_or_default();
        entries.into_iter().map(|entry| entry.path.to_string()).collect::<Vec<_>>()
    };
    hold("a listing shows one level", names(1).await == ["l/a", "l/b"]);
    hold(
        "a listing shows as many levels as asked",
        names(2).await == ["l/a", "l/b", "l/b/c", "l/b/d"],
    );
    let entries = env.list(&path("l"), 1).await.unwrap_or_default();
    let facts: Vec<_> = entries.iter().map(|entry| (entry.folder, entry.bytes)).collect();
    hold("files have a size and folders have none", facts == [(false, Some(2)), (true, None)]);
    hold(
        "a folder that is not there cannot be listed",
        env.list(&path("absent"), 1).await.is_err(),
    );
}

async fn changes(env: &dyn Environment, hold: &mut impl FnMut(&str, bool)) {
    let write = |name| Change::Write { path: path(name), bytes: b"x".to_vec() };
    let failed = env.apply(vec![write("c/a"), Change::Delete { path: path("absent") }]).await;
    hold("a change that cannot be made is an error", failed.is_err());
    hold("all changes are made or none", env.exists(&path("c/a")).await.is_ok_and(|there| !there));
    hold(
        "several changes are made together",
        env.apply(vec![write("c/a"), write("c/b")]).await.is_ok(),
    );
}

async fn searches(env: &dyn Environment, hold: &mut impl FnMut(&str, bool)) {
    let stop = CancellationToken::new();
    hold("a file is written", env.write(&path("s/one"), b"needle\nhay\n").await.is_ok());
    let request = GrepRequest {
        pattern: "need.e".to_owned(),
        path: path("s"),
        include: None,
        ignore_case: false,
        context: 0,
        max: 10,
    };
    let found = env.grep(request, &stop).await.map(|found| found.items).unwrap_or_default();
    let lines: Vec<_> = found.iter().flat_map(|hits| &hits.lines).map(|line| line.number).collect();
    hold("a search finds lines with their numbers", lines == [1]);
    let request = GlobRequest { pattern: "**/one".to_owned(), path: path("."), max: 10 };
    let found = env.glob(request, &stop).await.map(|found| found.items).unwrap_or_default();
    hold("files are found by name", found == [path("s/one")]);
}

async fn commands(env: &dyn Environment, hold: &mut impl FnMut(&str, bool)) {
    let stop = CancellationToken::new();
    let asked = |command: &str, timeout| {
        let command = command.to_owned();
        ExecRequest::new(command, path("s"), timeout)
    };
    let minute = Millis::seconds(60);
    let result = env.exec(asked("cat one; echo err >&2; exit 3", minute), &stop).await;
    hold(
        "a command gives its output in order and its exit code, in its folder",
        result.is_ok_and(|done| {
            done.output == "needle\nhay\nerr\n" && done.ended == Ended::Exited(3)
        }),
    );
    let result = env.exec(asked("echo out; echo err >&2; kill -9 $$", minute), &stop).await;
    hold(
        "output and errors are there apart, and a signal is told from an exit",
        result.is_ok_and(|done| {
            (done.stdout.as_str(), done.stderr.as_str(), done.ended)
                == ("out\n", "err\n", Ended::Signalled(9))
        }),
    );
    let result = env.exec(asked("echo hi; sleep 600", Millis(200)), &stop).await;
    hold(
        "a command ends when its time is up, and what it said is kept",
        result.is_ok_and(|done| done.ended == Ended::TimedOut && done.output == "hi\n"),
    );
    let result = env.exec(asked("sleep 600 & echo hi", minute), &stop).await;
    hold(
        "a child in the background does not hold the call",
        result.is_ok_and(|done| done.ended == Ended::Exited(0) && done.output == "hi\n"),
    );
    let stopped = CancellationToken::new();
    stopped.cancel();
    let result = env.exec(asked("sleep 600", minute), &stopped).await;
    hold("a stop ends a command", result.is_ok_and(|done| done.ended == Ended::Stopped));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sandbox::{LocalEnvironment, ReadOnly, Recorded};

    use super::*;

    fn local() -> (tempfile::TempDir, Arc<LocalEnvironment>) {
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        (dir, Arc::new(env))
    }

    /// A87: an environment that passes can replace the local one.
    #[tokio::test]
    async fn this_machine_keeps_every_rule_also_when_it_is_recorded() {
        let (_dir, env) = local();
        assert_eq!(complaints(&*env).await, Vec::<String>::new());
        let (_dir, env) = local();
        let recorded = Recorded::new(env);
        assert_eq!(complaints(&recorded).await, Vec::<String>::new());
        assert!(recorded.asked().contains(&"write d/e/f (9 bytes)".to_owned()));
    }

    #[tokio::test]
    async fn an_environment_that_breaks_rules_is_found_out() {
        let (_dir, env) = local();
        let broken = complaints(&ReadOnly(env)).await;
        assert!(broken.contains(&"a write makes the folders above it".to_owned()), "{broken:?}");
        assert!(broken.contains(&"a stop ends a command".to_owned()), "{broken:?}");
    }

    /// A86
    #[tokio::test]
    async fn wrappers_compose_in_any_order() {
        let (_dir, env) = local();
        env.write(&path("a"), b"1").await.expect("a file");
        let recorded = Recorded::new(env.clone());
        let guarded = ReadOnly(Arc::new(recorded.clone()));
        assert_eq!(guarded.read(&path("a")).await.expect("a file"), b"1");
        assert!(matches!(guarded.write(&path("a"), b"2").await, Err(EnvError::ReadOnly)));
        assert_eq!(recorded.asked(), ["read a"]);
        let outer = Recorded::new(Arc::new(ReadOnly(env)));
        assert!(matches!(outer.delete(&path("a")).await, Err(EnvError::ReadOnly)));
        assert_eq!(outer.asked(), ["delete a"]);
    }
}
