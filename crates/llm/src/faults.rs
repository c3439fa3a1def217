//! Causes of model failures. Each cause has a class for the rules, a code for programs, and says whether a retry
//! can help. The dialects map providers' answers to causes.

use serde_json::Value;
use types::{Fault, FaultClass, Millis, Retry};

/// Why a model did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    Authentication,
    Permission,
    NotFound,
    InvalidRequest,
    TooLong,
    Filtered,
    Quota,
    RateLimit,
    Overloaded,
    Server,
    Timeout,
    Connection,
    BrokenStream,
    BadReply,
}

impl Cause {
    pub const ALL: [Self; 14] = [
        Self::Authentication,
        Self::Permission,
        Self::NotFound,
        Self::InvalidRequest,
        Self::TooLong,
        Self::Filtered,
        Self::Quota,
        Self::RateLimit,
        Self::Overloaded,
        Self::Server,
        Self::Timeout,
        Self::Connection,
        Self::BrokenStream,
        Self::BadReply,
    ];

    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Authentication => "model.authentication",
            Self::Permission => "model.permission",
            Self::NotFound => "model.not_found",
            Self::InvalidRequest => "model.invalid_request",
            Self::TooLong => "model.context_too_long",
            Self::Filtered => "model.content_filter",
            Self::Quota => "model.quota",
            Self::RateLimit => "model.rate_limit",
            Self::Overloaded => "model.overloaded",
            Self::Server => "model.server",
            Self::Timeout => "model.timeout",
            Self::Connection => "model.connection",
            Self::BrokenStream => "model.broken_stream",
            Self::BadReply => "model.bad_reply",
        }
    }

    /// The cause named by a fault's code.
    #[must_use]
    pub fn of(fault: &Fault) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.code() == fault.code)
    }

    #[must_use]
    pub const fn class(self) -> FaultClass {
        match self {
            // Only a person can obtain a key, a permission or a model.
            Self::Authentication | Self::Permission | Self::NotFound => FaultClass::Person,
            Self::InvalidRequest => FaultClass::Bug,
            Self::TooLong | Self::Quota => FaultClass::Resource,
            Self::Filtered => FaultClass::Semantic,
            Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::Timeout
            | Self::Connection => FaultClass::Transient,
            Self::BrokenStream | Self::BadReply => FaultClass::Structural,
        }
    }

    /// Whether the same request may succeed a moment later.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self.class(), FaultClass::Transient) || matches!(self, Self::BrokenStream)
    }

    /// Whether the cause reflects on the provider, and not only on our request.
    #[must_use]
    pub const fn blames_provider(self) -> bool {
        self.passes() || matches!(self, Self::BadReply)
    }

    #[must_use]
    pub fn fault(self, what: impl Into<String>) -> Fault {
        let retry = if self.passes() { Retry::Now } else { Retry::Never };
        Fault::new(self.class(), self.code(), what).retry(retry)
    }

    /// The fault, with the wait requested by the provider.
    #[must_use]
    pub fn fault_after(self, what: impl Into<String>, wait: Option<Millis>) -> Fault {
        let fault = self.fault(what);
        match wait {
            Some(wait) if self.passes() => fault.retry(Retry::After(wait)),
            _ => fault,
        }
    }
}

/// A provider's error, parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) status: Option<u16>,
    /// The provider's type, code and status words, in lower case.
    pub(crate) words: Vec<String>,
    pub(crate) message: String,
    pub(crate) wait: Option<Millis>,
}

impl Complaint {
    /// Parses the value under `error`, or the whole body if there is no such key.
    pub(crate) fn of(status: Option<u16>, body: &Value) -> Self {
        let body = match body {
            Value::Array(items) => items.first().unwrap_or(&Value::Null),
            other => other,
        };
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let words = [error.get("type"), error.get("code"), error.get("status"), body.get("code")];
        let words = words.into_iter().flatten().filter_map(Value::as_str).map(str::to_lowercase);
        let sentence = error.get("message").or(error.get("detail")).or(body.get("message"));
        let message = match (error, sentence) {
            (Value::String(text), _) | (_, Some(Value::String(text))) => text.clone(),
            _ => String::new(),
        };
        // Gateways put the status of the upstream provider into the body.
        let inner = [error.get("code"), error.get("status"), body.get("status")];
        let inner = inner.into_iter().flatten().filter_map(Value::as_u64);
        let inner =
            inner.filter_map(|code| u16::try_from(code).ok()).find(|c| *c >= 400 && *c < 600);
        let status = match status {
            Some(400..) => status,
            _ => inner,
        };
        let wait = wait_in_text(&message);
        Self { status, words: words.collect(), message, wait }
    }

    pub(crate) fn has_word(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    pub(crate) fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    /// Cause implied by the status alone, for errors that a dialect cannot map otherwise.
    pub(crate) fn by_status(&self) -> Cause {
        match self.status {
            Some(401) => Cause::Authentication,
            Some(402) => Cause::Quota,
            Some(403) => Cause::Permission,
            Some(404) => Cause::NotFound,
            Some(408) => Cause::Timeout,
            // The provider was busy with another request of ours.
            Some(409) => Cause::Server,
            Some(413) => Cause::TooLong,
            Some(429) => Cause::RateLimit,
            Some(503 | 529) => Cause::Overloaded,
            Some(504) => Cause::Timeout,
            Some(500..) => Cause::Server,
            Some(400..) => Cause::InvalidRequest,
            _ => Cause::Server,
        }
    }

    /// Cause implied by words and phrases common to all providers.
    pub(crate) fn by_words(&self) -> Option<Cause> {
        const TOO_LONG: &[&str] = &[
            "prompt is too long",
            "prompt too long",
            "context length",
            "context_length",
            "context window",
            "maximum context",
            "too many tokens",
            "token limit reached",
            "exceeds the maximum number of tokens",
            "input token count",
            "input is too long",
            "reduce the length",
        ];
        if self.says(&[
            "credit balance",
            "insufficient quota",
            "insufficient credits",
            "billing hard",
        ]) || self.has_word(&["insufficient_quota", "billing_error", "billing_not_active"])
        {
            return Some(Cause::Quota);
        }
        if self.has_word(&["context_length_exceeded", "model_context_window_exceeded"])
            || (self.status.is_none_or(|status| status < 500) && self.says(TOO_LONG))
        {
            return Some(Cause::TooLong);
        }
        if self.says(&[
            "incorrect api key",
            "invalid api key",
            "api key not valid",
            "invalid x-api-key",
        ]) || self.has_word(&["invalid_api_key", "authentication_error"])
        {
            return Some(Cause::Authentication);
        }
        if self.has_word(&["model_not_found", "deploymentnotfound", "invalid_model"])
            || self.says(&["model not found", "is not a valid model"])
        {
            return Some(Cause::NotFound);
        }
        if self.has_word(&[
            "content_filter",
            "content_policy_violation",
            "responsibleaipolicyviolation",
        ]) {
            return Some(Cause::Filtered);
        }
        None
    }

    pub(crate) fn fault(self, cause: Cause) -> Fault {
        let status = self.status.map_or(String::new(), |status| format!(" (status {status})"));
        let message = if self.message.is_empty() { "no reason given" } else { &self.message };
        let message: String = message.chars().take(2000).collect();
        let what = format!("{}{status}: {message}", headline(cause));
        cause.fault_after(what, self.wait)
    }
}

/// Fault for a reply that asks for something that was not offered and cannot be answered. Dropping that part would
/// leave the model waiting for a result that never comes.
pub(crate) fn unsupported(what: &str, name: Option<&str>) -> Fault {
    let name = name.map(|name| format!(" of {name:?}")).unwrap_or_default();
    Cause::BadReply.fault(format!("the reply holds {what}{name}, which is not supported"))
}

const fn headline(cause: Cause) -> &'static str {
    match cause {
        Cause::Authentication => "the provider does not accept the key; check it",
        Cause::Permission => "the key may not use this",
        Cause::NotFound => "the provider has no such model or address",
        Cause::InvalidRequest => "the provider does not accept the request",
        Cause::TooLong => "the request is too large for the model",
        Cause::Filtered => "the provider's filter stopped it",
        Cause::Quota => "the provider's quota is used up",
        Cause::RateLimit => "the provider's rate limit is reached",
        Cause::Overloaded => "the provider is overloaded",
        Cause::Server => "the provider failed",
        Cause::Timeout => "the provider ran out of time",
        Cause::Connection => "the provider cannot be reached",
        Cause::BrokenStream => "the reply ended in the middle",
        Cause::BadReply => "the provider's reply makes no sense",
    }
}

/// Parses the wait from `try again in 1.5s`, `retry in 48.9s`, `try again in 20ms`, `retry in 2m`.
pub(crate) fn wait_in_text(message: &str) -> Option<Millis> {
    let lower = message.to_lowercase();
    let at = ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|phrase| lower.find(phrase).map(|at| at + phrase.len()))?;
    let rest = &lower[at..];
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(digits);
    let number: f64 = number.trim_end_matches('.').parse().ok()?;
    let unit = unit.trim_start();
    let millis = if unit.starts_with("ms") || unit.starts_with("milli") {
        number
    } else if unit.starts_with('m') {
        number * 60_000.0
    } else {
        number * 1_000.0
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to fit")]
    (0.0..1e12).contains(&millis).then(|| Millis(millis.ceil() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_own_code_and_is_found_by_it() {
        for cause in Cause::ALL {
            assert_eq!(Cause::of(&cause.fault("x")), Some(cause));
        }
    }

    #[test]
    fn what_a_retry_cannot_cure_is_never_retried() {
        for cause in [Cause::Authentication, Cause::Quota, Cause::TooLong, Cause::InvalidRequest] {
            assert_eq!(cause.fault_after("x", Some(Millis(5))).retry, Retry::Never);
        }
        assert_eq!(
            Cause::RateLimit.fault_after("x", Some(Millis(5))).retry,
            Retry::After(Millis(5))
        );
    }

    #[test]
    fn waiting_times_are_read_from_sentences() {
        for (text, wait) in [
            ("Please try again in 1.5s", Some(1500)),
            ("Please retry in 48.939935699s.", Some(48_940)),
            ("try again in 20ms", Some(20)),
            ("Try again in 2m", Some(120_000)),
            ("try again in a while", None),
            ("try again in 99999999999999999999s", None),
        ] {
            assert_eq!(wait_in_text(text), wait.map(Millis), "{text}");
        }
    }
}
