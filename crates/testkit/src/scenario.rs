//! The format of a scenario file. Strict: an unknown key is an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use types::{Attachment, Budget, Check, Effort, Hint, IsolationLevel, Settling, Status, WorkPath};

/// One scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub title: String,
    #[serde(default)]
    pub story: String,
    /// The coverage of the scenario: `rule:ID`, `event:KIND`, or the id of a requirement.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Its preset.
    #[serde(default = "Scenario::crew")]
    pub preset: String,
    pub goal: Goal,
    /// The files of the repository.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Changes to the policy, by dotted path: `limits.parallel_tasks = 1`.
    #[serde(default)]
    pub policy: BTreeMap<String, toml::Value>,
    /// The isolation level found on the scenario's machine. Its commands are not isolated.
    #[serde(default)]
    pub isolation: IsolationLevel,
    /// The person's answers, question by question.
    #[serde(default)]
    pub answers: Vec<String>,
    /// The person's steps in a session with a single agent, whose first input is the goal. Each follows when the agent
    /// is idle.
    #[serde(default)]
    pub talk: Vec<Step>,
    /// The person cancels at the first event whose line in the trace has this prefix.
    #[serde(default)]
    pub cancel_at: Option<String>,
    /// The power is cut right after an event whose line in the trace has this prefix; then the run is resumed.
    #[serde(default)]
    pub cut_at: Option<String>,
    /// The isolation level after that cut, if lower than before.
    #[serde(default)]
    pub walls_after_cut: Option<IsolationLevel>,
    /// Calls whose arguments contain this never end by themselves; the clock advances by fifteen minutes meanwhile.
    #[serde(default)]
    pub never_ends: Option<String>,
    /// How the person settles the final result.
    #[serde(default)]
    pub settle: Option<Settling>,
    #[serde(default)]
    price: Option<toml::Value>,
    /// The model's replies; the same as in a script.
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
    /// The person's reason to proceed although the rules refuse the goal or ask about it.
    #[serde(default)]
    pub insist: Option<String>,
    #[serde(default)]
    pub project_type: Option<String>,
    /// The documents to select from.
    #[serde(default)]
    pub registry: Option<Vec<WorkPath>>,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub budget: Budget,
    #[serde(default)]
    pub checks: Vec<Check>,
    /// The text of a spec, which replaces the goal.
    #[serde(default)]
    pub spec: Option<String>,
    /// The text of a given plan; the run reports its problems.
    #[serde(default)]
    pub plan: Option<String>,
    /// The run ends with the plan.
    #[serde(default)]
    pub only_plan: bool,
    /// A person is asked before the plan is carried out.
    #[serde(default)]
    pub approve_plan: bool,
}

/// A step of a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Say(String),
    Answer(String),
    Effort(Effort),
    Compact,
    /// Undo the file changes of the last round.
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
    /// The expected lines.
    #[serde(default)]
    pub trace: String,
    /// The expected error if nothing can start at all.
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

    /// The model's part as a script.
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

/// The text of a scenario file with its trace replaced.
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
