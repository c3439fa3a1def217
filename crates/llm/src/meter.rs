//! Usage of replies that broke off: the tokens sent, and those received until then. Providers charge for them and
//! seldom count them, so most of it is an estimate, and is marked as such. Complete replies are counted elsewhere.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use types::{Fault, ModelRequest, StreamItem, Usage, Used};

use crate::{Catalogue, estimate};

/// Adds the usage of one more try that yielded no reply.
pub(crate) fn add(sum: &mut Option<Box<Used>>, more: Option<Box<Used>>) {
    *sum = match (sum.take(), more) {
        (Some(sum), Some(more)) => Some(Box::new(sum.plus(*more))),
        (sum, more) => sum.or(more),
    };
}

/// Passes on the items of one reply; a fault midway also gets the usage so far.
pub(crate) fn metered(
    items: BoxStream<'static, StreamItem>,
    catalogue: Arc<Catalogue>,
    request: Arc<ModelRequest>,
) -> BoxStream<'static, StreamItem> {
    let mut meter = Meter { catalogue, request, begun: false, characters: 0 };
    items.map(move |item| meter.see(item)).boxed()
}

struct Meter {
    catalogue: Arc<Catalogue>,
    request: Arc<ModelRequest>,
    begun: bool,
    characters: u64,
}

impl Meter {
    fn see(&mut self, item: StreamItem) -> StreamItem {
        match &item {
            StreamItem::Started => self.begun = true,
            StreamItem::Text(piece)
            | StreamItem::Thinking(piece)
            | StreamItem::CallArguments { json: piece, .. } => {
                self.begun = true;
                self.characters = self.characters.saturating_add(piece.chars().count() as u64);
            }
            _ => {}
        }
        match item {
            StreamItem::Failed(fault) if self.begun => StreamItem::Failed(self.charged(fault)),
            StreamItem::Failed(fault) => StreamItem::Failed(Fault { used: None, ..fault }),
            item => item,
        }
    }

    fn charged(&self, mut fault: Fault) -> Fault {
        let counted = fault.used.map(|used| used.usage).unwrap_or_default();
        let input = match counted.input {
            0 => estimate::estimate_input(&self.request),
            counted => counted,
        };
        // A count reported midway covers only the tokens up to then, and may lag behind.
        let output = counted.output.max(estimate::tokens(self.characters));
        let usage = Usage { input, output, ..counted };
        let cost = self.catalogue.cost(&self.request.model, usage);
        fault.used = Some(Box::new(Used { usage, cost, estimated: true }));
        fault
    }
}
