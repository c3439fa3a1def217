//! Carries out UI commands, either on the session or next to it in its folder. Presenting the result is up to the
//! screen.

use std::path::PathBuf;

use runtime::{Bosun, Session, SessionError, Undone, beside, grants};
use types::{Grants, RunId, SessionState};

use super::app::App;
use super::ui_command::UiCommand;
use crate::sessions;

/// Prompts for requesting a plan and for approving one.
const PLAN: &str = "Make a plan for this and change nothing yet: you can only look. Say what you would do, in which files, \
                    and how it would be tested; ask where something is open.";
const APPROVED: &str = "The plan is approved. Carry it out.";

/// Environment of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct ChatContext {
    pub(crate) bosun: Bosun,
    pub(crate) folder: PathBuf,
    /// File with the permanent grants.
    pub(crate) grants: Option<PathBuf>,
    /// The user's editor.
    pub(crate) editor: Option<String>,
}

/// Step after a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Leave,
    New,
    Open(RunId),
}

/// Result of a command.
#[derive(Debug)]
pub(crate) enum Done {
    Nothing,
    Note(String),
    Undone(Box<Undone>),
    Diff(String),
    Ran(String),
    Planning(bool),
    Picture(tempfile::TempPath),
    Switch(Next),
}

/// Failure of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("{0}")]
    Other(String),
}

/// Turns plan mode on or off, and submits what there is to do then.
async fn plan(session: &Session, on: bool, text: String) -> Result<Done, Failed> {
    if session.state() != SessionState::Idle {
        return Err(SessionError::Busy.into());
    }
    session.read_only(on).await?;
    session.submit(text).await?;
    Ok(Done::Planning(on))
}

/// Stores the picture of the clipboard in a temporary file.
async fn paste_picture() -> Result<Done, Failed> {
    let file = tempfile::Builder::new().prefix("bosun-").suffix(".png").tempfile();
    let failed = |error| Failed::Other(format!("creating a temporary file: {error}"));
    let file = file.map_err(failed)?.into_temp_path();
    let pasted = beside::clipboard_picture(&file).await;
    pasted.map(|()| Done::Picture(file)).map_err(Failed::Other)
}

impl ChatContext {
    pub(crate) async fn act(&self, session: &Session, wish: &UiCommand) -> Result<Done, Failed> {
        match wish.clone() {
            UiCommand::Submit(text) => {
                let pictures = beside::pictures(&text, &self.folder);
                session.submit_with_images(text, pictures).await?;
            }
            UiCommand::Steer(text) => session.steer(text).await?,
            UiCommand::FollowUp(text) => session.follow_up(text).await?,
            UiCommand::Answer { question, text } => session.answer(question, text).await?,
            UiCommand::Grant { question, grants, always } => {
                return self.grant(session, question, grants, always).await;
            }
            UiCommand::Model(model) => session.change(Some(model), None, None).await?,
            UiCommand::Effort(effort) => session.change(None, Some(effort), None).await?,
            UiCommand::Compact => session.compact().await?,
            UiCommand::Undo => {
                return Ok(match session.undo().await? {
                    Some(undone) => Done::Undone(Box::new(undone)),
                    None => Done::Note("nothing to undo".to_owned()),
                });
            }
            UiCommand::Rewind { to, replace } => {
                let undone = session.rewind(to, replace).await?;
                return Ok(Done::Undone(Box::new(undone)));
            }
            // The person's words first: they are the headline of the session.
            UiCommand::Plan(text) => return plan(session, true, format!("{text}\n\n{PLAN}")).await,
            UiCommand::Go => return plan(session, false, APPROVED.to_owned()).await,
            UiCommand::Diff => {
                return beside::diff(&self.folder).await.map(Done::Diff).map_err(Failed::Other);
            }
            UiCommand::Export(file) => return self.export(session, file).await.map(Done::Note),
            UiCommand::Sessions(number) => return self.sessions(session, number).await,
            UiCommand::PastePicture => return paste_picture().await,
            UiCommand::New => return Ok(Done::Switch(Next::New)),
            UiCommand::Interrupt => session.interrupt().await?,
            UiCommand::Run(_)
            | UiCommand::StopRun
            | UiCommand::Edit
            | UiCommand::Redraw
            | UiCommand::Leave => {}
        }
        Ok(Done::Nothing)
    }

    async fn grant(
        &self,
        session: &Session,
        question: u32,
        granted: Grants,
        always: bool,
    ) -> Result<Done, Failed> {
        let mut done = Done::Nothing;
        if let (true, Some(file)) = (always, &self.grants) {
            grants::add(file, &granted).map_err(|error| Failed::Other(error.to_string()))?;
            let file = types::one_line(&file.display().to_string(), 200);
            done = Done::Note(format!("written to {file}"));
        }
        session.grant(granted).await?;
        session.answer(question, "allow").await?;
        Ok(done)
    }

    async fn export(&self, session: &Session, file: Option<String>) -> Result<String, Failed> {
        let text = beside::markdown(&session.history().await?);
        let name = file.unwrap_or_else(|| format!("{}.md", session.id()));
        let path = self.folder.join(&name);
        let shown = types::one_line(&path.display().to_string(), 300);
        let failed = |error: std::io::Error| Failed::Other(format!("writing {shown}: {error}"));
        // Never overwrites an existing file.
        let mut new = std::fs::File::create_new(&path).map_err(failed)?;
        std::io::Write::write_all(&mut new, text.as_bytes()).map_err(failed)?;
        Ok(format!("written to {shown}"))
    }

    async fn sessions(&self, session: &Session, number: Option<usize>) -> Result<Done, Failed> {
        let here = sessions::open_in(&self.bosun, &self.folder).await;
        let here = here.map_err(|error| Failed::Other(error.to_string()))?;
        let Some(number) = number else {
            let line = |(number, (run, listed)): (usize, &(RunId, types::ListedSession))| {
                let mark = if run == session.id() { "*" } else { " " };
                let about = types::one_line(&listed.about, 60);
                format!("  {number:>3}{mark} {}  {about}", listed.started)
            };
            let mut lines: Vec<String> = (1..).zip(&here).map(line).collect();
            lines.push("/sessions NUMBER switches to one".to_owned());
            return Ok(Done::Note(lines.join("\n")));
        };
        match number.checked_sub(1).and_then(|place| here.get(place)) {
            Some((run, _)) if run == session.id() => Ok(Done::Note("already there".to_owned())),
            Some((run, _)) => Ok(Done::Switch(Next::Open(run.clone()))),
            None => Err(Failed::Other(format!("no session {number} in this folder"))),
        }
    }
}

impl App {
    /// Shows the result of a command. Returns the next step if the conversation is left.
    pub(crate) fn done(&mut self, wish: &UiCommand, result: Result<Done, Failed>) -> Option<Next> {
        match (result, wish) {
            (Ok(Done::Nothing), _) => {}
            (Ok(Done::Note(text)), _) => text.lines().for_each(|line| self.note(line)),
            (Ok(Done::Undone(undone)), _) => self.undone(&undone),
            (Ok(Done::Diff(text)), _) => self.show_diff(&text),
            (Ok(Done::Ran(output)), UiCommand::Run(line)) => self.ran(line, &output),
            (Ok(Done::Ran(_)), _) => {}
            (Ok(Done::Planning(on)), _) => self.planning = on,
            (Ok(Done::Picture(file)), _) => self.attach(file),
            (Ok(Done::Switch(next)), _) => return Some(next),
            (Err(error), wish) => {
                self.person_runs &= !matches!(wish, UiCommand::Run(_));
                self.give_back(wish, &error.to_string());
            }
        }
        None
    }
}
