//! A model server that is never the bottleneck: it reads a request without parsing it, notes its time, and sends a
//! prepared answer. Each answer asks for one trivial call, and the last one ends the work.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// Time limit for the whole session.
const PATIENCE: Duration = Duration::from_secs(300);

/// The call of each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Read,
    /// A command without a sandbox.
    Bare,
    Shell,
}

impl Call {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "one file read a turn",
            Self::Bare => "one command a turn, without the sandbox",
            Self::Shell => "one command a turn, in the sandbox",
        }
    }
}

/// A received request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    pub(super) at: Instant,
    pub(super) bytes: usize,
}

#[derive(Debug)]
pub(super) struct Pacer {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    answers: Vec<String>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    beats: Vec<Beat>,
    /// The last answer may be sent: measurements of the live process are done.
    finish: bool,
}

impl Pacer {
    #[expect(clippy::disallowed_methods, reason = "the bench plays the provider, on the loopback")]
    pub(super) fn start(turns: usize, call: Call) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("finding a port")?;
        let url = format!("http://{}", listener.local_addr()?);
        let answers = (0..turns).map(|turn| asking(turn, call)).chain([words()]).collect();
        let shared = Shared { answers, state: Mutex::default(), changed: Condvar::new() };
        let shared = Arc::new(shared);
        let served = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = served.clone();
                // A client that disconnects wants no more answers.
                thread::spawn(move || serve(stream, &served).ok());
            }
        });
        Ok(Self { url, shared })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the last request.
    pub(super) fn wait(&self) -> anyhow::Result<()> {
        let state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let more = |state: &mut State| state.beats.len() < self.shared.answers.len();
        let waited = self.shared.changed.wait_timeout_while(state, PATIENCE, more);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            bail!("{} of {} requests came", state.beats.len(), self.shared.answers.len());
        }
        Ok(())
    }

    /// Releases the last answer.
    pub(super) fn finish(&self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).finish = true;
        self.shared.changed.notify_all();
    }

    pub(super) fn beats(&self) -> Vec<Beat> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).beats.clone()
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(1 << 16, stream.try_clone()?);
    let mut stream = stream;
    let (mut line, mut body) = (String::new(), Vec::new());
    loop {
        let mut length = 0;
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        let beat = Beat { at: Instant::now(), bytes: length };
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.beats.len().min(shared.answers.len() - 1);
        state.beats.push(beat);
        // Only the last one wakes the waiting thread, so that nothing else runs beside the program.
        if number + 1 == shared.answers.len() {
            shared.changed.notify_all();
            let held = shared.changed.wait_while(state, |state| !state.finish);
            state = held.unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        stream.write_all(shared.answers[number].as_bytes())?;
    }
}

/// A reply with one call, different in each turn so that it is not a loop.
fn asking(turn: usize, call: Call) -> String {
    let (tool, input) = match call {
        Call::Read => ("read_file", json!({ "file_path": format!("src/file{}.txt", turn % 50) })),
        Call::Bare | Call::Shell => ("shell", json!({ "command": format!("echo {turn}") })),
    };
    let block =
        json!({ "type": "tool_use", "id": format!("toolu_{turn}"), "name": tool, "input": {} });
    let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
    reply(turn, &block, &delta, "tool_use")
}

fn words() -> String {
    let delta = json!({ "type": "text_delta", "text": "High." });
    reply(0, &json!({ "type": "text", "text": "" }), &delta, "end_turn")
}

fn reply(turn: usize, block: &Value, delta: &Value, stop: &str) -> String {
    let usage = json!({ "input_tokens": 100, "output_tokens": 10 });
    let message = json!({
        "id": format!("msg_{turn}"), "type": "message", "role": "assistant", "content": [],
        "model": "m", "stop_reason": null, "usage": usage,
    });
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ];
    let mut body = String::new();
    for event in &events {
        let kind = event["type"].as_str().unwrap_or_default();
        body.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
    }
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
