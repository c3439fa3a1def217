//! The arguments of the commands about questions: seeing them all, and answering one.

use clap::Args;
use types::{RunId, Terms};

use super::RunRef;
use crate::exit::CliError;

#[derive(Debug, Args)]
#[command(
    after_help = "Everything that waits for a person, in all runs and sessions: what is asked, since when, what may be \
    said, what holds if nobody says anything, and the command that answers it.\n\nExample:\n  bosun \
    questions --json"
)]
pub(crate) struct Questions {
    /// Also print what whoever decides needs to know: what the agent was told, what it made, what is wrong with it
    #[arg(long)]
    pub(crate) whole: bool,
    /// Print a JSON line for each question
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Answers a question and goes on with the run. Where there are answers to choose from, one of them is \
    named by its word, the beginning of it, or its number; some take words of your own after \
    it.\n\nExamples:\n  bosun answer r_1a2b3c4d retry keep to your own files\n  bosun answer r_1a2b3c4d 2 \
    stop"
)]
pub(crate) struct Answer {
    /// The run that asks, by its id or the beginning of it with `r_` [default: the one that waits, if only one does]; then the number of the question, if there are several; then what you have to say. Put -- before an answer that begins with a hyphen
    #[arg(required = true, value_name = "[RUN] [N] ANSWER")]
    pub(crate) words: Vec<String>,
    /// The number of the question, if there are several [default: the first that is open]
    #[arg(long, value_name = "N")]
    pub(crate) question: Option<u32>,
    /// Print the events as JSON lines, and the report as the last one
    #[arg(long)]
    pub(crate) json: bool,
}

impl Answer {
    /// The run that the first word names, if it names one.
    pub(crate) fn run(&self) -> Option<RunRef> {
        let first = self.words.first()?.parse().ok()?;
        Some(first).filter(RunRef::is_certain)
    }

    /// Which of the open questions of a run is meant, and what is said to it.
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
        let not_open = |number| CliError::NotOpen { run: run.clone(), number };
        let (id, terms) = match (open, number) {
            ([], _) => return Err(CliError::NoQuestion { run: run.clone() }),
            ([first, ..], None) => *first,
            (_, Some(number)) => *find(number).ok_or_else(|| not_open(number))?,
        };
        let Some(terms) = terms else { return Ok((id, text)) };
        // A number before an answer is meant as that of a question, even if that one is not open any more.
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

    /// What is said to which question, if 2 and 4 are open.
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
