//! Properties that must be true for any bytes from a server: nothing panics, the stream ends once, and neither
//! events nor items depend on chunk boundaries. Called by the fuzz targets and by tests; not a public API.

use bytes::Bytes;
use types::StreamItem;

use crate::frames::{Framing, Reader};
use crate::{Dialect, decode_stream, decode_whole};

/// Events are the same whether the bytes come at once or in small pieces.
pub fn frames_do_not_depend_on_the_cut(bytes: &[u8]) {
    for framing in [Framing::ServerSent, Framing::Lines] {
        let whole = frames(framing, pieces(bytes, bytes.len()));
        assert_eq!(frames(framing, pieces(bytes, size(bytes))), whole, "in pieces");
    }
}

/// An answer ends in one reply or one fault, the same for every chunking, and the pieces add up to the reply.
pub fn answer_is_read(dialect: Dialect, bytes: &[u8]) {
    let items = decode_stream(dialect, pieces(bytes, bytes.len()));
    ends_once(&items);
    // A server that starts over midway has sent pieces that are not in the reply.
    if memchr::memmem::find_iter(bytes, "message_start").count() < 2 {
        adds_up(&items);
    }
    assert_eq!(decode_stream(dialect, pieces(bytes, size(bytes))), items, "in pieces");
    ends_once(&decode_whole(dialect, bytes));
    let status = bytes.first().map_or(500, |first| 400 + u16::from(*first));
    assert!(dialect.fault(status, bytes).code.starts_with("model."), "a fault of a model");
}

fn ends_once(items: &[StreamItem]) {
    let last = |item: &StreamItem| matches!(item, StreamItem::Finished(_) | StreamItem::Failed(_));
    assert!(items.last().is_some_and(last), "the last item ends it");
    assert_eq!(items.iter().filter(|item| last(item)).count(), 1, "it ends once");
}

fn adds_up(items: &[StreamItem]) {
    let Some(StreamItem::Finished(reply)) = items.last() else { return };
    let text: String = items
        .iter()
        .filter_map(|item| match item {
            StreamItem::Text(piece) => Some(piece.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, reply.text(), "the pieces of the text");
    let started =
        items.iter().filter(|item| matches!(item, StreamItem::CallStarted { .. })).count();
    let ended = items.iter().filter(|item| matches!(item, StreamItem::CallEnded { .. })).count();
    assert_eq!(started, ended, "every call that starts ends");
    assert_eq!(started, reply.calls().count(), "the calls");
}

/// Size of the pieces: from one byte to a few lines, derived from the bytes themselves so that every size is exercised.
fn size(bytes: &[u8]) -> usize {
    let sum = bytes.iter().fold(0_usize, |sum, byte| sum.wrapping_add(usize::from(*byte)));
    1 + sum % 97
}

fn pieces(bytes: &[u8], size: usize) -> Vec<Bytes> {
    bytes.chunks(size.max(1)).map(Bytes::copy_from_slice).collect()
}

/// The events, and the code of the fault that they end in.
fn frames(framing: Framing, pieces: Vec<Bytes>) -> (Vec<String>, Option<String>) {
    let mut reader = Reader::new(framing);
    let mut events = vec![];
    let mut each = |text: &str| events.push(text.to_owned());
    for piece in pieces {
        if let Err(fault) = reader.read(&piece, &mut each) {
            return (events, Some(fault.code));
        }
    }
    reader.end(&mut each);
    (events, None)
}

/// A script parses or is rejected.
pub fn script(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    drop(crate::Script::parse(text));
}

/// A file of models or of settings parses or is rejected, and a parsed catalogue can be queried.
pub fn models(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    drop(crate::Settings::parse(text));
    let Ok(catalogue) = crate::Catalogue::parse(text) else { return };
    for (name, _) in catalogue.list() {
        let Ok(model) = name.parse() else { continue };
        assert_eq!(catalogue.dearest(&model), catalogue.dearest(&model));
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// The files below a folder.
    fn below(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("recordings");
        let paths = entries.map(|entry| entry.expect("a file").path());
        paths.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_recording_is_read_as_the_fuzz_targets_demand() {
        let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
        for dialect in Dialect::ALL {
            let mut streams = 0;
            for path in below(&recordings.join(dialect.as_str())) {
                let text = std::fs::read(&path).expect("a file");
                let Ok(recorded) = serde_json::from_slice::<serde_json::Value>(&text) else {
                    continue;
                };
                let body = recorded["response"]["body"].as_str().unwrap_or_default();
                if body.len() < 50_000 {
                    answer_is_read(dialect, body.as_bytes());
                    frames_do_not_depend_on_the_cut(body.as_bytes());
                    streams += 1;
                }
            }
            assert!(streams > 0, "recordings of {dialect:?}");
        }
    }
}
