//! Questions that are answered on the terminal where the run is followed. Without an answer the run stays waiting.

use std::io::{BufRead as _, IsTerminal as _};

use runtime::{Bosun, Delivered, Handle, Left};
use tokio::sync::oneshot;
use types::{Command, QuestionView, Status};

use crate::home;
use crate::print::{line, note, question, text};

/// Asks the person, and goes on with the run if there was an answer.
pub(crate) async fn answered_here(bosun: &Bosun, left: &Left) -> anyhow::Result<Option<Handle>> {
    let view = &left.view;
    let here = std::io::stdin().is_terminal() && view.status == Status::Waiting && !left.suspended;
    let open = view.questions.iter().find(|asked| asked.answer.is_none()).filter(|_| here);
    let Some(asked) = open else { return Ok(None) };
    let now = view.started.after(view.elapsed_ms);
    text(&format!("\n{}", question::shown(&view.run, asked, now, false)))?;
    let Some(said) = answer_to(asked).await? else { return Ok(None) };
    let command = Command::Answer { by: home::person(), question: asked.id, text: said };
    match bosun.deliver(&view.run, &command).await? {
        Delivered::Here(handle) => Ok(Some(handle)),
        Delivered::Taken => {
            note("handed on: another process drives the run now, and has taken it");
            Ok(None)
        }
    }
}

/// Answers for somebody who is not here, and goes on with the run.
pub(crate) async fn answered_for(
    bosun: &Bosun,
    left: &Left,
    answer: &str,
) -> anyhow::Result<Handle> {
    let view = &left.view;
    let open = view.questions.iter().find(|asked| asked.answer.is_none());
    let (by, question) = ("the script".to_owned(), open.map_or(0, |asked| asked.id));
    let command = Command::Answer { by, question, text: answer.to_owned() };
    bosun.post(&view.run, &command).await?;
    Ok(bosun.resume(&view.run).await?)
}

async fn answer_to(asked: &QuestionView) -> anyhow::Result<Option<String>> {
    loop {
        note("your answer, or Enter to leave the run waiting:");
        let Some(said) = typed().await.filter(|said| !said.trim().is_empty()) else {
            return Ok(None);
        };
        match asked.terms.as_ref().map(|terms| terms.choose(&said)) {
            Some(Err(refused)) => line(&refused.to_string())?,
            Some(Ok(_)) | None => return Ok(Some(said.trim().to_owned())),
        }
    }
}

/// A line from the terminal; nothing if it was left with Ctrl-C. The thread that waits for it is not waited for.
async fn typed() -> Option<String> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut said = String::new();
        let read = std::io::stdin().lock().read_line(&mut said);
        // Nobody listens any more when the person has left.
        let _unheard = sender.send(read.ok().map(|_| said));
    });
    tokio::select! {
        said = receiver => said.ok().flatten(),
        _ = tokio::signal::ctrl_c() => None,
    }
}
