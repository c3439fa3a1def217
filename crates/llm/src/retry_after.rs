//! Parses the wait that a server requests: `retry-after-ms`, or `retry-after` as seconds or as a date.
//! Invalid values are ignored.

use std::collections::BTreeMap;

use types::{Millis, Timestamp};

/// The wait requested by the headers. `now` is used if the answer has no `date` header.
pub(crate) fn wait(headers: &BTreeMap<String, String>, now: Timestamp) -> Option<Millis> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_for(pairs: &[(&str, &str)]) -> Option<u64> {
        let headers = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        wait(&headers, Timestamp::from_millis(1_445_412_478_000)).map(|span| span.0)
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
