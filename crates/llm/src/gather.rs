//! Collects a stream of items into one reply. The reply is the one in the last item; nothing is
//! assembled a second time, so a plain call and a streamed one cannot disagree.

use futures::StreamExt;
use futures::stream::BoxStream;
use types::{Fault, ModelReply, StreamItem};

use crate::faults::Cause;

/// Reads the stream to its end, passes each item to `on_item`, and returns the reply or the fault.
pub async fn gather(
    mut stream: BoxStream<'static, StreamItem>,
    mut on_item: impl FnMut(&StreamItem),
) -> Result<ModelReply, Fault> {
    while let Some(item) = stream.next().await {
        on_item(&item);
        match item {
            StreamItem::Finished(reply) => return Ok(*reply),
            StreamItem::Failed(fault) => return Err(fault),
            _ => {}
        }
    }
    Err(Cause::BrokenStream.fault("the model's reply ended in the middle; nothing of it was used"))
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use types::{FaultClass, StopReason, Usage};

    use super::*;

    fn reply() -> ModelReply {
        ModelReply::new(vec![], StopReason::End, Usage::default(), None)
    }

    #[tokio::test]
    async fn the_reply_is_the_one_in_the_last_item() {
        let items = vec![StreamItem::Text("a".to_owned()), StreamItem::Finished(Box::new(reply()))];
        let mut seen = 0;
        let got = gather(futures::stream::iter(items).boxed(), |_| seen += 1).await;
        assert_eq!(got, Ok(reply()));
        assert_eq!(seen, 2);
    }

    #[tokio::test]
    async fn a_stream_without_a_last_item_is_a_structural_fault() {
        let items = vec![StreamItem::Started, StreamItem::Text("half".to_owned())];
        let fault = gather(futures::stream::iter(items).boxed(), |_| {}).await.expect_err("broken");
        assert_eq!(
            (fault.class, fault.code.as_str()),
            (FaultClass::Structural, "model.broken_stream")
        );
    }
}
