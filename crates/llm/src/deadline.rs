//! Deadlines of every call: connecting, first byte, gap between bytes, total. All use the runtime's
//! clock, which tests can control.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};
use types::{Fault, Millis, Retry, StreamItem};

use crate::faults::Cause;

/// Time limits for the parts of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Deadlines {
    pub connect_ms: Millis,
    /// From the request to the first line of the answer.
    pub first_byte_ms: Millis,
    /// Longest gap between bytes of an answer.
    pub idle_ms: Millis,
    pub total_ms: Millis,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect_ms: Millis::seconds(15),
            first_byte_ms: Millis::seconds(180),
            idle_ms: Millis::seconds(120),
            total_ms: Millis::seconds(1_800),
        }
    }
}

pub(crate) fn no_first_byte(limit: Millis) -> Fault {
    Cause::Timeout.fault(format!("the server did not begin to answer in time ({limit})"))
}

/// Ends the bytes with a fault if they pause for too long.
pub(crate) fn without_long_gaps(
    bytes: BoxStream<'static, Result<Bytes, Fault>>,
    idle: Millis,
) -> BoxStream<'static, Result<Bytes, Fault>> {
    let watched = stream::unfold(Some(bytes), move |bytes| async move {
        let mut bytes = bytes?;
        match timeout(idle.duration(), bytes.next()).await {
            Ok(chunk) => chunk.map(|chunk| (chunk, Some(bytes))),
            Err(_) => {
                let what = format!("the reply was silent for too long a time ({idle})");
                Some((Err(Cause::Timeout.fault(what)), None))
            }
        }
    });
    watched.boxed()
}

/// Ends the items with a fault if the whole call takes too long.
pub(crate) fn within(
    items: BoxStream<'static, StreamItem>,
    total: Millis,
) -> BoxStream<'static, StreamItem> {
    let state = (items, None::<Instant>, false);
    let watched = stream::unfold(state, move |(mut items, end, over)| async move {
        if over {
            return None;
        }
        let end = end.unwrap_or_else(|| Instant::now() + total.duration());
        match timeout_at(end, items.next()).await {
            Ok(item) => item.map(|item| (item, (items, Some(end), false))),
            Err(_) => {
                let what = format!("the whole call took too long a time ({total})");
                // The time budget is spent; none is left for another try.
                let failed = StreamItem::Failed(Cause::Timeout.fault(what).retry(Retry::Never));
                Some((failed, (items, Some(end), true)))
            }
        }
    });
    watched.boxed()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn chunk() -> Result<Bytes, Fault> {
        Ok(Bytes::from_static(b"x"))
    }

    /// A92: timeouts.
    #[tokio::test(start_paused = true)]
    async fn thirty_seconds_of_silence_end_in_a_fault_and_not_in_a_hang() {
        let bytes = stream::iter([chunk()]).chain(stream::pending()).boxed();
        let begin = Instant::now();
        let read: Vec<_> = without_long_gaps(bytes, Millis::seconds(30)).collect().await;
        assert_eq!(begin.elapsed(), Duration::from_secs(30));
        assert_eq!(read[0], chunk());
        assert_eq!(read[1].as_ref().expect_err("silence").code, "model.timeout");
        assert_eq!(read.len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_that_keep_coming_do_not_go_on_for_ever() {
        let every = Duration::from_secs(20);
        let clock = tokio::time::interval_at(Instant::now() + every, every);
        let slow = stream::unfold(clock, |mut clock| async {
            clock.tick().await;
            Some((StreamItem::Text("k".to_owned()), clock))
        });
        let items: Vec<_> = within(slow.boxed(), Millis::seconds(110)).collect().await;
        assert_eq!(items.len(), 6, "five pieces and the end");
        let Some(StreamItem::Failed(fault)) = items.last() else { panic!("{items:?}") };
        assert_eq!((fault.code.as_str(), fault.retry), ("model.timeout", Retry::Never));
    }
}
