//! What would become of a request, without a run: admission, routing, documents, each with its rule. The same
//! functions decide in a run, so an explanation and a run cannot differ. `why` explains what was decided in one.

mod clauses;
mod tables;
mod why;

use types::{Budget, Document, Policy, Request};

use crate::context::Available;
use crate::reading::Reading;
use crate::{budget, context, intake, intent, route};

pub use crate::context::Selection;
pub use crate::intake::{Judged, may_insist};
pub use crate::route::{Confidence, Course, Routed};
pub use why::{Given, Looked, Why, decision, is_about, is_decided, place, why};

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
    let budget: Budget = budget::narrower(policy.budget.limits(), request.budget);
    let reading: Reading = intake::read(policy, request, &request.text, budget);
    let route = route::choose(policy, &reading);
    let dev = policy.intent.as_ref().map(|intent| &intent.dev);
    let writes = match &route.course {
        Course::To(role) if dev == Some(role) => intent::places(&request.text),
        // Whoever plans, or says what is wanted, writes nothing.
        _ => vec![],
    };
    let available = Available::of(documents, request.registry.as_deref());
    Explained {
        admission: intake::judge(policy, &reading),
        context: context::select(policy, &available, &reading),
        route,
        writes,
    }
}

#[cfg(test)]
mod tests;
