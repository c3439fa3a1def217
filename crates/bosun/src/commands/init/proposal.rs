//! The `config.toml` that `bosun init` proposes for a project: the questions on the terminal, and the file itself. Text
//! found in the repository is untrusted and only written as quoted TOML.

use std::io::IsTerminal as _;

use runtime::ProjectSurvey;
use runtime::llm::Registry;
use types::{ModelRef, Money};

use crate::{config, print};

/// Proposed settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Proposal {
    checks: Vec<String>,
    model: Option<ModelRef>,
    money: Option<Money>,
}

/// Whether there is a terminal to ask on.
pub(super) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks until the answer can be read; `None` for Enter alone.
fn ask_for<T, E: std::fmt::Display>(
    question: &str,
    read: impl Fn(&str) -> Result<T, E>,
) -> std::io::Result<Option<T>> {
    loop {
        let said = config::ask(question)?;
        if said.is_empty() {
            return Ok(None);
        }
        match read(&said) {
            Ok(value) => return Ok(Some(value)),
            Err(error) => print::note(&error.to_string()),
        }
    }
}

impl Proposal {
    /// The proposal for a repository.
    pub(super) fn of(survey: Option<&ProjectSurvey>) -> Self {
        let checks = survey.map(|survey| survey.checks.as_slice()).unwrap_or_default();
        Self {
            checks: checks.iter().map(|check| check.command.clone()).collect(),
            ..Self::default()
        }
    }

    /// Asks the user about each setting; Enter accepts the proposal.
    pub(super) fn ask(&mut self, registry: Option<&Registry>) -> anyhow::Result<()> {
        let proposed = match self.checks.as_slice() {
            [] => "none found".to_owned(),
            checks => print::one_line(&checks.join("; "), 200),
        };
        let said = config::ask(&format!(
            "Checks that must pass, separated by ; [{proposed}; - for none]: "
        ))?;
        self.take_checks(&said);
        let own = match registry.and_then(Registry::default_model) {
            Some(model) => format!("each user's own; yours is {model}"),
            None => "each user's own; you have none".to_owned(),
        };
        let question = format!("Model for this project, as provider/model [{own}]: ");
        self.model = ask_for(&question, |said| said.parse::<ModelRef>())?;
        self.money = ask_for("Budget for one run, in dollars [no limit]: ", |said| {
            serde_json::from_value::<Money>(said.trim_start_matches('$').into())
        })?;
        Ok(())
    }

    /// Report on the proposed settings, and on what is missing for a run.
    pub(super) fn found(&self, registry: Option<&Registry>) -> Vec<String> {
        let checks = match self.checks.as_slice() {
            [] => {
                "none found; set the command that tests your code in .bosun/config.toml".to_owned()
            }
            checks => print::one_line(&checks.join("; "), 200),
        };
        let model = self.model.clone().or_else(|| registry?.default_model());
        let problem = model.as_ref().and_then(|model| registry?.problem(model));
        let model = match (model, problem) {
            (Some(_), Some(problem)) => problem.to_string(),
            (Some(model), None) => model.to_string(),
            (None, _) => "none set, and no API key found; run `bosun doctor` for help".to_owned(),
        };
        vec![String::new(), format!("checks {checks}"), format!("model  {model}")]
    }

    fn take_checks(&mut self, said: &str) {
        match said {
            "" => {}
            "-" => self.checks = vec![],
            said => {
                let commands = said.split(';').map(str::trim).filter(|command| !command.is_empty());
                self.checks = commands.map(str::to_owned).collect();
            }
        }
    }

    /// Text of the file.
    pub(super) fn text(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let checks = match self.checks.as_slice() {
            [] => "# checks = [\"make test\"]        # none were found; without one, no result counts as proven".to_owned(),
            checks => {
                let list: Vec<String> = checks.iter().map(|command| quoted(command)).collect();
                format!("checks = [{}]", list.join(", "))
            }
        };
        let model = match &self.model {
            Some(model) => format!("model = {}", quoted(&model.to_string())),
            None => "# model = \"anthropic/claude-sonnet-5-5\"".to_owned(),
        };
        let budget = match self.money {
            Some(money) => format!("[budget]\nmoney = {}", quoted(&money.to_string())),
            None => "# [budget]\n# money = \"2.00\"".to_owned(),
        };
        format!(
            "# Settings of this project. `bosun config show --origin` prints the effective settings and\n\
             # their origin; docs/configuration.md describes every key. A project can choose models and\n\
             # checks, and lower the budget; addresses, keys and rules that permit more belong in each\n\
             # user's own config.toml. After a change, run: bosun trust\n\
             \n\
             # Commands that the result must pass. Bosun runs them itself, in the sandbox.\n\
             {checks}\n\
             \n\
             # The model for this project. Without it, each user's own setting applies.\n\
             {model}\n\
             \n\
             # The budget of one run. A user can lower it further, or raise it on the command line.\n\
             {budget}\n\
             \n\
             # A role can have its own model.\n\
             # [roles.planner]\n\
             # model = \"anthropic/claude-opus-5-5\"\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> runtime::settings::Settings {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join(".bosun")).expect("a folder");
        std::fs::write(dir.path().join(runtime::settings::CONFIG), text).expect("a file");
        let project = Some(dir.path().to_owned());
        let sources = runtime::settings::Sources { project, ..Default::default() };
        runtime::settings::load(&sources, |_| None, &[]).expect("it can be read").settings
    }

    #[test]
    fn the_file_can_be_read_with_and_without_answers_and_as_its_comments_say() {
        let empty = Proposal::default();
        assert_eq!(read(&empty.text()).checks, None);
        let mut full =
            Proposal { checks: vec!["a \"b\" \\ c\u{1b}".to_owned()], ..Proposal::default() };
        full.model = Some("a/b".parse().expect("a model"));
        full.money = Some(Money::nanos(1_500_000_000));
        let set = read(&full.text());
        assert_eq!((set.checks, set.model), (Some(full.checks.clone()), full.model.clone()));
        assert_eq!(set.budget.money, full.money);
        // Prose lines are sentences; setting lines have an equals sign or begin a table.
        let text = empty.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix("# "));
        let settings: Vec<&str> =
            lines.filter(|line| line.contains(" = ") || line.starts_with('[')).collect();
        assert!(read(&settings.join("\n")).roles.contains_key("planner"), "{settings:?}");
    }

    #[test]
    fn a_model_of_an_unknown_provider_is_told_at_once() {
        let http = std::sync::Arc::new(runtime::llm::Http::new(types::Millis::seconds(1)));
        let registry = Registry::new(Default::default(), |_| None, http).expect("a registry");
        let told = |proposal: &Proposal| proposal.found(Some(&registry)).join("\n");
        let mut proposal = Proposal { checks: vec!["npm test".to_owned()], ..Proposal::default() };
        let said = told(&proposal);
        assert!(said.contains("\nchecks npm test\nmodel  none set"), "{said}");
        proposal.model = Some("antropic/x".parse().expect("a model"));
        let said = told(&proposal);
        assert!(said.contains("model  there is no provider \"antropic\""), "{said}");
    }

    #[test]
    fn an_answer_replaces_the_proposed_checks() {
        let mut proposal = Proposal { checks: vec!["a".to_owned()], ..Proposal::default() };
        proposal.take_checks("");
        assert_eq!(proposal.checks, ["a"]);
        proposal.take_checks("b -x; c");
        assert_eq!(proposal.checks, ["b -x", "c"]);
        proposal.take_checks("-");
        assert!(proposal.checks.is_empty());
    }
}
