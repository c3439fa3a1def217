//! What would become of a request, without a run: admission, routing, documents, each with its rule. The same
//! functions decide in a run, so an explanation and a run cannot differ. `why` explains what was decided in one.

mod clauses;
mod tables;
mod why;

use types::{Budget, Document, Policy, Request};

use crate::reading::Reading;
use crate::{budget, context, intake, route};

pub use crate::context::Selection;
pub use crate::intake::Judged;
pub use crate::route::{Confidence, Course, Routed};
pub use why::{Given, Looked, Why, decision, is_about, is_decided, place, why};

/// What the rules say of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    pub admission: Judged,
    /// Where the text goes as it stands, whatever admission says of it.
    pub route: Routed,
    pub context: Selection,
}

#[must_use]
pub fn explain(policy: &Policy, request: &Request, documents: &[Document]) -> Explained {
    let budget: Budget = budget::narrower(policy.budget.limits(), request.budget);
    let reading: Reading = intake::read(policy, request, &request.text, budget);
    Explained {
        admission: intake::judge(policy, &reading),
        route: route::choose(policy, &reading),
        context: context::select(policy, documents, &reading),
    }
}

#[cfg(test)]
mod tests;
