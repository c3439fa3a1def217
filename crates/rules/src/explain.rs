//! What would become of a request, without a run: admission, routing, documents, each with its rule. A run decides with
//! the same functions, so an explanation and a run cannot differ.

use types::{Budget, Document, Policy, Request};

use crate::admission::{self, Judged};
use crate::context::{self, Available, Selection};
use crate::reading::Reading;
use crate::routing::{self, Course, Routed};
use crate::{ledger, named_files};

/// What the rules say of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    pub admission: Judged,
    /// Where the text goes as it stands, whatever admission says of it.
    pub route: Routed,
    pub context: Selection,
    /// Where whoever takes it first may write, as a plan names places.
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
        // Whoever plans, or says what is wanted, writes nothing.
        _ => vec![],
    };
    let available = Available::of(documents, request.registry.as_deref());
    Explained {
        admission: admission::judge(policy, &reading),
        context: context::select(policy, &available, &reading),
        route,
        writes,
    }
}

#[cfg(test)]
mod tests;
