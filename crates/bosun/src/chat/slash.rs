//! Slash commands: parsed from the input, or rejected with the valid alternatives.

use types::{Effort, ModelRef};

use super::ui_command::UiCommand;

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slash {
    /// One that the session or the loop executes.
    Do(UiCommand),
    Models,
    /// Switches to the model with this number in the list.
    ModelNumber(usize),
    Effort,
    Queue(String),
    Permissions,
    Clear,
    Cost,
    Help,
}

/// Every command: name, arguments, description.
pub(crate) const ALL: [(&str, &str, &str); 17] = [
    ("/model", "[MODEL|NUMBER]", "list models or switch model"),
    ("/effort", "[LEVEL]", "show or set the reasoning effort"),
    ("/plan", "TEXT", "make a plan; nothing is changed until /go"),
    ("/go", "", "approve the plan and carry it out"),
    ("/diff", "", "show changes since the last commit"),
    ("/undo", "", "undo the last round of file changes"),
    ("/rewind", "SEQ", "undo all file changes after this event"),
    ("/queue", "TEXT", "send this once the current work is done"),
    ("/compact", "", "replace the older part with a summary"),
    ("/permissions", "", "show what is allowed, asked about and denied"),
    ("/new", "", "start a new conversation; this one can be resumed"),
    ("/clear", "", "like /new, on an empty screen"),
    ("/sessions", "[NUMBER]", "list the conversations in this folder or switch to one"),
    ("/export", "[FILE]", "write the conversation as Markdown"),
    ("/cost", "", "show the cost so far"),
    ("/help", "", "show commands and keys"),
    ("/quit", "", "leave; the conversation can be resumed"),
];

/// The input is not a valid command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotACommand {
    #[error("unknown command {0}; {hint}commands: {names}", hint = hint(.0), names = names())]
    Unknown(String),
    #[error("{0}; usage: {1}")]
    CliError(String, String),
}

/// The command that was most likely meant.
fn hint(name: &str) -> String {
    let meant = types::nearest(name, ALL.iter().map(|(known, ..)| *known));
    meant.map(|known| format!("did you mean {known}? ")).unwrap_or_default()
}

/// Reads a command; `None` if the text is not meant as one.
pub(crate) fn read(text: &str) -> Option<Result<Slash, NotACommand>> {
    let text = text.trim();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    // A path such as /usr/bin is not a command.
    if !name.starts_with('/') || name[1..].contains('/') {
        return None;
    }
    Some(command(name, rest.trim()))
}

/// Commands with this prefix.
pub(crate) fn beginning(text: &str) -> Vec<(&'static str, &'static str, &'static str)> {
    if !text.starts_with('/') || text.contains(char::is_whitespace) {
        return vec![];
    }
    ALL.into_iter().filter(|(name, ..)| name.starts_with(text)).collect()
}

/// A command on one line: name, description, arguments.
pub(crate) fn line((name, form, what): (&str, &str, &str)) -> String {
    let form = if form.is_empty() { String::new() } else { format!("  {form}") };
    format!("  {name:<13}{what}{form}")
}

fn command(name: &str, rest: &str) -> Result<Slash, NotACommand> {
    let known = ALL.iter().find(|(known, ..)| *known == name);
    let Some((_, form, _)) = known else {
        return Err(NotACommand::Unknown(types::one_line(name, 40)));
    };
    let wrong = |cause: String| NotACommand::CliError(cause, format!("{name} {form}"));
    Ok(Slash::Do(match (name, rest) {
        ("/model", "") => return Ok(Slash::Models),
        ("/model", rest) => match (rest.parse(), rest.parse::<ModelRef>()) {
            (Ok(number), _) => return Ok(Slash::ModelNumber(number)),
            (_, Ok(model)) => UiCommand::Model(model),
            (_, Err(error)) => return Err(wrong(error.to_string())),
        },
        ("/effort", "") => return Ok(Slash::Effort),
        ("/effort", rest) => UiCommand::Effort(effort(rest).map_err(wrong)?),
        ("/rewind", rest) => {
            let expected = "expected an event number; see `bosun log`";
            let to = rest.parse().map_err(|_| wrong(expected.to_owned()))?;
            UiCommand::Rewind { to, replace: vec![] }
        }
        ("/queue" | "/plan", "") => return Err(wrong("no text given".to_owned())),
        ("/queue", rest) => return Ok(Slash::Queue(rest.to_owned())),
        ("/plan", rest) => UiCommand::Plan(rest.to_owned()),
        ("/sessions", "") => UiCommand::Sessions(None),
        ("/sessions", rest) => {
            let expected = |_| wrong("expected a session number".to_owned());
            UiCommand::Sessions(Some(rest.parse().map_err(expected)?))
        }
        ("/export", rest) => UiCommand::Export((!rest.is_empty()).then(|| rest.to_owned())),
        ("/go", "") => UiCommand::Go,
        ("/diff", "") => UiCommand::Diff,
        ("/permissions", "") => return Ok(Slash::Permissions),
        ("/new", "") => UiCommand::New,
        ("/clear", "") => return Ok(Slash::Clear),
        ("/compact", "") => UiCommand::Compact,
        ("/undo", "") => UiCommand::Undo,
        ("/cost", "") => return Ok(Slash::Cost),
        ("/help", "") => return Ok(Slash::Help),
        ("/quit", "") => UiCommand::Leave,
        _ => return Err(wrong(format!("{name} takes no argument"))),
    }))
}

fn effort(word: &str) -> Result<Effort, String> {
    let known = [
        Effort::None,
        Effort::Minimal,
        Effort::Low,
        Effort::Medium,
        Effort::High,
        Effort::Xhigh,
        Effort::Max,
    ];
    known.into_iter().find(|effort| effort.as_str() == word).ok_or_else(|| {
        let words: Vec<&str> = known.into_iter().map(Effort::as_str).collect();
        format!("expected one of {}", words.join(", "))
    })
}

fn names() -> String {
    ALL.map(|(name, ..)| name).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_with_what_comes_after_them() {
        let model = "openai/gpt-5".parse().expect("a model");
        assert_eq!(read("/model openai/gpt-5"), Some(Ok(Slash::Do(UiCommand::Model(model)))));
        assert_eq!(read(" /effort high "), Some(Ok(Slash::Do(UiCommand::Effort(Effort::High)))));
        let rewind = UiCommand::Rewind { to: 17, replace: vec![] };
        assert_eq!(read("/rewind 17"), Some(Ok(Slash::Do(rewind))));
        assert_eq!(read("/queue then test it"), Some(Ok(Slash::Queue("then test it".to_owned()))));
        assert_eq!(read("what is /model?"), None);
        assert_eq!(read("/usr/bin/env is missing"), None);
    }

    #[test]
    fn an_unknown_command_says_what_there_is() {
        let said = read("/modle").expect("meant as one").expect_err("unknown").to_string();
        assert!(
            said.contains("/modle") && ALL.iter().all(|(name, ..)| said.contains(name)),
            "{said}"
        );
        let said = read("/effort huge").expect("meant as one").expect_err("unknown").to_string();
        assert!(said.contains("xhigh") && said.contains("/effort [LEVEL]"), "{said}");
        assert!(read("/undo everything").expect("meant as one").is_err());
        assert!(read("/rewind").expect("meant as one").is_err());
    }

    #[test]
    fn what_is_being_typed_finds_the_commands_that_begin_so() {
        let names: Vec<&str> = beginning("/co").into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["/compact", "/cost"]);
        assert_eq!(read("/model 3"), Some(Ok(Slash::ModelNumber(3))));
        assert_eq!(
            read("/plan a cleaner parser"),
            Some(Ok(Slash::Do(UiCommand::Plan("a cleaner parser".to_owned()))))
        );
        assert_eq!(read("/sessions 2"), Some(Ok(Slash::Do(UiCommand::Sessions(Some(2))))));
        assert!(read("/sessions x").expect("meant as one").is_err());
        assert!(beginning("/model x").is_empty() && beginning("hi").is_empty());
    }

    #[test]
    fn a_misspelt_command_is_answered_with_the_one_that_is_nearly_it() {
        let said = NotACommand::Unknown("/hlep".to_owned()).to_string();
        assert!(
            said.starts_with("unknown command /hlep; did you mean /help? commands: /model"),
            "{said}"
        );
        let said = NotACommand::Unknown("/frobnicate".to_owned()).to_string();
        assert!(said.starts_with("unknown command /frobnicate; commands: /model"), "{said}");
    }
}
