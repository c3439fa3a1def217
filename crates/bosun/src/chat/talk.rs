//! The chat loop: keys, session events and time go into the `App`, its commands go to the session, its rows to the
//! terminal. Ends when the user leaves; the session itself is left as it is.

use std::time::{Duration, Instant};

use crossterm::event::{Event as Key, EventStream};
use futures::{Stream, StreamExt as _};
use runtime::{Session, SessionItem, beside};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use types::{Millis, SessionState};

use super::actions::{ChatContext, Done, Failed, Next};
use super::app::{App, Standing};
use super::painter::Terminal;
use super::ui_command::UiCommand;

/// Minimum time between frames; nothing is painted while nothing happens.
const FRAME: Duration = Duration::from_millis(33);
/// Maximum number of commands queued for the session.
const MOST_WISHES: usize = 64;

/// A command and its result.
type Fulfilled = (UiCommand, Result<Done, Failed>);

/// Work besides the conversation.
struct Beside {
    context: ChatContext,
    wishes: mpsc::Sender<UiCommand>,
    results: mpsc::Sender<Fulfilled>,
    files: mpsc::Sender<Vec<String>>,
    /// Stops the user's own command.
    stop: CancellationToken,
}

/// Runs the chat until the user leaves.
pub(crate) async fn talk(
    session: &Session,
    mut app: App,
    terminal: &mut Terminal,
    items: impl Stream<Item = SessionItem> + Send + 'static,
    context: ChatContext,
) -> anyhow::Result<(App, Next)> {
    let mut keys = EventStream::new();
    let mut items = Box::pin(items.fuse());
    let mut frames = tokio::time::interval(FRAME);
    frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut ends = Ends::new()?;
    let (wishes, queue) = mpsc::channel(MOST_WISHES);
    let (results, mut fulfilled) = mpsc::channel(MOST_WISHES);
    let (files, mut listed) = mpsc::channel(1);
    let worker = tokio::spawn(fulfil(session.clone(), context.clone(), queue, results.clone()));
    let stop = CancellationToken::new();
    let mut beside = Beside { context, wishes, results, files, stop };
    let (mut painted, mut stale, mut edits, mut next) = (Instant::now(), true, false, None);
    while next.is_none() {
        tokio::select! {
            key = keys.next() => {
                let Some(key) = key.transpose()? else { break };
                match on_key(&mut app, key) {
                    None => {}
                    Some(UiCommand::Leave) => break,
                    Some(UiCommand::Redraw) => terminal.canvas().wipe()?,
                    Some(UiCommand::Edit) => edits = true,
                    Some(ui_command) => beside.take(&mut app, session, ui_command),
                }
                beside.list_files(&mut app);
            }
            item = items.next(), if !items.is_done() => take(&mut app, session, item),
            Some((ui_command, result)) = fulfilled.recv() => next = app.done(&ui_command, result),
            Some(files) = listed.recv() => app.know_files(files),
            () = ends.next() => break,
            _ = frames.tick(), if stale || app.is_busy() => {
                // After a long idle period, the time since the last frame is meaningless.
                let elapsed = painted.elapsed().min(Duration::from_millis(250));
                app.pass(Millis(u64::try_from(elapsed.as_millis()).unwrap_or(0)));
                painted = Instant::now();
                app.stand(standing(session));
                paint(&mut app, terminal)?;
                stale = false;
                continue;
            }
        }
        // Nothing else may read keys while the editor runs.
        if std::mem::take(&mut edits) {
            drop(keys);
            edit(&mut app, terminal, beside.context.editor.clone()).await?;
            keys = EventStream::new();
        }
        stale = true;
    }
    worker.abort();
    beside.stop.cancel();
    paint(&mut app, terminal)?;
    Ok((app, next.unwrap_or(Next::Leave)))
}

impl Beside {
    /// Passes a command to its executor.
    fn take(&mut self, app: &mut App, session: &Session, wish: UiCommand) {
        match wish {
            // Must not be delayed, not even by earlier commands.
            UiCommand::Interrupt => {
                tokio::spawn(interrupt(session.clone(), self.results.clone()));
            }
            UiCommand::Run(line) => self.run(line),
            UiCommand::StopRun => self.stop.cancel(),
            wish => {
                if let Err(error) = self.wishes.try_send(wish) {
                    app.give_back(&error.into_inner(), "too many pending commands; try again");
                }
            }
        }
    }

    /// Runs a command of the user in the background.
    fn run(&mut self, line: String) {
        self.stop = CancellationToken::new();
        let (stop, folder) = (self.stop.clone(), self.context.folder.clone());
        let results = self.results.clone();
        tokio::spawn(async move {
            let ran = beside::run(&folder, &line, &stop).await;
            let ran = ran.map(Done::Ran).map_err(Failed::Other);
            // A send error means that the chat has ended; there is nothing left to report to.
            let _left = results.send((UiCommand::Run(line), ran)).await;
        });
    }

    /// Starts listing the files of the folder once they are needed.
    fn list_files(&self, app: &mut App) {
        if app.wants_files() {
            let (folder, files) = (self.context.folder.clone(), self.files.clone());
            tokio::spawn(async move { files.send(beside::files(&folder).await).await });
        }
    }
}

/// Opens the text in the user's own editor.
async fn edit(
    app: &mut App,
    terminal: &mut Terminal,
    editor: Option<String>,
) -> anyhow::Result<()> {
    let Some(editor) = editor else {
        app.problem("no editor configured; set VISUAL or EDITOR");
        return Ok(());
    };
    let file = tempfile::Builder::new().prefix("bosun-").suffix(".md").tempfile()?;
    std::fs::write(file.path(), app.editor.text())?;
    terminal.lend()?;
    let path = file.path().to_owned();
    let edited = tokio::task::spawn_blocking(move || beside::edit(&editor, &path)).await?;
    terminal.take_again()?;
    match edited {
        Ok(true) => app.editor.set(std::fs::read_to_string(file.path())?.trim_end()),
        Ok(false) => app.problem("the editor exited with an error; text unchanged"),
        Err(error) => app.problem(format!("cannot start the editor: {error}")),
    }
    Ok(())
}

fn on_key(app: &mut App, key: Key) -> Option<UiCommand> {
    match key {
        Key::Key(key) => app.on_key(key),
        Key::Paste(text) => {
            app.on_paste(&text);
            None
        }
        _ => None,
    }
}

fn take(app: &mut App, session: &Session, item: Option<SessionItem>) {
    match item {
        Some(SessionItem::Event(line)) => {
            app.on_event(&line);
            app.stand(standing(session));
        }
        Some(SessionItem::Delta(delta)) => app.on_delta(&delta),
        None if session.state() == SessionState::Closed => {}
        None => app.problem("lost the event stream; /quit and resume the session"),
    }
}

fn paint(app: &mut App, terminal: &mut Terminal) -> std::io::Result<()> {
    let (width, height) = crossterm::terminal::size()?;
    let rows = app.take_rows();
    let below = app.view(width, height);
    terminal.canvas().paint(&rows, below, width)
}

/// Status of the session, for the screen.
pub(crate) fn standing(session: &Session) -> Standing {
    let view = session.view();
    Standing {
        state: view.state,
        model: view.model.to_string(),
        effort: view.effort,
        used: view.context,
        window: view.window,
        cost: view.cost.map(|cost| rounded(&cost.to_string())),
        tokens: view.usage.input + view.usage.output,
        turns: view.turns,
        question: view.question.as_ref().map(|asking| asking.question),
        queued: view.queued,
        agents: view.agents.iter().filter(|agent| agent.state == SessionState::Processing).count(),
    }
}

/// Truncates an amount of money to four decimals.
fn rounded(amount: &str) -> String {
    let end = amount.find('.').map_or(amount.len(), |point| point + 5);
    amount.get(..end).unwrap_or(amount).to_owned()
}

/// Executes commands one at a time, in the order in which they were issued.
async fn fulfil(
    session: Session,
    context: ChatContext,
    mut wishes: mpsc::Receiver<UiCommand>,
    results: mpsc::Sender<Fulfilled>,
) {
    while let Some(ui_command) = wishes.recv().await {
        let result = context.act(&session, &ui_command).await;
        if results.send((ui_command, result)).await.is_err() {
            return;
        }
    }
}

async fn interrupt(session: Session, results: mpsc::Sender<Fulfilled>) {
    let result = session.interrupt().await.map(|()| Done::Nothing).map_err(Failed::from);
    // A send error means that the chat has ended; there is nothing left to report to.
    let _left = results.send((UiCommand::Interrupt, result)).await;
}

/// Time for the loop to end by itself after the terminal was closed.
const GRACE: Duration = Duration::from_secs(2);
/// Exit code of a program ended by SIGHUP, by shell convention.
const HUNG_UP: i32 = 129;

/// Ends the process when its terminal is closed. Reading keys from it may never return, and then the loop does not end
/// by itself. Everything that matters is in the journal.
#[expect(clippy::disallowed_methods, reason = "nothing else may ever happen here")]
fn end_with_the_terminal() -> std::io::Result<()> {
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        if hang_up.recv().await.is_some() {
            tokio::time::sleep(GRACE).await;
            std::process::exit(HUNG_UP);
        }
    });
    Ok(())
}

/// Signals that end the chat: the terminal must be restored and the session left in good order.
struct Ends {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Ends {
    fn new() -> std::io::Result<Self> {
        end_with_the_terminal()?;
        Ok(Self {
            // Ctrl-C is a key here; this signal comes from elsewhere.
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
