//! The format of a scenario file. Strict: a key that is not named here is an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use types::{Attachment, Budget, Check, Effort, Hint, IsolationLevel, Settling, Status, WorkPath};

/// One story.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub title: String,
    #[serde(default)]
    pub story: String,
    /// What the story shows: `rule:ID`, `event:KIND`, or the id of a requirement.
    #[serde(default)]
    pub shows: Vec<String>,
    /// The preset that it is played with.
    #[serde(default = "Scenario::crew")]
    pub preset: String,
    pub goal: Goal,
    /// What is in the repository.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Changes to the policy, by dotted path: `limits.parallel_tasks = 1`.
    #[serde(default)]
    pub policy: BTreeMap<String, toml::Value>,
    /// What the machine of the story is found to hold commands with. The commands of a story are not held.
    #[serde(default)]
    pub walls: IsolationLevel,
    /// What the person answers, question by question.
    #[serde(default)]
    pub answers: Vec<String>,
    /// What the person says or does in a conversation with a single agent, of which the goal is the first input. Each
    /// comes when the agent rests after the one before it.
    #[serde(default)]
    pub talk: Vec<Step>,
    /// The person cancels as soon as an event's line in the trace starts like this.
    #[serde(default)]
    pub cancel_at: Option<String>,
    /// The power is cut right after an event whose line in the trace starts like this; then the run is resumed.
    #[serde(default)]
    pub cut_at: Option<String>,
    /// What the machine holds commands with after that cut, if it is less than before.
    #[serde(default)]
    pub walls_after_cut: Option<IsolationLevel>,
    /// Calls whose arguments contain this never end by themselves, and the story's clock moves on by a quarter of an hour meanwhile.
    #[serde(default)]
    pub never_ends: Option<String>,
    /// What the person does with the result when the run is over.
    #[serde(default)]
    pub settle: Option<Settling>,
    #[serde(default)]
    price: Option<toml::Value>,
    /// What the model answers; the same as in a script.
    #[serde(default)]
    attempt: Vec<toml::Value>,
    pub expect: Expect,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub text: String,
    #[serde(default)]
    pub hint: Option<Hint>,
    /// Why it shall be done although the rules refuse it or ask about it.
    #[serde(default)]
    pub insist: Option<String>,
    #[serde(default)]
    pub project_type: Option<String>,
    /// The documents that may be chosen from.
    #[serde(default)]
    pub registry: Option<Vec<WorkPath>>,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub budget: Budget,
    #[serde(default)]
    pub checks: Vec<Check>,
    /// The text of a spec, of which the goal is then made.
    #[serde(default)]
    pub spec: Option<String>,
    /// The text of a plan that is given; what is wrong with it is the run's matter.
    #[serde(default)]
    pub plan: Option<String>,
    /// The run ends when the plan is there.
    #[serde(default)]
    pub only_plan: bool,
    /// A person is asked before the plan is carried out.
    #[serde(default)]
    pub approve_plan: bool,
}

/// A step of a conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Say(String),
    Answer(String),
    Effort(Effort),
    Compact,
    /// Take back what the last round did to files.
    Undo,
    Close,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub status: Status,
    /// Files on the run's branch at the end.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// What is recorded, line by line.
    #[serde(default)]
    pub trace: String,
    /// Why nothing can begin at all, if that is the story.
    #[serde(default)]
    pub problem: Option<String>,
}

/// Why a file is not a scenario.
#[derive(Debug, thiserror::Error)]
pub enum BadScenario {
    #[error("reading scenario {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("reading scenario {path}, line {line}: {cause}")]
    Format { path: PathBuf, line: usize, cause: String },
}

impl Scenario {
    fn crew() -> String {
        "crew".to_owned()
    }

    pub fn load(path: &Path) -> Result<Self, BadScenario> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| BadScenario::Io { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self, BadScenario> {
        toml::from_str(text).map_err(|error| BadScenario::Format {
            path: path.to_owned(),
            line: error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1),
            cause: error.message().to_owned(),
        })
    }

    /// The model's part as a script of its own.
    pub fn script(&self) -> Result<String, toml::ser::Error> {
        let mut script = toml::Table::new();
        if let Some(price) = &self.price {
            script.insert("price".to_owned(), price.clone());
        }
        script.insert("attempt".to_owned(), toml::Value::Array(self.attempt.clone()));
        toml::to_string(&script)
    }
}

/// All scenario files below a folder, sorted.
pub fn all_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a scenario file with another trace in it.
#[must_use]
pub fn rewrite_trace(text: &str, trace: &str) -> String {
    let block = format!("trace = '''\n{trace}'''\n");
    match text.find("trace = '''") {
        Some(start) => format!("{}{block}", &text[..start]),
        None => format!("{}\n{block}", text.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let text =
            "title = \"x\"\ncolour = \"red\"\n[goal]\ntext = \"y\"\n[expect]\nstatus = \"done\"\n";
        let error = Scenario::parse(Path::new("a.toml"), text).expect_err("colour is unknown");
        let shown = error.to_string();
        assert!(shown.contains("a.toml, line 2") && shown.contains("colour"), "{shown}");
    }

    #[test]
    fn a_trace_is_put_in_and_replaced() {
        let once = rewrite_trace("[expect]\nstatus = \"done\"\n", "a\n");
        assert_eq!(
            rewrite_trace(&once, "b\n"),
            "[expect]\nstatus = \"done\"\ntrace = '''\nb\n'''\n"
        );
    }
}
