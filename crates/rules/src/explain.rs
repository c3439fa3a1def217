//! Dry run of a request: admission, routing and context selection, each with its rule. A run calls the same functions,
//! so an explanation cannot differ from it.

use types::{Budget, Document, Policy, Request};

use crate::admission::{self, Judged};
use crate::context::{self, Available, Selection};
use crate::reading::Reading;
use crate::routing::{self, Course, Routed};
use crate::{ledger, named_files};

/// The decisions on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    pub admission: Judged,
    /// The route of the text as it is, independent of the admission verdict.
    pub route: Routed,
    pub context: Selection,
    /// Where the first agent may write, in the notation of a plan.
    pub writes: Vec<String>,
}

#[must_use]
pub fn explain(policy: &Policy, request: &Request, documents: &[Document]) -> Explained {
    let budget: Budget = ledger::narrower(policy.budget.limits(), request.budget);
    let reading: Reading = admission::read(policy, request, &request.text, budget);
    let route = routing::choose(policy, &reading);
    let dev = policy.intent.as_ref().map(|intent| &intent.dev);
    let writes = match &route.course {
        Course::To(role) if dev == Some(role) => named_files::places(&request.text),
        // Planners and product agents have no write access.
        _ => vec![],
    };
    let available = Available::of(documents, request.registry.as_deref());
    Explained {
        admission: admission::judge(policy, &reading),
        context: context::choose(policy, &available, &reading, false),
        route,
        writes,
    }
}

#[cfg(test)]
mod tests;
