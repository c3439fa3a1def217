//! A limit on the rate of requests: a bucket for each caller that fills steadily, and a smaller one for everybody who has
//! not proved who they are. Streams count once, when they are opened.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use types::Timestamp;

/// The most callers that are remembered; beyond that, full buckets are forgotten.
const MOST: usize = 1_024;

#[derive(Debug)]
pub(crate) struct RateLimit {
    /// Requests a second in the long run.
    rate: f64,
    /// Requests at once.
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

    /// Takes `cost` requests from somebody's bucket; the seconds to wait, if they are not there.
    pub(crate) fn take(&self, who: &str, cost: f64, now: Timestamp) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(who) {
            let filled = |bucket: &Bucket| self.filled(*bucket, now) >= self.burst;
            buckets.retain(|_, bucket| !filled(bucket));
        }
        let bucket = buckets.entry(who.to_owned()).or_insert(Bucket { left: self.burst, at: now });
        let left = self.filled(*bucket, now);
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

#[cfg(test)]
mod tests {
    use super::*;

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
