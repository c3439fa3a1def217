//! Request pacing per provider: limits concurrent calls, and pauses while the provider reports an exhausted
//! limit in the headers of its answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use types::{Millis, Timestamp};

/// Longest wait that headers can impose; beyond it, the provider may as well reject the request.
const LONGEST: Millis = Millis::seconds(60);

/// Pace of one provider, shared by all callers.
#[derive(Debug)]
pub struct Pace {
    slots: Arc<Semaphore>,
    not_before: Mutex<Option<Instant>>,
}

impl Pace {
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(at_once.max(1))), not_before: Mutex::new(None) }
    }

    /// Waits for a slot. Dropping the permit frees it.
    pub(crate) async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so a slot becomes free eventually.
        let place = self.slots.clone().acquire_owned().await.ok();
        let not_before = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moment) = not_before {
            tokio::time::sleep_until(moment).await;
        }
        place
    }

    /// Records the rate limits in an answer's headers.
    pub(crate) fn learn(&self, status: u16, headers: &BTreeMap<String, String>, now: Timestamp) {
        let asked = if status == 429 { retry_after(headers, now) } else { None };
        let Some(wait) = asked.or_else(|| used_up(headers, now)).filter(|wait| *wait <= LONGEST)
        else {
            return;
        };
        let moment = Instant::now() + wait.duration();
        let mut not_before = self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        *not_before = Some(not_before.map_or(moment, |known| known.max(moment)));
    }
}

/// The wait that a server requests: `retry-after-ms`, or `retry-after` as seconds or as a date. Invalid values are
/// ignored. `now` is used if the answer has no `date` header.
pub(crate) fn retry_after(headers: &BTreeMap<String, String>, now: Timestamp) -> Option<Millis> {
    let header = |name: &str| headers.get(name).map(|value| value.trim());
    if let Some(millis) = header("retry-after-ms").and_then(number) {
        return Some(span(millis));
    }
    let value = header("retry-after")?;
    if let Some(seconds) = number(value) {
        return Some(span(seconds * 1_000.0));
    }
    let until = date(value)?;
    let made = header("date").and_then(date).unwrap_or(now);
    Some(until.since(made))
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn span(millis: f64) -> Millis {
    Millis(millis.ceil() as u64)
}

fn date(text: &str) -> Option<Timestamp> {
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Timestamp::from_millis(date.as_millisecond()))
}

/// Time until the limits reset, according to a provider that rejected a request because of them.
pub(crate) fn reset(
    status: u16,
    headers: &BTreeMap<String, String>,
    now: Timestamp,
) -> Option<Millis> {
    if status != 429 {
        return None;
    }
    used_up(headers, now).or_else(|| {
        // Some providers name one reset for all limits: in seconds, as a Unix time, or in the format of the others.
        let value = headers.get("x-ratelimit-reset").or_else(|| headers.get("ratelimit-reset"))?;
        match value.trim().parse::<u64>() {
            Ok(number) if number > 1_000_000_000 => {
                let in_millis = number > 100_000_000_000;
                let millis = if in_millis { number } else { number.saturating_mul(1_000) };
                let moment = i64::try_from(millis).unwrap_or(i64::MAX);
                Some(Timestamp::from_millis(moment).since(now))
            }
            Ok(seconds) => Some(Millis::seconds(seconds)),
            Err(_) => moment_or_span(value, now),
        }
    })
}

/// Time until requests or tokens are available again, if none are left.
fn used_up(headers: &BTreeMap<String, String>, now: Timestamp) -> Option<Millis> {
    let names = [
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
        ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
        ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
        ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ];
    let waits = names.iter().filter_map(|(remaining, reset)| {
        let none_left = headers.get(*remaining).is_some_and(|left| left.trim() == "0");
        if none_left { moment_or_span(headers.get(*reset)?, now) } else { None }
    });
    waits.max()
}

/// Parses a point in time, `2026-11-15T06:00:00Z`, or a duration: `6m0s`, `1.5s`, `20ms`.
fn moment_or_span(text: &str, now: Timestamp) -> Option<Millis> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp::from_millis(moment.as_millisecond()).since(now));
    }
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let length = unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
        sum += number
            * match &unit[..length] {
                "ms" => 1.0,
                "s" => 1_000.0,
                "m" => 60_000.0,
                "h" => 3_600_000.0,
                _ => return None,
            };
        rest = &unit[length..];
    }
    (!text.is_empty()).then(|| span(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_asks_while_nothing_is_left() {
        let pace = Pace::new(4);
        let none = headers(&[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "12s"),
        ]);
        pace.learn(200, &none, Timestamp::default());
        let before = Instant::now();
        let _place = pace.enter().await;
        assert_eq!(before.elapsed().as_secs(), 12);
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_ask_at_once() {
        let pace = Arc::new(Pace::new(1));
        let first = pace.enter().await;
        let waiting = tokio::spawn({
            let pace = pace.clone();
            async move { pace.enter().await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        assert!(waiting.await.expect("no panic"));
    }

    #[test]
    fn a_refused_request_is_told_when_the_limit_resets() {
        let now = Timestamp::from_millis(1_793_855_428_000);
        let wait = |pairs: &[(&str, &str)]| reset(429, &headers(pairs), now).map(|wait| wait.0);
        let tokens = "anthropic-ratelimit-input-tokens";
        let (left, at) = (format!("{tokens}-remaining"), format!("{tokens}-reset"));
        assert_eq!(wait(&[(&left, "0"), (&at, "2026-11-05T05:20:28Z")]), Some(600_000));
        assert_eq!(wait(&[("x-ratelimit-reset", "90")]), Some(90_000));
        assert_eq!(wait(&[("x-ratelimit-reset", "1793855438")]), Some(10_000));
        assert_eq!(wait(&[("x-ratelimit-reset", "1793855448000")]), Some(20_000));
        assert_eq!(wait(&[("x-ratelimit-reset", "2m")]), Some(120_000));
        assert_eq!(reset(500, &headers(&[("x-ratelimit-reset", "90")]), now), None);
    }

    #[test]
    fn the_times_that_providers_write_are_understood() {
        let now = Timestamp::from_millis(1_793_855_428_000);
        for (text, wait) in [
            ("6m0s", Some(360_000)),
            ("1.5s", Some(1_500)),
            ("20ms", Some(20)),
            ("2026-11-05T05:10:30Z", Some(2_000)),
            ("2020-01-01T00:00:00Z", Some(0)),
            ("soon", None),
            ("", None),
            ("5", None),
        ] {
            assert_eq!(moment_or_span(text, now), wait.map(Millis), "{text}");
        }
    }

    fn wait_for(pairs: &[(&str, &str)]) -> Option<u64> {
        let headers = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        retry_after(&headers, Timestamp::from_millis(1_445_412_478_000)).map(|span| span.0)
    }

    /// A93: Retry-After in seconds and as a date.
    #[test]
    fn seconds_milliseconds_and_dates_are_understood() {
        assert_eq!(wait_for(&[("retry-after", "7")]), Some(7_000));
        assert_eq!(wait_for(&[("retry-after", "1.5")]), Some(1_500));
        assert_eq!(wait_for(&[("retry-after-ms", "250"), ("retry-after", "9")]), Some(250));
        // The clock of the test is two seconds before this date.
        assert_eq!(wait_for(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), Some(2_000));
        let date = ("date", "Wed, 21 Oct 2015 07:27:55 GMT");
        assert_eq!(
            wait_for(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), date]),
            Some(5_000)
        );
    }

    #[test]
    fn the_past_is_now_and_nonsense_is_nothing() {
        assert_eq!(wait_for(&[("retry-after", "Wed, 21 Oct 2009 07:28:00 GMT")]), Some(0));
        for nonsense in ["soon", "-5", "", "NaN", "inf", "Wed, 99 Oct"] {
            assert_eq!(wait_for(&[("retry-after", nonsense)]), None, "{nonsense:?}");
        }
        assert_eq!(wait_for(&[]), None);
    }
}
