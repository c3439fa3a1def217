//! Maps the errors of providers to causes: by words that all of them use, then by those of the dialect, then by the
//! status.

use serde_json::Value;
use types::{Fault, Millis};

use crate::faults::Cause;
use crate::json::text;

/// Errors of the Messages API.
pub(crate) fn messages(status: Option<u16>, body: &Value) -> Fault {
    Complaint::of(status, body).fault(|complaint| match complaint.first_word() {
        "authentication_error" => Cause::Authentication,
        "billing_error" => Cause::Quota,
        "permission_error" => Cause::Permission,
        "not_found_error" => Cause::NotFound,
        "request_too_large" => Cause::TooLong,
        "rate_limit_error" => Cause::RateLimit,
        "invalid_request_error" => Cause::InvalidRequest,
        "timeout_error" => Cause::Timeout,
        "overloaded_error" => Cause::Overloaded,
        "api_error" => Cause::Server,
        _ => complaint.by_status(),
    })
}

/// Errors of Chat Completions and Responses servers, of OpenAI and compatible ones. Every server has its own error
/// shape: known words are searched for wherever servers put them, and the status decides if there are none.
pub(crate) fn chat(status: Option<u16>, body: &Value) -> Fault {
    Complaint::of(status, body).fault(|complaint| {
        let known = complaint.words.iter().find_map(|word| match word.as_str() {
            "rate_limit_exceeded"
            | "rate_limit_error"
            | "ratelimitreached"
            | "too_many_requests" => Some(Cause::RateLimit),
            "server_is_overloaded"
            | "slow_down"
            | "overloaded_error"
            | "engine_overloaded_error" => Some(Cause::Overloaded),
            "permission_denied" | "permission_error" => Some(Cause::Permission),
            "not_found_error" => Some(Cause::NotFound),
            "server_error" | "internal_server_error" | "api_error"
                if complaint.status.is_none() =>
            {
                Some(Cause::Server)
            }
            "invalid_request_error" | "invalid_prompt" | "tool_use_failed"
                if complaint.status.is_none_or(|status| status == 400) =>
            {
                Some(Cause::InvalidRequest)
            }
            _ => None,
        });
        known.unwrap_or_else(|| complaint.by_status())
    })
}

/// Errors of the Gemini API. The status in the body is the real one; an exhausted quota is a rate limit unless it is
/// per day, or about billing without a retry delay.
pub(crate) fn gemini(status: Option<u16>, body: &Value) -> Fault {
    let mut complaint = Complaint::of(status, body);
    let details = body.pointer("/error/details").or_else(|| body.pointer("/0/error/details"));
    let details: Vec<&Value> = details.and_then(Value::as_array).into_iter().flatten().collect();
    let delay = details.iter().find_map(|detail| text(detail, "retryDelay"));
    let delay = delay.and_then(|delay| wait_in_text(&format!("retry in {delay}")));
    complaint.wait = delay.or(complaint.wait);
    complaint.fault(|complaint| match complaint.first_word() {
        "resource_exhausted" => {
            let per_day = details.iter().any(|detail| detail.to_string().contains("PerDay"));
            let billing = complaint.says(&["billing"]) && complaint.wait.is_none();
            if per_day || billing { Cause::Quota } else { Cause::RateLimit }
        }
        "unauthenticated" => Cause::Authentication,
        "permission_denied" => Cause::Permission,
        "not_found" => Cause::NotFound,
        "unavailable" => Cause::Overloaded,
        "deadline_exceeded" => Cause::Timeout,
        "internal" | "unknown" => Cause::Server,
        "invalid_argument" | "failed_precondition" | "out_of_range" => Cause::InvalidRequest,
        _ => complaint.by_status(),
    })
}

/// Errors of Ollama, which are only a sentence and a status.
pub(crate) fn ollama(status: Option<u16>, body: &Value) -> Fault {
    Complaint::of(status, body).fault(|complaint| {
        if complaint.says(&["not found, try pulling", "does not exist"]) {
            return Cause::NotFound;
        }
        match complaint.says(&["does not support"]) {
            true => Cause::InvalidRequest,
            false => complaint.by_status(),
        }
    })
}

/// Words and phrases that mean the same with every provider. The first cause that applies counts.
const KNOWN: [(Cause, &[&str], &[&str]); 5] = [
    (
        Cause::Quota,
        &["insufficient_quota", "billing_error", "billing_not_active"],
        &["credit balance", "insufficient quota", "insufficient credits", "billing hard"],
    ),
    (
        Cause::TooLong,
        &["context_length_exceeded", "model_context_window_exceeded"],
        &[
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
        ],
    ),
    (
        Cause::Authentication,
        &["invalid_api_key", "authentication_error"],
        &["incorrect api key", "invalid api key", "api key not valid", "invalid x-api-key"],
    ),
    (
        Cause::NotFound,
        &["model_not_found", "deploymentnotfound", "invalid_model"],
        &["model not found", "is not a valid model"],
    ),
    (
        Cause::Filtered,
        &["content_filter", "content_policy_violation", "responsibleaipolicyviolation"],
        &[],
    ),
];

/// A provider's error, parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Complaint {
    status: Option<u16>,
    /// The provider's type, code and status words, in lower case.
    words: Vec<String>,
    message: String,
    wait: Option<Millis>,
}

impl Complaint {
    /// Parses the value under `error`, or the whole body if there is no such key.
    fn of(status: Option<u16>, body: &Value) -> Self {
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

    fn has_word(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    fn first_word(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    /// Cause implied by the status alone, for errors that a dialect cannot map otherwise.
    fn by_status(&self) -> Cause {
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
    fn by_words(&self) -> Option<Cause> {
        let known = KNOWN.iter().find(|(cause, words, phrases)| {
            // A server that fails may mention the length of a request without blaming it.
            let phrases_count = *cause != Cause::TooLong || self.status.is_none_or(|s| s < 500);
            self.has_word(words) || (phrases_count && self.says(phrases))
        });
        known.map(|(cause, ..)| *cause)
    }

    /// The fault, by what is known of all providers, else by what the dialect knows.
    fn fault(self, by_dialect: impl FnOnce(&Self) -> Cause) -> Fault {
        let cause = self.by_words().unwrap_or_else(|| by_dialect(&self));
        let status = self.status.map_or(String::new(), |status| format!(" (status {status})"));
        let message = if self.message.is_empty() { "no reason given" } else { &self.message };
        let message: String = message.chars().take(2000).collect();
        let what = format!("{}{status}: {message}", headline(cause));
        cause.fault_after(what, self.wait)
    }
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
fn wait_in_text(message: &str) -> Option<Millis> {
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
