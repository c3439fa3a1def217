//! A folder, a model server and an open session, for one family of models; and the same call in the names of each
//! family.

use std::sync::Arc;

use runtime::sandbox::Repo;
use runtime::store::{Journal, MemoryJournal};
use runtime::tools::Registry;
use runtime::{Bosun, Config, NewSession, Session};
use serde_json::{Value, json};
use testkit::wire::{Answer, Asked, Reply, WireServer};
use types::{Envelope, Event, Family, IsolationLevel, LogId, Policy, SessionState, Timestamp};

pub(crate) struct Stage {
    pub(crate) family: Family,
    pub(crate) server: WireServer,
    pub(crate) session: Session,
    journal: Arc<dyn Journal>,
    folder: tempfile::TempDir,
    /// Bosun's own home; never in the working folder.
    _home: tempfile::TempDir,
}

/// Deviations from the defaults.
pub(crate) struct Props {
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) registry: Registry,
    pub(crate) policy: Box<dyn Fn(&mut Policy)>,
}

impl Default for Props {
    fn default() -> Self {
        Self { files: vec![], registry: Registry::standard(), policy: Box::new(|_| {}) }
    }
}

impl Props {
    pub(crate) fn files(files: &[(&'static str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        Self { files, ..Self::default() }
    }
}

impl Stage {
    /// A session whose model gives these replies in order.
    pub(crate) async fn telling(family: Family, props: Props, replies: Vec<Reply>) -> Self {
        let answers = replies.into_iter().map(Answer::from).collect();
        let server = WireServer::telling(answers).await.expect("a server");
        Self::with(family, props, server).await
    }

    /// A session whose model answers by a function.
    pub(crate) async fn by(
        family: Family,
        props: Props,
        story: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let server = WireServer::start(story).await.expect("a server");
        Self::with(family, props, server).await
    }

    pub(crate) async fn with(family: Family, props: Props, server: WireServer) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in &props.files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
            std::fs::write(file, text).expect("a file");
        }
        let at = Timestamp::from_millis(1_760_000_000_000);
        Repo::create(folder.path(), "Start", at).await.expect("a repository");
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let home = tempfile::tempdir().expect("a folder");
        let mut setup = Config::new(journal.clone(), home.path());
        setup.models = server.models().expect("models");
        setup.registry = props.registry;
        let model = WireServer::model(family);
        let mut new = NewSession::new(folder.path(), model).expect("the preset");
        new.policy.sandbox.require = IsolationLevel::None;
        (props.policy)(&mut new.policy);
        let session = Bosun::new(setup).open(new).await.expect("a session");
        assert_eq!(session.state(), SessionState::Idle);
        Self { family, server, session, journal, folder, _home: home }
    }

    /// Submits an input and waits until it is done.
    pub(crate) async fn submit(&self, text: &str) -> SessionState {
        self.session.submit(text).await.expect("it is heard");
        self.session.rest().await
    }

    /// The content of a file; `None` if it does not exist.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(name)).ok()
    }

    /// The recorded events.
    pub(crate) async fn events(&self) -> Vec<Event> {
        let log = LogId::run(self.session.id().clone());
        let lines: Vec<Envelope> = self.journal.read(&log, 0, 10_000).await.expect("a log");
        lines.into_iter().map(|line| line.event).collect()
    }

    /// The requests, checked to be valid.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        assert!(self.server.broken().is_empty(), "{}: {:?}", self.name(), self.server.broken());
        self.server.asked()
    }

    /// The results that the model saw last.
    pub(crate) fn results(&self) -> Vec<String> {
        self.asked().last().expect("a request").results()
    }

    pub(crate) fn name(&self) -> &'static str {
        self.family.as_str()
    }
}

/// A family's name for the argument with a file.
fn file_key(family: Family, tool: &str) -> &'static str {
    match (family, tool) {
        (Family::Portable, _) | (Family::Gemini, "read_file") => "path",
        _ => "file_path",
    }
}

pub(crate) fn read(family: Family, path: &str) -> (String, Value) {
    ("read_file".to_owned(), json!({ file_key(family, "read_file"): path }))
}

pub(crate) fn write(family: Family, path: &str, content: &str) -> (String, Value) {
    let arguments = json!({ file_key(family, "write_file"): path, "content": content });
    ("write_file".to_owned(), arguments)
}

/// Replaces one line of a file, with the family's own tool.
pub(crate) fn edit(family: Family, path: &str, old: &str, new: &str) -> (String, Value) {
    if family == Family::OpenAi {
        let patch = format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        );
        return ("apply_patch".to_owned(), json!({ "patch": patch }));
    }
    let key = file_key(family, "edit_file");
    let arguments = json!({ key: path, "old_string": old, "new_string": new });
    ("edit_file".to_owned(), arguments)
}

pub(crate) fn shell(command: &str) -> (String, Value) {
    ("shell".to_owned(), json!({ "command": command }))
}

/// A reply with these calls.
pub(crate) fn calls(calls: &[(String, Value)]) -> Reply {
    Reply { calls: calls.to_vec(), ..Reply::default() }
}
