//! Requests that may keep a processor busy: whatever reads a caller's script, plan or long goal. They run on threads of
//! their own, a few at a time for each user, so that the threads that answer requests stay free for others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Number of such requests of one user that are worked on at a time; others wait.
const AT_A_TIME: usize = 2;

/// Whose turn it is, by user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns(Arc<Mutex<HashMap<String, Arc<Semaphore>>>>);

impl Turns {
    /// Waits for a turn of a user; it ends when the permit is dropped.
    pub(crate) async fn take(&self, user: &str) -> Option<OwnedSemaphorePermit> {
        let turns = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // A permit, and whoever waits for one, holds the semaphore.
            all.retain(|_, turns| Arc::strong_count(turns) > 1);
            let new = || Arc::new(Semaphore::new(AT_A_TIME));
            all.entry(user.to_owned()).or_insert_with(new).clone()
        };
        turns.acquire_owned().await.ok()
    }
}

/// Performs work in a turn, away from the threads that answer requests. It goes on if the caller disconnects, and keeps
/// the turn until it ends.
pub(crate) async fn apart<T: Send + 'static>(
    turn: Option<OwnedSemaphorePermit>,
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    let (runtime, work) = (Handle::current(), Box::pin(work));
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        runtime.block_on(work)
    });
    done.await.map_err(|error| Problem::internal(&error))?
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_user_waits_for_their_own_requests_and_for_no_others() {
        let turns = Turns::default();
        let mut taken = Vec::new();
        for _ in 0..AT_A_TIME {
            taken.push(turns.take("ann").now_or_never().expect("a turn"));
        }
        let mut next = pin!(turns.take("ann"));
        assert!(next.as_mut().now_or_never().is_none(), "all turns are taken");
        let other = turns.take("ben").now_or_never().expect("others have their own");
        taken.pop();
        let next = next.now_or_never().expect("the turn of one that ended");
        drop((taken, other, next));
        drop(turns.take("cid").await);
        assert_eq!(turns.0.lock().expect("nobody broke it").len(), 1, "of whoever came last");
    }
}
