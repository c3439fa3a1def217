//! Maps Messages API errors to causes.

use serde_json::Value;
use types::Fault;

use crate::faults::{Cause, Complaint};

pub(crate) fn fault(status: Option<u16>, body: &Value) -> Fault {
    let complaint = Complaint::of(status, body);
    let cause = complaint.by_words().unwrap_or_else(|| {
        match complaint.words.first().map_or("", String::as_str) {
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
        }
    });
    complaint.fault(cause)
}
