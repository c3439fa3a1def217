//! Optional parts of `config/tasks.yaml` in a strict project: constraints, the command that runs the result, the tests
//! to write. The planner gets all of it, line by line. Nothing here is run or enforced.

use serde::Deserialize;

/// Constraints: a list of sentences, or an object of named keys.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(super) struct Constraints(Vec<String>);

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Keys {
    language: Option<String>,
    python_version: Option<String>,
    os: Option<String>,
    dependencies: Dependencies,
    style: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Dependencies {
    allowed: Vec<String>,
    notes: Option<String>,
}

impl TryFrom<serde_json::Value> for Constraints {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| format!("constraints: {error}");
        if value.is_null() {
            return Ok(Self::default());
        }
        if value.is_array() {
            return serde_json::from_value(value).map(Self).map_err(wrong);
        }
        let keys: Keys = serde_json::from_value(value).map_err(wrong)?;
        let allowed = keys.dependencies.allowed.join(", ");
        let all = [
            ("language", keys.language),
            ("Python version", keys.python_version),
            ("operating system", keys.os),
            ("dependencies that are allowed", Some(allowed).filter(|list| !list.is_empty())),
            ("on dependencies", keys.dependencies.notes),
            ("style", keys.style),
        ];
        Ok(Self(lines(all)))
    }
}

impl Constraints {
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.clone()
    }
}

/// How the result is started. Bosun does not start it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Started {
    command: Option<String>,
    notes: Option<String>,
}

impl Started {
    pub(super) fn lines(&self) -> Vec<String> {
        lines([("command", self.command.clone()), ("notes", self.notes.clone())])
    }
}

/// The tests to write.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TestsPolicy {
    create_tests: Option<bool>,
    test_folder: Option<String>,
    minimum: Option<Minimum>,
    no_tests_reason: Option<String>,
    run_tests: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Minimum {
    None,
    Basic,
    Extended,
}

impl Minimum {
    const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "basic",
            Self::Extended => "extended",
        }
    }
}

impl TestsPolicy {
    /// The lines for the planner. The file cannot disable running the tests.
    pub(super) fn lines(&self) -> Result<Vec<String>, String> {
        if self.run_tests == Some(false) {
            return Err(
                "tests_policy.run_tests cannot be switched off: the tests decide".to_owned()
            );
        }
        let word = |yes: bool| if yes { "yes" } else { "no" };
        Ok(lines([
            ("write tests", self.create_tests.map(|yes| word(yes).to_owned())),
            ("folder for tests", self.test_folder.clone()),
            ("how many", self.minimum.map(|minimum| minimum.as_str().to_owned())),
            ("why there are none", self.no_tests_reason.clone()),
        ]))
    }
}

/// The present values, one line each.
fn lines<const N: usize>(all: [(&str, Option<String>); N]) -> Vec<String> {
    let said = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let said = said.map(|(name, value)| (name, value.trim().to_owned()));
    said.filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}: {value}"))
        .collect()
}
