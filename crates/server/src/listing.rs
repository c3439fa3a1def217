//! The list of all runs and sessions, cached between requests. It holds stored summaries: only changed ones are read
//! again, and all of them after a restart.

use std::sync::Arc;

use runtime::{Bosun, Entry, Error, Overview};
use tokio::sync::Mutex;

/// The list as it was last read.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    read: Mutex<Overview>,
}

impl Listing {
    /// All runs and sessions, newest first.
    pub(crate) async fn entries(&self, bosun: &Bosun) -> Result<Arc<Vec<Entry>>, Error> {
        bosun.refresh(&mut *self.read.lock().await).await
    }
}
