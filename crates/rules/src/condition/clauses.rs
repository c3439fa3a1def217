//! The clauses of a condition, one for each thing it names, and whether each holds for a request. A condition holds if
//! and only if all of its clauses do.

use types::{Condition, Policy};

use super::opposed::opposed;
use super::{found, nothing_but, over_budget, together};
use crate::phrase::places;
use crate::reading::Reading;

/// How many patterns are listed.
const FEW: usize = 3;
/// How many words of a text are shown where a pattern was found.
const AROUND: usize = 6;

/// One clause of a condition.
#[derive(Debug)]
pub struct Clause {
    pub holds: bool,
    pub says: String,
}

/// Takes a clause: whether it holds, and what it says, each computed on demand. Returns whether to go on.
type Take<'a> = &'a mut dyn FnMut(&dyn Fn() -> bool, &dyn Fn() -> String) -> bool;

/// Whether a condition holds: everything it names must. An invalid pattern matches nothing; a policy with one is
/// refused when it is loaded.
#[must_use]
pub fn holds(condition: &Condition, policy: &Policy, reading: &Reading) -> bool {
    each(condition, policy, reading, &mut |holds, _| holds())
}

/// The clauses of a condition, in the order in which people write them. None for an empty condition, which always
/// holds.
#[must_use]
pub fn clauses(condition: &Condition, policy: &Policy, reading: &Reading) -> Vec<Clause> {
    let mut all = Vec::new();
    each(condition, policy, reading, &mut |holds, says| {
        all.push(Clause { holds: holds(), says: says() });
        true
    });
    all
}

/// Takes the clauses of a condition in order; returns whether all were taken.
fn each(condition: &Condition, policy: &Policy, reading: &Reading, take: Take<'_>) -> bool {
    of_facts(condition, policy, reading, take) && of_text(condition, policy, reading, take)
}

fn of_facts(condition: &Condition, policy: &Policy, reading: &Reading, take: Take<'_>) -> bool {
    let facts = &reading.facts;
    let words = reading.words().len();
    let not = |wanted: bool| if wanted { "" } else { "not " };
    condition.fewer_words_than.is_none_or(|limit| {
        take(&|| words < limit, &|| format!("fewer than {limit} words; it has {words}"))
    }) && condition.hint.is_none_or(|hint| {
        take(&|| facts.hint == Some(hint), &|| {
            let said = facts.hint.map_or_else(|| "none".to_owned(), |hint| format!("{hint:?}"));
            format!("the hint is {hint:?}; given: {said}")
        })
    }) && condition.attached.is_none_or(|wanted| {
        let says = if wanted { "it has attachments" } else { "it has no attachments" };
        take(&|| facts.attached == wanted, &|| says.to_owned())
    }) && condition.over_budget.is_none_or(|wanted| {
        let number = |n: Option<u64>| n.map_or_else(|| "none".to_owned(), |n| n.to_string());
        take(&|| over_budget(reading) == wanted, &|| {
            format!(
                "the estimate is {}above the budget; tokens {}, budget {}; seconds {}, budget {}",
                not(wanted),
                number(facts.estimate),
                number(facts.tokens),
                number(facts.estimate_seconds),
                number(facts.seconds)
            )
        })
    }) && condition.known_project_type.is_none_or(|wanted| {
        let named = facts.project_type.as_deref();
        let is_known = |name: &str| policy.project_types.iter().any(|known| known.name == name);
        take(&|| named.is_some_and(|name| is_known(name) == wanted), &|| {
            let (not, given) = (not(wanted), named.unwrap_or("none"));
            format!("the given project type is {not}known; given: {given}")
        })
    }) && condition.about_code.is_none_or(|wanted| {
        let says = if wanted { "it mentions code" } else { "it does not mention code" };
        take(&|| reading.is_about_code() == wanted, &|| says.to_owned())
    })
}

fn of_text(condition: &Condition, policy: &Policy, reading: &Reading, take: Take<'_>) -> bool {
    let lists = &policy.words;
    let Condition { mentions, nothing_but: only, any_phrase: any, also_phrase: also, .. } =
        condition;
    let Condition { unless_before: before, together: combined, opposed: pairs, .. } = condition;
    let unless = &condition.unless_phrase;
    (mentions.is_empty()
        || take(&|| mentions.iter().any(|mention| reading.mentions(*mention)), &|| {
            let words: Vec<String> =
                mentions.iter().map(|one| format!("{one:?}").to_lowercase()).collect();
            format!("it mentions any of: {}", words.join(", "))
        }))
        && (only.is_empty()
            || take(&|| nothing_but(only, lists, reading), &|| {
                format!("it contains nothing but {}", few(only))
            }))
        && (any.is_empty()
            || take(&|| found(any, before, lists, reading), &|| {
                let excused =
                    if before.is_empty() { "" } else { ", not preceded by an exempting phrase" };
                format!("it contains {}{excused}{}", few(any), where_found(any, policy, reading))
            }))
        && (also.is_empty()
            || take(&|| found(also, &[], lists, reading), &|| {
                format!("it also contains {}{}", few(also), where_found(also, policy, reading))
            }))
        && (combined.is_empty()
            || take(&|| together(combined, before, lists, reading), &|| {
                let parts: Vec<String> = combined.iter().map(|parts| parts.join(" + ")).collect();
                format!("it contains, close together, {}", few(&parts))
            }))
        && (pairs.is_empty()
            || take(&|| opposed(pairs, lists, reading), &|| {
                let pairs: Vec<String> = pairs.iter().map(|pair| pair.join(" and ")).collect();
                format!("it says about the same thing {}", few(&pairs))
            }))
        && (unless.is_empty()
            || take(&|| !found(unless, &[], lists, reading), &|| {
                let place = where_found(unless, policy, reading);
                format!("it does not contain {}{place}", few(unless))
            }))
}

fn few(patterns: &[String]) -> String {
    let shown: Vec<String> = patterns.iter().take(FEW).map(|text| format!("{text:?}")).collect();
    match patterns.len().saturating_sub(FEW) {
        0 => shown.join(" or "),
        more => format!("one of {} and {more} more", shown.join(", ")),
    }
}

/// The first match, with the words there.
fn where_found(patterns: &[String], policy: &Policy, reading: &Reading) -> String {
    let first = patterns
        .iter()
        .find_map(|pattern| Some((pattern, *places(pattern, &policy.words, reading).first()?)));
    let Some((pattern, place)) = first else { return String::new() };
    let words = reading.words().iter().skip(place).take(AROUND);
    let words: Vec<&str> = words.map(|word| word.text.as_str()).collect();
    format!("; {pattern:?} matches at \"{}\"", words.join(" "))
}
