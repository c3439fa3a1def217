//! Output of running commands: whole redacted lines go to watchers; everything, up to a limit, is held until stored.
//! Memory stays bounded.

use std::sync::{Arc, Mutex, PoisonError};

use sandbox::{Listener, Stream};
use store::Redactor;
use types::{CallId, LogId, SessionId};

use crate::hub::{Delta, DeltaKind, Hub};

/// The most output that is kept; the rest is counted.
const MOST_KEPT: usize = 8 * 1024 * 1024;
/// The most output shown live.
const MOST_SHOWN: usize = 1024 * 1024;
/// A longer line is shown in parts.
const LONGEST_LINE: usize = 8 * 1024;

/// Captures the output of a command.
#[derive(Debug, Clone)]
pub(crate) struct OutputCapture {
    heard: Arc<Mutex<Heard>>,
}

#[derive(Debug)]
struct Heard {
    log: LogId,
    session: SessionId,
    call: Option<CallId>,
    hub: Hub,
    redactor: Arc<Redactor>,
    kept: Vec<u8>,
    all: u64,
    shown: usize,
    /// Incomplete lines: of stdout, of stderr.
    lines: [Vec<u8>; 2],
}

impl OutputCapture {
    pub(crate) fn new(
        log: LogId,
        (session, call): (SessionId, Option<CallId>),
        hub: Hub,
        redactor: Arc<Redactor>,
    ) -> Self {
        let (kept, lines) = (Vec::new(), [Vec::new(), Vec::new()]);
        let heard = Heard { log, session, call, hub, redactor, kept, all: 0, shown: 0, lines };
        Self { heard: Arc::new(Mutex::new(heard)) }
    }

    pub(crate) fn listener(&self) -> Listener {
        let heard = Arc::clone(&self.heard);
        Listener::new(move |stream, piece| {
            heard.lock().unwrap_or_else(PoisonError::into_inner).take(stream, piece);
        })
    }

    /// The bytes beyond the kept ones. Read it before taking the output.
    pub(crate) fn not_kept(&self) -> u64 {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.all.saturating_sub(heard.kept.len() as u64)
    }

    /// The whole output if longer than `most` bytes; a note at its end says if it was truncated.
    pub(crate) fn whole_above(&self, most: usize) -> Option<String> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = std::mem::take(&mut heard.kept);
        if heard.all <= most as u64 {
            return None;
        }
        let left_out = heard.all.saturating_sub(kept.len() as u64);
        let mut text = match String::from_utf8(kept) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        if left_out > 0 {
            text.push_str(&format!("\n[{left_out} more bytes of output were not kept]\n"));
        }
        Some(text)
    }
}

impl Heard {
    fn take(&mut self, stream: Stream, piece: &[u8]) {
        self.all += piece.len() as u64;
        let room = MOST_KEPT.saturating_sub(self.kept.len()).min(piece.len());
        self.kept.extend_from_slice(&piece[..room]);
        if self.shown < MOST_SHOWN && self.hub.is_watched() {
            self.show(stream, piece);
        }
    }

    /// Emits whole lines, so that a secret is not split into unrecognisable halves.
    fn show(&mut self, stream: Stream, piece: &[u8]) {
        self.shown += piece.len();
        let line = &mut self.lines[usize::from(stream == Stream::Errors)];
        line.extend_from_slice(piece);
        let end = line.iter().rposition(|byte| *byte == b'\n').map(|place| place + 1);
        let Some(end) = end.or_else(|| (line.len() > LONGEST_LINE).then_some(line.len())) else {
            return;
        };
        let text = String::from_utf8_lossy(&line[..end]).into_owned();
        line.drain(..end);
        let text = self.redactor.scrub(&text).into_owned();
        let (log, session, call) = (self.log.clone(), self.session, self.call);
        self.hub.publish(Delta { log, session, call, kind: DeltaKind::Output, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::RunId;

    fn output_capture(hub: &Hub) -> OutputCapture {
        let secrets = Redactor::new(vec!["hunter2hunter2".to_owned()]);
        OutputCapture::new(
            LogId::run(RunId::fixed("r_heard")),
            (SessionId::ROOT, None),
            hub.clone(),
            Arc::new(secrets),
        )
    }

    fn say(output_capture: &OutputCapture, stream: Stream, piece: &[u8]) {
        output_capture.heard.lock().expect("no panic").take(stream, piece);
    }

    #[test]
    fn lines_are_shown_whole_and_without_secrets() {
        let hub = Hub::new();
        let mut deltas = hub.subscribe();
        let output_capture = output_capture(&hub);
        say(&output_capture, Stream::Output, b"one\nthe key is hunter2");
        say(&output_capture, Stream::Errors, b"oh\n");
        say(&output_capture, Stream::Output, b"hunter2\n");
        let mut next = || deltas.try_recv().expect("a delta").text;
        assert_eq!((next(), next()), ("one\n".to_owned(), "oh\n".to_owned()));
        let last = next();
        assert!(last.starts_with("the key is") && !last.contains("hunter2"), "{last}");
    }

    #[test]
    fn what_is_kept_is_bounded_and_says_so() {
        let hub = Hub::new();
        let output_capture = output_capture(&hub);
        say(&output_capture, Stream::Output, b"short");
        assert_eq!(output_capture.whole_above(10), None);
        for _ in 0..9 {
            say(&output_capture, Stream::Output, &vec![b'x'; 1024 * 1024]);
        }
        let whole = output_capture.whole_above(10).expect("it was much");
        assert!(whole.ends_with("more bytes of output were not kept]\n"));
        assert!(whole.len() < MOST_KEPT + 100);
    }
}
