//! A command as stored in the inbox: JSON, without key-shaped text. The inbox does not interpret commands.

use types::Command;

use crate::{JournalError, Redactor};

pub(crate) fn write(command: &Command) -> Result<String, JournalError> {
    let redactor = Redactor::none();
    let scrub = |text: &str| redactor.scrub(text).into_owned();
    let scrubbed = match command {
        Command::Cancel { by, reason } => Command::Cancel { by: scrub(by), reason: scrub(reason) },
        Command::Answer { by, question, text } => {
            Command::Answer { by: scrub(by), question: *question, text: scrub(text) }
        }
        Command::Tell { how, by, text, images } => {
            let (by, text, images) = (scrub(by), scrub(text), images.clone());
            Command::Tell { how: *how, by, text, images }
        }
        Command::Interrupt { by, said } => {
            Command::Interrupt { by: scrub(by), said: said.as_deref().map(scrub) }
        }
        Command::Raise { by, budget } => Command::Raise { by: scrub(by), budget: *budget },
        // These have no free text.
        Command::GoOn { .. }
        | Command::Change { .. }
        | Command::Compact { .. }
        | Command::Settle { .. }
        | Command::Restored { .. } => command.clone(),
    };
    serde_json::to_string(&scrubbed).map_err(|source| JournalError::Failed {
        doing: "writing a command",
        source: std::sync::Arc::new(source),
    })
}

pub(crate) fn parse(text: &str) -> Result<Command, JournalError> {
    serde_json::from_str(text).map_err(|source| JournalError::Failed {
        doing: "reading a posted command",
        source: std::sync::Arc::new(source),
    })
}
