//! Maps Ollama errors to causes; an error is only a sentence and a status.

use serde_json::Value;
use types::Fault;

use crate::faults::{Cause, Complaint};

pub(crate) fn fault(status: Option<u16>, body: &Value) -> Fault {
    let complaint = Complaint::of(status, body);
    let cause = match complaint.by_words() {
        Some(cause) => cause,
        None if complaint.says(&["not found, try pulling", "does not exist"]) => Cause::NotFound,
        None if complaint.says(&["does not support"]) => Cause::InvalidRequest,
        None => complaint.by_status(),
    };
    complaint.fault(cause)
}
