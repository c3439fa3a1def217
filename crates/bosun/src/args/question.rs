//! The arguments of the commands about questions: seeing them all, and answering one.

use clap::Args;
use types::RunId;

/// Everything that waits for a person, in all runs and sessions: what is asked, since when, what may be said, what holds
/// if nobody says anything, and the command that answers it.
///
/// Example: bosun questions --json
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Questions {
    /// Also print what whoever decides needs to know: what the agent was told, what it made, what is wrong with it
    #[arg(long)]
    pub(crate) whole: bool,
    /// Print a JSON line for each question
    #[arg(long)]
    pub(crate) json: bool,
}

/// Answers a question and goes on with the run. Where there are answers to choose from, one of them is named by its word,
/// the beginning of it, or its number; some take words of your own after it.
///
/// Examples: bosun answer r_1a2b3c4d retry keep to your own files
///           bosun answer r_1a2b3c4d 2 stop
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Answer {
    pub(crate) run: RunId,
    /// What you have to say; the number of the question may stand before it
    #[arg(required = true, value_name = "[N] ANSWER", allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
    /// The number of the question, if there are several [default: the first that is open]
    #[arg(long, value_name = "N")]
    pub(crate) question: Option<u32>,
    /// Print the events as JSON lines, and the report as the last one
    #[arg(long)]
    pub(crate) json: bool,
}

impl Answer {
    /// Which question is meant, of those that are open, and what is said to it.
    pub(crate) fn said(&self, open: &[u32]) -> (Option<u32>, String) {
        let named = self.words.first().filter(|_| self.words.len() > 1);
        let number = named.and_then(|word| word.trim_start_matches('#').parse().ok());
        match number.filter(|number| self.question.is_none() && open.contains(number)) {
            Some(number) => (Some(number), self.words[1..].join(" ")),
            None => (self.question, self.words.join(" ")),
        }
    }
}
