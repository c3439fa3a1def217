//! What an error of the Responses API means, as OpenAI and the servers that follow it write it.

use serde_json::Value;
use types::Fault;

use crate::chat::faults::cause;
use crate::faults::Complaint;

pub(crate) fn fault(status: Option<u16>, body: &Value) -> Fault {
    let complaint = Complaint::of(status, body);
    let cause = cause(&complaint);
    complaint.fault(cause)
}
