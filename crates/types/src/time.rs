//! Points in time and durations, as data. There is no clock here: the time is passed in.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, to the millisecond, written as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    millis: i64,
}

impl Timestamp {
    /// The day, such as 2026-10-01.
    #[must_use]
    pub fn date(self) -> String {
        self.to_string().chars().take_while(|c| *c != 'T').collect()
    }

    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self { millis }
    }

    #[must_use]
    pub const fn millis(self) -> i64 {
        self.millis
    }

    #[must_use]
    pub const fn after(self, span: Millis) -> Self {
        Self { millis: self.millis.saturating_add_unsigned(span.0) }
    }

    /// The time since `earlier`; zero if the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> Millis {
        Millis(u64::try_from(self.millis.saturating_sub(earlier.millis)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.millis) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => write!(f, "{}ms", self.millis),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self { millis: time.as_millisecond() })
    }
}

/// A duration in whole milliseconds; in JSON and TOML a plain number, in a key that ends in `_ms`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<Duration> for Millis {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (minutes, seconds) = (self.0 / 60_000, self.0 % 60_000 / 1_000);
        match self.0 {
            ms @ 0..1_000 => write!(f, "{ms} ms"),
            ms @ 1_000..60_000 => write!(f, "{seconds}.{} s", ms % 1_000 / 100),
            60_000..3_600_000 => write!(f, "{minutes} min {seconds:02} s"),
            _ => write!(f, "{} h {:02} min {seconds:02} s", minutes / 60, minutes % 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_as_utc_with_milliseconds() {
        let time = Timestamp::from_millis(1_793_855_428_123);
        let text = serde_json::to_string(&time).expect("a string");
        assert_eq!(text, "\"2026-11-05T05:10:28.123Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&text).expect("the same"), time);
    }

    #[test]
    fn a_clock_that_went_backwards_gives_no_negative_span() {
        let (early, late) = (Timestamp::from_millis(1), Timestamp::from_millis(5));
        assert_eq!(early.since(late), Millis(0));
        assert_eq!(late.since(early), Millis(4));
    }

    #[test]
    fn a_span_is_written_from_its_largest_unit_down_to_seconds() {
        for (span, text) in [
            (999, "999 ms"),
            (59_999, "59.9 s"),
            (3_599_999, "59 min 59 s"),
            (3_600_000, "1 h 00 min 00 s"),
            (121_145_000, "33 h 39 min 05 s"),
        ] {
            assert_eq!(Millis(span).to_string(), text);
        }
    }
}
