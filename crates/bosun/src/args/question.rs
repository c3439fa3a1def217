//! The arguments of `bosun questions` and `bosun answer`.

use clap::Args;
use types::{RunId, Terms};

use super::RunRef;
use crate::exit::CliError;

#[derive(Debug, Args)]
#[command(
    after_help = "Lists the open questions of all runs and sessions, each with its age, its choices, its default and the \
    command that answers it.\n\nExample:\n  bosun questions --json"
)]
pub(crate) struct Questions {
    /// Also print the context of each question: the agent's brief, its result, and the problem
    #[arg(long)]
    pub(crate) whole: bool,
    /// Print JSON Lines, one per question
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Answers a question and resumes the run. A choice is selected by its name, a unique prefix of it, or its \
    number; some choices take additional text.\n\nExamples:\n  bosun answer r_1a2b3c4d retry keep to your own \
    files\n  bosun answer r_1a2b3c4d 2 stop"
)]
pub(crate) struct Answer {
    /// Run id or prefix starting with `r_` [default: the only run waiting for an answer]; question number, if several are open; answer. Put -- before an answer that starts with a hyphen
    #[arg(required = true, value_name = "[RUN] [N] ANSWER")]
    pub(crate) words: Vec<String>,
    /// Question number, if several are open [default: the first open question]
    #[arg(long, value_name = "N")]
    pub(crate) question: Option<u32>,
    /// Print events as JSON Lines, ending with the report
    #[arg(long)]
    pub(crate) json: bool,
}

impl Answer {
    /// The run named by the first word, if any.
    pub(crate) fn run(&self) -> Option<RunRef> {
        let first = self.words.first()?.parse().ok()?;
        Some(first).filter(RunRef::is_certain)
    }

    /// The question being answered, among the open ones of a run, and the text of the answer.
    pub(crate) fn said(
        &self,
        run: &RunId,
        open: &[(u32, Option<&Terms>)],
    ) -> Result<(u32, String), CliError> {
        let words = &self.words[usize::from(self.run().is_some()).min(self.words.len())..];
        if words.is_empty() {
            return Err(CliError::NothingSaid { run: run.clone() });
        }
        let (first, rest) = words.split_first().map_or(("", vec![]), |(first, rest)| {
            (first.as_str(), rest.iter().map(String::as_str).collect())
        });
        let find = |number: u32| open.iter().find(|(id, _)| *id == number);
        let named: Option<u32> = first.trim_start_matches('#').parse().ok();
        let named = named.filter(|_| self.question.is_none() && !rest.is_empty());
        let (number, text) = match named {
            Some(number) if first.starts_with('#') || find(number).is_some() => {
                (Some(number), rest.join(" "))
            }
            _ => (self.question, words.join(" ")),
        };
        // The placeholder of a printed command, copied with it.
        if text == "…" {
            return Err(CliError::NothingSaid { run: run.clone() });
        }
        let not_open = |number| CliError::NotOpen { run: run.clone(), number };
        let (id, terms) = match (open, number) {
            ([], _) => return Err(CliError::NoQuestion { run: run.clone() }),
            ([first, ..], None) => *first,
            (_, Some(number)) => *find(number).ok_or_else(|| not_open(number))?,
        };
        let Some(terms) = terms else { return Ok((id, text)) };
        // A number before an answer is that of a question, even if the question is no longer open.
        let chosen = |text: &str| terms.choose(text).is_ok_and(|chosen| chosen.choice.is_some());
        if let (Some(number), None) = (named, number)
            && chosen(&rest.join(" "))
        {
            return Err(not_open(number));
        }
        terms.choose(&text).map_err(CliError::NotAChoice)?;
        Ok((id, text))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use types::{About, Choice, Escalation, Severity};

    use super::*;
    use crate::args::{Cli, Command};

    fn answer(line: &str) -> Answer {
        let words = ["bosun", "answer", "r_1a2b3c4d"].into_iter().chain(line.split(' '));
        match Cli::try_parse_from(words).expect("a command line").command {
            Command::Answer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// The question and the answer, with questions 2 and 4 open.
    fn said(line: &str) -> Result<(u32, String), String> {
        let choices = vec![
            Choice::new("retry", "once more").with_words(),
            Choice::new("stop", "end the run"),
        ];
        let about = About::Task("T1".parse().expect("a task"));
        let terms = Terms::escalation(Escalation::Unknown, Severity::High, about, choices, "stop");
        let run = "r_1a2b3c4d".parse().expect("a run");
        let open = [(2, Some(&terms)), (4, None)];
        answer(line).said(&run, &open).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn flags_may_stand_after_the_answer() {
        let answer = answer("allow it --json");
        assert_eq!((answer.words[1..].join(" ").as_str(), answer.json), ("allow it", true));
    }

    #[test]
    fn an_answer_goes_to_the_question_that_is_named_or_else_to_the_first() {
        let is = |id, text: &str| Ok((id, text.to_owned()));
        assert_eq!(said("stop"), is(2, "stop"));
        assert_eq!(said("4 use tabs"), is(4, "use tabs"));
        assert_eq!(said("#2 retry use tabs"), is(2, "retry use tabs"));
        assert_eq!(said("use tabs --question 4"), is(4, "use tabs"));
        assert!(said("4 …").is_err_and(|said| said.contains("no answer given")));
        assert_eq!(said("1 use tabs"), is(2, "1 use tabs"), "the first choice, with words");
    }

    #[test]
    fn the_number_of_a_question_that_is_not_open_is_never_a_choice_of_another() {
        for line in ["1 stop", "1 retry use tabs", "#1 use tabs", "#7 stop", "stop --question 1"] {
            let wrong = said(line).expect_err(line);
            assert!(wrong.contains("is not open"), "{line}: {wrong}");
        }
        assert!(said("go on").is_err_and(|wrong| wrong.contains("choose one of: retry")));
    }
}
