//! Maps errors of the Responses API, of OpenAI and of compatible servers, to causes.

use serde_json::Value;
use types::Fault;

use crate::chat::faults::cause;
use crate::faults::Complaint;

pub(crate) fn fault(status: Option<u16>, body: &Value) -> Fault {
    let complaint = Complaint::of(status, body);
    let cause = cause(&complaint);
    complaint.fault(cause)
}
