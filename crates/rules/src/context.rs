//! Context selection: which documents the agents are given. A rule decides on every available document and is recorded.
//! An agent never gets the whole registry: rules that would allow that are refused.

use types::{ContextRule, Decision, Document, Inclusion, Policy, RuleId, Selected, Side, WorkPath};

use crate::front_matter::FrontMatter;
use crate::looked::Looked;
use crate::reading::Reading;

/// The folder of a project's registry.
const REGISTRY: &str = "context";

/// The decision on each document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub included: Vec<Selected>,
    pub excluded: Vec<Selected>,
    /// Why the selection may not be used.
    pub refused: Option<Decision>,
}

impl Selection {
    /// The documents for an agent on this side.
    pub fn given(&self, side: Side) -> impl Iterator<Item = &Selected> {
        self.included.iter().filter(move |selected| selected.side.is_none_or(|only| only == side))
    }
}

/// The documents to choose from.
#[derive(Debug)]
pub struct Available<'a> {
    documents: Vec<&'a Document>,
    /// References of the request to missing documents.
    missing: Vec<&'a WorkPath>,
}

impl<'a> Available<'a> {
    /// The documents that the request names, or all.
    #[must_use]
    pub fn of(documents: &'a [Document], registry: Option<&'a [WorkPath]>) -> Self {
        let Some(registry) = registry else {
            return Self { documents: documents.iter().collect(), missing: vec![] };
        };
        let is_there = |path: &&WorkPath| documents.iter().any(|one| one.path == **path);
        Self {
            documents: documents.iter().filter(|one| registry.contains(&one.path)).collect(),
            missing: registry.iter().filter(|path| !is_there(path)).collect(),
        }
    }
}

/// Selects documents; `again` if an agent found an earlier selection insufficient, which enables further rules.
#[must_use]
pub fn choose(
    policy: &Policy,
    available: &Available<'_>,
    reading: &Reading,
    again: bool,
) -> Selection {
    let mut selection = Selection::default();
    for path in &available.missing {
        let rule = RuleId::fixed("context.no_document");
        selection.excluded.push(Selected { path: (*path).clone(), rule, side: None });
    }
    for document in &available.documents {
        let front_matter = FrontMatter::of(&document.text);
        let rule = asked(policy, again).find(|rule| covers(rule, document, &front_matter, reading));
        let (list, rule, side) = match rule {
            Some(rule) if rule.verdict == Inclusion::Include => {
                (&mut selection.included, rule.id.clone(), rule.side)
            }
            Some(rule) => (&mut selection.excluded, rule.id.clone(), None),
            None => (&mut selection.excluded, RuleId::fixed("context.no_rule"), None),
        };
        list.push(Selected { path: document.path.clone(), rule, side });
    }
    selection.refused = whole_registry(policy, &available.documents, &selection);
    selection
}

/// The rules that apply.
fn asked(policy: &Policy, again: bool) -> impl Iterator<Item = &ContextRule> {
    policy.context.iter().filter(move |rule| again || !rule.again)
}

/// The result of each rule for each document, up to the first match; the same rules as in `choose`.
#[must_use]
pub fn look(policy: &Policy, available: &Available<'_>, text: &str, again: bool) -> Vec<Looked> {
    let reading = Reading::of_text(text);
    let mut looked = Vec::new();
    for document in &available.documents {
        let front_matter = FrontMatter::of(&document.text);
        for rule in asked(policy, again) {
            let misses = misses(rule, document, &front_matter, &reading);
            let matched = misses.is_empty();
            looked.push(Looked {
                about: Some(document.path.to_string()),
                rule: rule.id.clone(),
                says: if rule.verdict == Inclusion::Include { "include" } else { "exclude" }
                    .to_owned(),
                matched,
                because: if matched { vec![rule.reason.clone()] } else { misses },
            });
            if matched {
                break;
            }
        }
    }
    looked
}

/// Why a rule does not match a document.
fn misses(
    rule: &ContextRule,
    document: &Document,
    front_matter: &FrontMatter,
    reading: &Reading,
) -> Vec<String> {
    let only = |change: &dyn Fn(&mut ContextRule)| {
        let (paths, kinds, status) = (vec![], vec![], vec![]);
        let mut only =
            ContextRule { paths, kinds, status, about_the_request: None, ..rule.clone() };
        change(&mut only);
        !covers(&only, document, front_matter, reading)
    };
    let says = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let mut misses = Vec::new();
    if only(&|only| only.paths.clone_from(&rule.paths)) {
        misses.push(format!("applies only to {}", rule.paths.join(", ")));
    }
    if only(&|only| only.kinds.clone_from(&rule.kinds)) {
        let (kind, wanted) = (says(&front_matter.kind), rule.kinds.join(" or "));
        misses.push(format!("the document's kind is {kind}, not {wanted}"));
    }
    if only(&|only| only.status.clone_from(&rule.status)) {
        let (status, wanted) = (says(&front_matter.status), rule.status.join(" or "));
        misses.push(format!("the document's status is {status}, not {wanted}"));
    }
    if only(&|only| only.about_the_request = rule.about_the_request) {
        let domains = match front_matter.domains.as_slice() {
            [] => "everything".to_owned(),
            domains => domains.join(", "),
        };
        let wanted = rule.about_the_request == Some(true);
        let mentions = if wanted { "does not mention" } else { "mentions" };
        misses.push(format!("the request {mentions} the document's domains: {domains}"));
    }
    misses
}

/// Whether a path lies in the registry, which agents see only by selection.
#[must_use]
pub fn is_of_registry(path: &str) -> bool {
    path.strip_prefix(REGISTRY).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// The refusal of rules that would include a whole registry.
fn whole_registry(
    policy: &Policy,
    documents: &[&Document],
    selection: &Selection,
) -> Option<Decision> {
    let all = documents.iter().filter(|document| is_of_registry(document.path.as_str())).count();
    let whole = |side: Side| {
        selection.given(side).filter(|given| is_of_registry(given.path.as_str())).count() == all
    };
    if all <= policy.limits.whole_registry || !(whole(Side::Product) || whole(Side::Dev)) {
        return None;
    }
    let reason = format!(
        "the rules would give an agent all {all} documents of the registry; give the documents kinds, statuses or \
         domains by which the rules can select"
    );
    Some(Decision::new(RuleId::fixed("context.whole_registry"), reason))
}

fn covers(
    rule: &ContextRule,
    document: &Document,
    front_matter: &FrontMatter,
    reading: &Reading,
) -> bool {
    let is_one = |of: &[String], value: Option<&str>| {
        of.is_empty() || value.is_some_and(|value| of.iter().any(|one| one == value))
    };
    let path = document.path.as_str();
    (rule.paths.is_empty() || rule.paths.iter().any(|start| path.starts_with(start.as_str())))
        && is_one(&rule.kinds, front_matter.kind.as_deref())
        && is_one(&rule.status, front_matter.status.as_deref())
        && rule.about_the_request.is_none_or(|wanted| front_matter.concerns(reading) == wanted)
}
