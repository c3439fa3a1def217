//! Execution is exact, records are redacted: files and commands with keys in them, through a whole session.

use std::path::Path;
use std::sync::Arc;

use store::{Journal as _, MemoryJournal};
use types::{CallOutcome, Digest, Event, LogId, RunId, SessionState};

use crate::{Bosun, Config, NewSession, Session};

/// Built from parts, so that this file does not seem to hold a key.
fn key(random: &str) -> String {
    format!("sk-{random}aB3dE5fG7hI9jK1lM3nO5pQ7rS9t")
}

struct Stage {
    journal: Arc<MemoryJournal>,
    folder: tempfile::TempDir,
}

impl Stage {
    fn set() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder");
        Self { journal: Arc::new(MemoryJournal::new()), folder }
    }

    fn bosun(&self) -> Bosun {
        Bosun::new(Config::new(self.journal.clone(), self.folder.path().join("state")))
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join("work").join(name)).unwrap_or_default()
    }

    /// A session in which the model makes these calls, one per reply, and then ends.
    async fn open(&self, calls: &[String]) -> Session {
        let replies = calls.iter().map(|call| format!("[[attempt.reply]]\ncall = {{ {call} }}\n"));
        let script = format!(
            "[[attempt]]\nrole = \"solo\"\n{}[[attempt.reply]]\nsay = \"Done.\"\n",
            replies.collect::<String>()
        );
        let bosun = self.bosun();
        let model = bosun.keep_script(&script).await.expect("a script");
        let work = self.folder.path().join("work");
        let mut new = NewSession::new(Path::new(&work), model).expect("the preset");
        new.policy.sandbox.require = types::IsolationLevel::None;
        let session = bosun.open(new).await.expect("a session");
        session.submit("Go").await.expect("it is idle");
        session
    }

    async fn log(&self, run: &RunId) -> Vec<Event> {
        let log = LogId::run(run.clone());
        let lines = self.journal.read(&log, 0, 1_000).await.expect("a log");
        lines.into_iter().map(|line| line.event).collect()
    }

    /// The log, checked to be free of the secret and to replay without a difference.
    async fn sound_log(&self, session: &Session, secret: &str) -> Vec<Event> {
        let report = self.bosun().replay(session.id()).await.expect("a log");
        assert_eq!(report.difference, None);
        let log = self.log(session.id()).await;
        let text = serde_json::to_string(&log).expect("JSON");
        assert!(text.contains("[redacted]") && !text.contains(secret), "{text}");
        log
    }
}

fn results(log: &[Event]) -> Vec<(CallOutcome, String)> {
    let finished = log.iter().filter_map(|event| match event {
        Event::ToolFinished { outcome, output, .. } => Some((*outcome, output.text.clone())),
        _ => None,
    });
    finished.collect()
}

#[tokio::test]
async fn a_file_with_a_key_is_written_as_it_was_said_and_recorded_without_it() {
    let (stage, key, other) = (Stage::set(), key("one"), key("two"));
    let content = format!("KEY = '{key}'\nN = 1\n");
    let arguments = serde_json::json!({ "content": content, "path": "config.py" });
    let session = stage
        .open(&[
            format!(r#"tool = "write_file", path = "config.py", content = "KEY = '{key}'\nN = 1\n""#),
            r#"tool = "read_file", path = "config.py""#.to_owned(),
            // The model writes back the redacted text.
            r#"tool = "write_file", path = "config.py", content = "KEY = '[redacted]'\nN = 2\n""#.to_owned(),
            r#"tool = "edit_file", path = "config.py", old_string = "= '[redacted]'\nN = 2", new_string = "= '[redacted]'\nN = 3""#.to_owned(),
            format!(r#"tool = "shell", command = "printf %s {key} > key.txt""#),
            // Replaces one key with another; the record cannot distinguish them.
            format!(r#"tool = "edit_file", path = "config.py", old_string = "{key}", new_string = "{other}""#),
        ])
        .await;
    assert_eq!(session.rest().await, SessionState::Idle);
    let log = stage.sound_log(&session, &key[6..]).await;
    assert_eq!(stage.file("key.txt"), key, "{:?}", results(&log));
    assert_eq!(stage.file("config.py"), format!("KEY = '{other}'\nN = 3\n"));
    assert!(results(&log).iter().all(|(outcome, _)| *outcome == CallOutcome::Ok));
    let exact = log.iter().find_map(|event| match event {
        Event::ModelReplied { exact, .. } => exact.first().copied(),
        _ => None,
    });
    let digest = Digest::of(arguments.to_string().as_bytes());
    assert_eq!(exact, Some(types::ExactCall { index: 0, digest }));
}

/// After a restart the secret is gone. The call is not made with the redacted text.
#[tokio::test]
async fn a_call_whose_secret_is_gone_is_not_made() {
    let (stage, key) = (Stage::set(), key("one"));
    let call = format!(r#"tool = "write_file", path = ".envrc", content = "export KEY={key}\n""#);
    let session = stage.open(&[call]).await;
    assert_eq!(session.rest().await, SessionState::AwaitingInput);
    let run = session.id().clone();
    session.suspend().await.expect("it is let go");
    drop(session);
    let again = stage.bosun().reopen(&run, "ann").await.expect("it is there");
    let asked = stage.log(&run).await.into_iter().find_map(|event| match event {
        Event::QuestionAsked { question, .. } => Some(question),
        _ => None,
    });
    again.answer(asked.expect("a question"), "yes").await.expect("it is open");
    assert_eq!(again.rest().await, SessionState::Idle);
    let results = results(&stage.sound_log(&again, &key[6..]).await);
    let [(CallOutcome::Error, why)] = results.as_slice() else { panic!("{results:?}") };
    assert!(why.contains("not kept when the program stops"), "{why}");
    assert!(!stage.folder.path().join("work/.envrc").exists());
}

/// Text that the redactor takes for a secret, hiding the command from the rules.
#[tokio::test]
async fn a_command_that_hides_in_something_like_a_secret_is_not_run() {
    let stage = Stage::set();
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let hidden = format!("echo '{begin}{line}'; touch done; sudo id; echo '{end}'");
    let session = stage
        .open(&[
            format!(r#"tool = "shell", command = "{hidden}""#),
            format!(r#"tool = "write_file", path = "{begin}{line}/.envrc", content = "x""#),
        ])
        .await;
    assert_eq!(session.rest().await, SessionState::Idle);
    let log = stage.sound_log(&session, line).await;
    let results = results(&log);
    let refused = |(outcome, text): &(CallOutcome, String)| {
        *outcome == CallOutcome::Error && text.contains("nothing was done")
    };
    assert!(results.len() == 2 && results.iter().all(refused), "{results:?}");
    assert!(!stage.folder.path().join("work/done").exists());
}
