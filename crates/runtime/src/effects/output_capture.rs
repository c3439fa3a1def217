//! Output of running commands: whole redacted lines go to watchers; everything, up to a limit, is held until stored.
//! Memory stays bounded.

use std::sync::{Arc, Mutex, PoisonError};

use sandbox::{Listener, Stream};
use store::Redactor;
use types::{CallId, CheckId, LogId, SessionId};

use crate::hub::{Delta, DeltaKind, Hub};

/// The most output that is kept; the rest is counted.
const MOST_KEPT: usize = 8 * 1024 * 1024;
/// The most output shown live.
const MOST_SHOWN: usize = 1024 * 1024;
/// A longer line is shown in parts.
const LONGEST_LINE: usize = 8 * 1024;
/// The most characters of a check's last line.
const MOST_OF_LAST: usize = 400;

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
    check: Option<CheckId>,
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
        let (check, all, shown) = (None, 0, 0);
        let heard = Heard { log, session, call, check, hub, redactor, kept, all, shown, lines };
        Self { heard: Arc::new(Mutex::new(heard)) }
    }

    /// The same for a check, of which watchers get only the last lines, however much it prints.
    pub(crate) fn of_check(self, check: CheckId) -> Self {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).check = Some(check);
        self
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
        if (self.shown < MOST_SHOWN || self.check.is_some()) && self.hub.is_watched() {
            self.show(stream, piece);
        }
    }

    /// Emits whole lines, so that a secret is not split into unrecognisable halves.
    fn show(&mut self, stream: Stream, piece: &[u8]) {
        self.shown += piece.len();
        let line = &mut self.lines[usize::from(stream == Stream::Errors)];
        line.extend_from_slice(piece);
        // Runners repaint a line of progress with a carriage return.
        let repaints = self.check.is_some();
        let ends = |byte: &u8| *byte == b'\n' || repaints && *byte == b'\r';
        let end = line.iter().rposition(ends).map(|place| place + 1);
        let Some(end) = end.or_else(|| (line.len() > LONGEST_LINE).then_some(line.len())) else {
            return;
        };
        let text = String::from_utf8_lossy(&line[..end]).into_owned();
        line.drain(..end);
        let text = self.redactor.scrub(&text).into_owned();
        let text = match self.check {
            None => text,
            Some(_) => match text.split(['\n', '\r']).rfind(|line| !line.trim().is_empty()) {
                Some(last) => format!("{}\n", types::one_line(last, MOST_OF_LAST)),
                None => return,
            },
        };
        let (log, session, call) = (self.log.clone(), self.session, self.call);
        let (check, kind) = (self.check.clone(), DeltaKind::Output);
        self.hub.publish(Delta { log, session, call, check, kind, text });
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
    fn of_a_check_only_the_last_lines_are_shown_however_much_it_prints() {
        let hub = Hub::new();
        let mut deltas = hub.subscribe();
        let check = CheckId { on: types::Subject::Merged, index: 0 };
        let output_capture = output_capture(&hub).of_check(check.clone());
        say(&output_capture, Stream::Output, &vec![b'x'; 2 * 1024 * 1024]);
        say(&output_capture, Stream::Output, b"\none\ntwo\n\n");
        say(&output_capture, Stream::Errors, b"building 1/9\rbuilding \x1b[2J2/9\rbuil");
        let mut next = || deltas.try_recv().expect("a delta");
        let long = next().text;
        assert!(long.chars().count() < 500, "{} characters", long.len());
        let two = next();
        assert_eq!((two.text.as_str(), two.check), ("two\n", Some(check)));
        assert_eq!(next().text, "building [2J2/9\n");
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
