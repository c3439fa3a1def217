//! AWS event streams: a checksummed frame around each event. They are converted to the server-sent events of the
//! model's own dialect, so that later stages see no difference.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Buf as _, Bytes, BytesMut};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use serde_json::Value;
use types::Fault;

use crate::faults::Cause;

/// Size of the prelude before the headers: lengths and their checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;
/// Maximum size of a frame.
const MOST: usize = 32 << 20;

/// Content type that identifies such a stream.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// Converts a stream to server-sent events.
pub(crate) fn as_server_sent(
    bytes: BoxStream<'static, Result<Bytes, Fault>>,
) -> BoxStream<'static, Result<Bytes, Fault>> {
    let state = Some((bytes, BytesMut::new()));
    stream::unfold(state, |state| async move {
        let (mut bytes, mut buffer) = state?;
        loop {
            match frame(&mut buffer) {
                Ok(Some(frame)) => match event(&frame) {
                    Ok(None) => {}
                    Ok(Some(event)) => return Some((Ok(event), Some((bytes, buffer)))),
                    Err(fault) => return Some((Err(fault), None)),
                },
                Ok(None) => match bytes.next().await {
                    Some(Ok(chunk)) => buffer.extend_from_slice(&chunk),
                    Some(Err(fault)) => return Some((Err(fault), None)),
                    None if buffer.is_empty() => return None,
                    None => {
                        let what = "the event stream ended in the middle of a frame";
                        return Some((Err(Cause::BrokenStream.fault(what)), None));
                    }
                },
                Err(what) => return Some((Err(Cause::BrokenStream.fault(what)), None)),
            }
        }
    })
    .boxed()
}

/// Headers and payload of one frame.
struct Frame {
    headers: Vec<(String, String)>,
    payload: Bytes,
}

/// Takes the next complete frame off the buffer.
fn frame(buffer: &mut BytesMut) -> Result<Option<Frame>, &'static str> {
    if buffer.len() < PRELUDE {
        return Ok(None);
    }
    let mut prelude = &buffer[..PRELUDE];
    let (total, headers) = (prelude.get_u32() as usize, prelude.get_u32() as usize);
    if prelude.get_u32() != crc32(&buffer[..8]) {
        return Err("the checksum of a frame's beginning is wrong");
    }
    if total > MOST || total < PRELUDE + headers + CHECKSUM {
        return Err("the length of a frame is wrong");
    }
    if buffer.len() < total {
        return Ok(None);
    }
    let mut frame = buffer.split_to(total).freeze();
    let mut sum = &frame[total - CHECKSUM..];
    if sum.get_u32() != crc32(&frame[..total - CHECKSUM]) {
        return Err("the checksum of a frame is wrong");
    }
    frame.advance(PRELUDE);
    let head = frame.split_to(headers);
    frame.truncate(frame.len() - CHECKSUM);
    Ok(Some(Frame { headers: texts(head)?, payload: frame }))
}

/// Returns the text headers; no others are used.
fn texts(mut bytes: Bytes) -> Result<Vec<(String, String)>, &'static str> {
    const SHORT: &str = "the headers of a frame are cut short";
    let mut found = vec![];
    let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
    while !bytes.is_empty() {
        let length = usize::from(bytes.get_u8());
        if bytes.len() < length + 1 {
            return Err(SHORT);
        }
        let name = text(bytes.split_to(length));
        let kind = bytes.get_u8();
        let size = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            6 | 7 if bytes.len() >= 2 => usize::from(bytes.get_u16()),
            9 => 16,
            _ => return Err(SHORT),
        };
        if bytes.len() < size {
            return Err(SHORT);
        }
        let value = bytes.split_to(size);
        if kind == 7 {
            found.push((name, text(value)));
        }
    }
    Ok(found)
}

/// Returns the event in a frame. An exception becomes the fault that it names.
fn event(frame: &Frame) -> Result<Option<Bytes>, Fault> {
    let header = |name: &str| {
        let found = frame.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    let payload: Value = serde_json::from_slice(&frame.payload).unwrap_or_default();
    if let Some(kind) = header(":exception-type").or(header(":error-code")) {
        let said = payload["message"].as_str().or(header(":error-message")).unwrap_or_default();
        let cause = match kind {
            "throttlingException" => Cause::RateLimit,
            "validationException" => Cause::InvalidRequest,
            "modelTimeoutException" => Cause::Timeout,
            "serviceUnavailableException" => Cause::Overloaded,
            _ => Cause::Server,
        };
        return Err(cause.fault(format!("{kind}: {said}")));
    }
    let Some(inner) = payload["bytes"].as_str() else { return Ok(None) };
    let inner = STANDARD
        .decode(inner)
        .map_err(|_| Cause::BadReply.fault("a frame's bytes are no base64"))?;
    let mut event = BytesMut::from(&b"data: "[..]);
    // An event is one line of JSON; line breaks between its tokens are insignificant.
    event.extend(
        inner.into_iter().map(|byte| if byte == b'\n' || byte == b'\r' { b' ' } else { byte }),
    );
    event.extend_from_slice(b"\n\n");
    Ok(Some(event.freeze()))
}

/// CRC-32 as used by Ethernet and gzip.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |mut sum: u32, byte: &u8| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
        }
        sum
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
        let mut head = vec![];
        for (name, value) in headers {
            head.push(u8::try_from(name.len()).expect("short"));
            head.extend_from_slice(name.as_bytes());
            head.push(7);
            head.extend_from_slice(&u16::try_from(value.len()).expect("short").to_be_bytes());
            head.extend_from_slice(value.as_bytes());
        }
        let total = u32::try_from(PRELUDE + head.len() + payload.len() + CHECKSUM).expect("short");
        let mut frame = total.to_be_bytes().to_vec();
        frame.extend_from_slice(&u32::try_from(head.len()).expect("short").to_be_bytes());
        frame.extend_from_slice(&crc32(&frame).to_be_bytes());
        frame.extend_from_slice(&head);
        frame.extend_from_slice(payload);
        frame.extend_from_slice(&crc32(&frame).to_be_bytes());
        frame
    }

    fn chunk(json: &str) -> Vec<u8> {
        let payload = format!("{{\"bytes\":\"{}\"}}", STANDARD.encode(json));
        framed(&[(":event-type", "chunk"), (":message-type", "event")], payload.as_bytes())
    }

    async fn read(bytes: Vec<u8>, cut: usize) -> Vec<Result<Bytes, Fault>> {
        let pieces: Vec<Result<Bytes, Fault>> =
            bytes.chunks(cut).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        as_server_sent(stream::iter(pieces).boxed()).collect().await
    }

    #[test]
    fn the_checksum_is_the_published_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[tokio::test]
    async fn events_come_out_the_same_from_any_cut() {
        let bytes = [chunk("{\"type\":\"a\"}"), chunk("{\"type\":\n\"b\"}")].concat();
        for cut in [1, 7, 64, 4096] {
            let events = read(bytes.clone(), cut).await;
            let events: Vec<Bytes> = events.into_iter().map(|e| e.expect("an event")).collect();
            assert_eq!(events, ["data: {\"type\":\"a\"}\n\n", "data: {\"type\": \"b\"}\n\n"]);
        }
    }

    #[tokio::test]
    async fn damage_exceptions_and_a_cut_stream_are_faults() {
        let mut damaged = chunk("{}");
        let last = damaged.len() - 6;
        damaged[last] ^= 1;
        let fault = read(damaged, 64).await.pop().expect("an item").expect_err("damaged");
        assert_eq!(fault.code, Cause::BrokenStream.code());
        let whole = chunk("{}");
        let cut = read(whole[..whole.len() - 1].to_vec(), 64).await;
        assert_eq!(cut[0].as_ref().expect_err("cut").code, Cause::BrokenStream.code());
        let thrown = framed(
            &[(":message-type", "exception"), (":exception-type", "throttlingException")],
            b"{\"message\":\"slow down\"}",
        );
        let fault = read(thrown, 64).await.pop().expect("an item").expect_err("thrown");
        assert_eq!(fault.code, Cause::RateLimit.code());
        assert!(fault.what.contains("slow down"), "{}", fault.what);
    }
}
