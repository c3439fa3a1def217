//! The list of all runs and sessions, held between requests and brought up to date by what the journal's feed says has
//! changed. It is a cache: whatever is in it was read from stored summaries, and is read again after a restart.

use runtime::{Bosun, Entry, Error};
use tokio::sync::Mutex;

/// The list as it was last read.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    read: Mutex<Vec<Entry>>,
}

impl Listing {
    /// All runs and sessions, the newest first.
    pub(crate) async fn entries(&self, bosun: &Bosun) -> Result<Vec<Entry>, Error> {
        let mut read = self.read.lock().await;
        *read = bosun.overview(false).await?;
        Ok(read.clone())
    }
}
