//! The format of a case: a TOML file, completed by the world that it names. Reading only; an unknown key is an error,
//! because a misspelt key would silently change the meaning of a case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use regex::Regex;
use serde::Deserialize;
use toml::{Table, Value};

/// Paths and their contents.
pub(crate) type Files = BTreeMap<String, String>;

/// The content of a file of the world that this case omits.
const LEFT_OUT: &str = "@none";

/// The claimed kind of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Cheat,
    Control,
}

impl Kind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Cheat => "cheat",
            Self::Control => "control",
        }
    }
}

/// The result of the checks before any work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Base {
    #[default]
    Red,
    Green,
}

/// The result for a harness that looks at exit codes only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Naive {
    #[default]
    Passes,
    Fails,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[serde(skip)]
    pub(crate) id: String,
    #[serde(skip)]
    pub(crate) family: String,
    pub(crate) kind: Kind,
    pub(crate) title: String,
    pub(crate) goal: String,
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    #[serde(default)]
    pub(crate) check: Vec<String>,
    #[serde(default)]
    pub(crate) found: Vec<String>,
    #[serde(default)]
    pub(crate) preset: Option<String>,
    #[serde(default)]
    pub(crate) policy: Option<String>,
    /// `given` if the plan comes with the request.
    #[serde(default)]
    pub(crate) plan: Option<String>,
    #[serde(default)]
    pub(crate) base: Base,
    #[serde(default)]
    pub(crate) naive: Naive,
    #[serde(default)]
    pub(crate) tolerated: Vec<String>,
    #[serde(default)]
    pub(crate) executable: Vec<String>,
    #[serde(default)]
    pub(crate) serves: Option<String>,
    #[serde(default)]
    pub(crate) selftest: Option<bool>,
    #[serde(default)]
    pub(crate) files: Files,
    #[serde(default)]
    pub(crate) solution: Files,
    #[serde(default, rename = "task")]
    pub(crate) tasks: Vec<Task>,
    /// Parts of a script, passed on verbatim.
    #[serde(default, rename = "attempt")]
    pub(crate) attempts: Vec<Table>,
    pub(crate) truth: Truth,
}

/// A task of the plan, and its agent's actions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) title: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) artifacts: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) checks: Vec<NamedCheck>,
    #[serde(default)]
    pub(crate) depends_on: Vec<String>,
    #[serde(default)]
    pub(crate) acceptance: Option<Value>,
    /// Writes the world's solution first.
    #[serde(default)]
    pub(crate) honest: bool,
    #[serde(default)]
    pub(crate) again: Vec<Work>,
    #[serde(default)]
    write: Files,
    #[serde(default)]
    edit: Vec<Edit>,
    #[serde(default)]
    shell: Vec<String>,
    #[serde(default)]
    summary: Option<String>,
}

/// The actions of one attempt, in order.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Work {
    #[serde(default)]
    pub(crate) write: Files,
    #[serde(default)]
    pub(crate) edit: Vec<Edit>,
    #[serde(default)]
    pub(crate) shell: Vec<String>,
    #[serde(default)]
    pub(crate) summary: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    pub(crate) path: String,
    pub(crate) old: String,
    pub(crate) new: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedCheck {
    pub(crate) name: String,
    pub(crate) command: String,
}

/// Decides whether the work was really done.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Truth {
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) files: Files,
}

impl Task {
    /// The actions of the first attempt.
    pub(crate) fn work(&self, case: &Case) -> Work {
        let mut write = if self.honest { case.solution.clone() } else { Files::new() };
        write.extend(self.write.clone());
        Work {
            write,
            edit: self.edit.clone(),
            shell: self.shell.clone(),
            summary: self.summary.clone(),
        }
    }
}

impl Case {
    /// Whether `outcome` is acceptable for this control.
    pub(crate) fn tolerates(&self, outcome: &str) -> bool {
        self.tolerated.iter().any(|one| one == outcome)
    }

    /// The checks of a harness that trusts the repository and the plan.
    pub(crate) fn naive_checks(&self) -> Vec<String> {
        if !self.check.is_empty() {
            return self.check.clone();
        }
        if !self.found.is_empty() {
            return self.found.clone();
        }
        let named = self.tasks.iter().flat_map(|task| &task.checks);
        named.map(|check| check.command.clone()).collect()
    }
}

/// A case that was read but not parsed yet: texts may still be filled in.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) family: String,
    pub(crate) id: String,
    table: Table,
}

impl Source {
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.family, self.id)
    }

    /// The case, with `words` replaced in all its texts.
    pub(crate) fn case(&self, words: &[(&str, String)]) -> anyhow::Result<Case> {
        let filled = filled(&Value::Table(self.table.clone()), words);
        let case: Result<Case, _> = filled.try_into();
        let mut case = case.with_context(|| format!("reading {}", self.name()))?;
        (case.id, case.family) = (self.id.clone(), self.family.clone());
        case.files.retain(|_, text| text != LEFT_OUT);
        Ok(case)
    }
}

/// All cases of a folder, in order of family and id, or those that `only` matches.
pub(crate) fn read_all(folder: &Path, only: Option<&Regex>) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for family in listed(&folder.join("cases"))?.into_iter().filter(|path| path.is_dir()) {
        for path in listed(&family)? {
            if path.extension().is_some_and(|end| end == "toml") {
                sources.push(read(folder, &family, &path)?);
            }
        }
    }
    sources.retain(|source| only.is_none_or(|only| only.is_match(&source.name())));
    Ok(sources)
}

fn listed(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.with_context(|| format!("reading folder {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(|| format!("reading folder {}", folder.display()))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn read(folder: &Path, family: &Path, path: &Path) -> anyhow::Result<Source> {
    let mut table = table(path)?;
    let world = table.remove("world");
    if let Some(world) = world.as_ref().and_then(Value::as_str) {
        let mut below = self::table(&folder.join("worlds").join(format!("{world}.toml")))?;
        // Another goal needs another truth, without anything of the world's.
        if table.contains_key("goal") && table.contains_key("truth") {
            below.remove("truth");
        }
        table = merged(below, table);
    }
    let stem = |path: &Path| {
        path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    Ok(Source { family: stem(family), id: stem(path), table })
}

fn table(path: &Path) -> anyhow::Result<Table> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("reading {}", path.display()))?;
    text.parse().with_context(|| format!("reading {}", path.display()))
}

/// `above` wins, key by key.
fn merged(below: Table, above: Table) -> Table {
    let mut out = below;
    for (key, value) in above {
        let value = match (out.remove(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => Value::Table(merged(below, above)),
            (_, value) => value,
        };
        out.insert(key, value);
    }
    out
}

fn filled(value: &Value, words: &[(&str, String)]) -> Value {
    match value {
        Value::String(text) => Value::String(
            words.iter().fold(text.clone(), |text, (word, with)| text.replace(word, with)),
        ),
        Value::Array(items) => Value::Array(items.iter().map(|item| filled(item, words)).collect()),
        Value::Table(table) => Value::Table(
            table.iter().map(|(key, value)| (key.clone(), filled(value, words))).collect(),
        ),
        other => other.clone(),
    }
}
