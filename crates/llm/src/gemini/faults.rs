//! Maps Gemini API errors to causes. The status in the body is the real one; an exhausted quota is a rate
//! limit unless it is per day, or about billing without a retry delay.

use serde_json::Value;
use types::{Fault, Millis};

use crate::faults::{Cause, Complaint};
use crate::json::text;

pub(crate) fn fault(status: Option<u16>, body: &Value) -> Fault {
    let mut complaint = Complaint::of(status, body);
    let details = body.pointer("/error/details").or_else(|| body.pointer("/0/error/details"));
    let details: Vec<&Value> = details.and_then(Value::as_array).into_iter().flatten().collect();
    if let Some(wait) =
        details.iter().find_map(|detail| text(detail, "retryDelay")).and_then(seconds)
    {
        complaint.wait = Some(wait);
    }
    let cause = cause(&complaint, &details);
    complaint.fault(cause)
}

fn cause(complaint: &Complaint, details: &[&Value]) -> Cause {
    if let Some(cause) = complaint.by_words() {
        return cause;
    }
    match complaint.words.first().map_or("", String::as_str) {
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
    }
}

fn seconds(text: &str) -> Option<Millis> {
    crate::faults::wait_in_text(&format!("retry in {text}"))
}
