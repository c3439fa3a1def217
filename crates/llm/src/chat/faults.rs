//! Maps errors of Chat Completions servers to causes. Every server has its own error shape: known words
//! are searched for wherever servers put them, and the status decides if there are none.

use serde_json::Value;
use types::Fault;

use crate::faults::{Cause, Complaint};

pub(crate) fn fault(status: Option<u16>, body: &Value) -> Fault {
    let complaint = Complaint::of(status, body);
    let cause = cause(&complaint);
    complaint.fault(cause)
}

pub(crate) fn cause(complaint: &Complaint) -> Cause {
    if let Some(cause) = complaint.by_words() {
        return cause;
    }
    let known = complaint.words.iter().find_map(|word| match word.as_str() {
        "rate_limit_exceeded" | "rate_limit_error" | "ratelimitreached" | "too_many_requests" => {
            Some(Cause::RateLimit)
        }
        "server_is_overloaded" | "slow_down" | "overloaded_error" | "engine_overloaded_error" => {
            Some(Cause::Overloaded)
        }
        "permission_denied" | "permission_error" => Some(Cause::Permission),
        "not_found_error" => Some(Cause::NotFound),
        "server_error" | "internal_server_error" | "api_error" if complaint.status.is_none() => {
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
}
