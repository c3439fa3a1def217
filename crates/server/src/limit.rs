//! Limits for each caller. The request rate is limited by a token bucket for each user, and one that all
//! unauthenticated callers share; a stream counts once, when it is opened. The number of concurrent streams is limited
//! for each user.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use types::Timestamp;

/// Number of buckets above which full ones are dropped.
const MOST: usize = 1_024;

#[derive(Debug)]
pub(crate) struct RateLimit {
    /// Sustained requests per second.
    rate: f64,
    /// Maximum burst of requests.
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Timestamp,
}

impl RateLimit {
    pub(crate) fn new(per_second: u32) -> Self {
        let rate = f64::from(per_second.max(1));
        Self { rate, burst: rate * 4.0, buckets: Mutex::default() }
    }

    /// Takes `cost` requests from a caller's bucket, at most a full one. Returns the seconds to wait if the bucket has too few.
    pub(crate) fn take(&self, who: &str, cost: f64, now: Timestamp) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(who) {
            let filled = |bucket: &Bucket| self.filled(*bucket, now) >= self.burst;
            buckets.retain(|_, bucket| !filled(bucket));
        }
        let bucket = buckets.entry(who.to_owned()).or_insert(Bucket { left: self.burst, at: now });
        let left = self.filled(*bucket, now);
        let cost = cost.min(self.burst);
        let fits = left >= cost;
        *bucket = Bucket { left: if fits { left - cost } else { left }, at: now };
        if fits {
            return Ok(());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few seconds"
        )]
        let wait = ((cost - left) / self.rate).ceil().clamp(1.0, 3_600.0) as u64;
        Err(wait)
    }

    fn filled(&self, bucket: Bucket, now: Timestamp) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "an approximation will do")]
        let seconds = (now.millis() - bucket.at.millis()).max(0) as f64 / 1_000.0;
        (bucket.left + seconds * self.rate).min(self.burst)
    }
}

/// Number of open streams, by user.
#[derive(Debug, Clone)]
pub(crate) struct StreamLimit {
    most: usize,
    open: Arc<Mutex<HashMap<String, usize>>>,
}

impl StreamLimit {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, open: Arc::default() }
    }

    /// Opens one more stream of a user, counted until the guard is dropped; `None` if the user has too many.
    pub(crate) fn open(&self, user: &str) -> Option<OpenStream> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(user.to_owned()).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(OpenStream { limit: self.clone(), user: user.to_owned() })
    }
}

/// Guard that counts one open stream.
#[derive(Debug)]
pub(crate) struct OpenStream {
    limit: StreamLimit,
    user: String,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.limit.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_so_many_streams_at_a_time() {
        let limit = StreamLimit::new(2);
        let first = limit.open("ann").expect("a place");
        let second = limit.open("ann").expect("another");
        assert!(limit.open("ann").is_none());
        assert!(limit.open("ben").is_some(), "everybody has their own");
        drop(first);
        assert!(limit.open("ann").is_some(), "the place of one that ended is free");
        drop(second);
        assert!(limit.open.lock().expect("nobody broke it").is_empty());
    }

    #[test]
    fn a_bucket_is_emptied_and_fills_again() {
        let limit = RateLimit::new(1);
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        for _ in 0..4 {
            assert_eq!(limit.take("ann", 1.0, at(0)), Ok(()));
        }
        assert_eq!(limit.take("ann", 1.0, at(0)), Err(1));
        assert_eq!(limit.take("ben", 1.0, at(0)), Ok(()), "everybody has their own");
        assert_eq!(limit.take("ann", 1.0, at(1)), Ok(()));
        assert_eq!(limit.take("ann", 4.0, at(1)), Err(4));
    }
}
