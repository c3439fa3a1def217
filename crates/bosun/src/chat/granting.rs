//! Answers to an approval by number: once, for the session, always, deny. Lasting grants are shown as they would be
//! written, and can be edited before they take effect.

use types::Grants;

use super::app::{App, Asked, Granting};
use super::ui_command::UiCommand;

/// Prefix that distinguishes hosts from command patterns on the edited line.
const HOST: &str = "host ";

/// Meaning of a picked number.
enum Picked {
    Answer(&'static str),
    Grant { always: bool },
}

impl Asked {
    /// The numbered options; empty for a question that needs a text answer.
    pub(crate) fn options(&self) -> Vec<String> {
        if !self.approval {
            return vec![];
        }
        let mut options = vec!["allow once".to_owned()];
        if let Some(grants) = &self.grants {
            let what = types::one_line(&line(grants), 100);
            options.push(format!("allow for this session: {what}"));
            options.push(format!("always allow: {what}"));
        }
        options.push("deny".to_owned());
        options
    }

    fn picked(&self, text: &str) -> Option<Picked> {
        let number: usize = text.parse().ok()?;
        match (number, self.grants.is_some()) {
            _ if !self.approval => None,
            (1, _) => Some(Picked::Answer("allow")),
            (2, true) => Some(Picked::Grant { always: false }),
            (3, true) => Some(Picked::Grant { always: true }),
            (2, false) | (4, true) => Some(Picked::Answer("deny")),
            _ => None,
        }
    }
}

impl App {
    /// Answers the open question with a text, or with the option of that number.
    pub(crate) fn answer(&mut self, text: &str) -> Option<UiCommand> {
        let asked = self.question()?;
        let question = asked.question;
        match asked.picked(text) {
            None => Some(UiCommand::Answer { question, text: text.to_owned() }),
            Some(Picked::Answer(word)) => {
                Some(UiCommand::Answer { question, text: word.to_owned() })
            }
            Some(Picked::Grant { always }) => {
                let proposed = asked.grants.as_ref().map(line).unwrap_or_default();
                self.granting = Some(Granting { question, always });
                self.editor.set(&proposed);
                None
            }
        }
    }

    /// Turns the edited line into a grant, unless nothing is left of it.
    pub(crate) fn granted(&mut self, granting: &Granting, text: &str) -> Option<UiCommand> {
        let grants = read(text);
        if grants.is_empty() {
            self.problem("nothing to allow; the question is still open");
            return None;
        }
        let (question, always) = (granting.question, granting.always);
        Some(UiCommand::Grant { question, grants, always })
    }

    /// Hint shown while grants are edited.
    pub(crate) fn granting_hint(&self) -> Option<&'static str> {
        self.granting.as_ref().map(|granting| match granting.always {
            true => "  edit what to always allow; Enter confirms, Esc goes back",
            false => "  edit what to allow for this session; Enter confirms, Esc goes back",
        })
    }

    pub(crate) fn stop_granting(&mut self) {
        self.granting = None;
        self.editor.clear();
    }
}

/// Grants on one line, for editing.
fn line(grants: &Grants) -> String {
    let hosts = grants.hosts.iter().map(|host| format!("{HOST}{host}"));
    grants.commands.iter().cloned().chain(hosts).collect::<Vec<_>>().join(", ")
}

fn read(text: &str) -> Grants {
    let mut grants = Grants::default();
    for part in text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
        match part.strip_prefix(HOST) {
            Some(host) => grants.hosts.push(host.trim().to_owned()),
            None => grants.commands.push(part.to_owned()),
        }
    }
    grants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_edited_is_what_is_granted() {
        let grants = Grants {
            commands: vec!["git commit".to_owned(), "rm -r".to_owned()],
            hosts: vec!["example.org".to_owned()],
        };
        assert_eq!(line(&grants), "git commit, rm -r, host example.org");
        assert_eq!(read(&line(&grants)), grants);
        assert!(read(" , ").is_empty());
    }
}
