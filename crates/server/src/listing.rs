//! The list of all runs and sessions, held between requests. It is a cache of stored summaries: only what changed is read
//! again, and after a restart everything is.

use std::sync::Arc;

use runtime::{Bosun, Entry, Error, Overview};
use tokio::sync::Mutex;

/// The list as it was last read.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    read: Mutex<Overview>,
}

impl Listing {
    /// All runs and sessions, the newest first.
    pub(crate) async fn entries(&self, bosun: &Bosun) -> Result<Arc<Vec<Entry>>, Error> {
        bosun.refresh(&mut *self.read.lock().await).await
    }
}
