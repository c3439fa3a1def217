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

/// The clauses of a condition, in the order in which people write them. None for an empty condition, which always
/// holds.
#[must_use]
pub fn clauses(condition: &Condition, policy: &Policy, reading: &Reading) -> Vec<Clause> {
    let mut all = of_facts(condition, policy, reading);
    all.extend(of_text(condition, policy, reading));
    all
}

fn of_facts(condition: &Condition, policy: &Policy, reading: &Reading) -> Vec<Clause> {
    let facts = &reading.facts;
    let clause = |holds: bool, says: String| Some(Clause { holds, says });
    let words = reading.words().len();
    let fewer = condition.fewer_words_than.and_then(|limit| {
        clause(words < limit, format!("fewer than {limit} words; it has {words}"))
    });
    let hint = condition.hint.and_then(|hint| {
        let said = facts.hint.map_or_else(|| "none".to_owned(), |hint| format!("{hint:?}"));
        clause(facts.hint == Some(hint), format!("the hint is {hint:?}; given: {said}"))
    });
    let attached = condition.attached.and_then(|wanted| {
        let says = if wanted { "it has attachments" } else { "it has no attachments" };
        clause(facts.attached == wanted, says.to_owned())
    });
    let over = condition.over_budget.and_then(|wanted| {
        let number = |n: Option<u64>| n.map_or_else(|| "none".to_owned(), |n| n.to_string());
        let not = if wanted { "" } else { "not " };
        let says = format!(
            "the estimate is {not}above the budget; tokens {}, budget {}; seconds {}, budget {}",
            number(facts.estimate),
            number(facts.tokens),
            number(facts.estimate_seconds),
            number(facts.seconds)
        );
        clause(over_budget(reading) == wanted, says)
    });
    let known = condition.known_project_type.and_then(|wanted| {
        let named = facts.project_type.as_deref();
        let is_known = |name: &str| policy.project_types.iter().any(|known| known.name == name);
        let not = if wanted { "" } else { "not " };
        let says =
            format!("the given project type is {not}known; given: {}", named.unwrap_or("none"));
        clause(named.is_some_and(|name| is_known(name) == wanted), says)
    });
    let code = condition.about_code.and_then(|wanted| {
        let says = if wanted { "it mentions code" } else { "it does not mention code" };
        clause(reading.is_about_code() == wanted, says.to_owned())
    });
    [fewer, hint, attached, over, known, code].into_iter().flatten().collect()
}

fn of_text(condition: &Condition, policy: &Policy, reading: &Reading) -> Vec<Clause> {
    let lists = &policy.words;
    let mut all = Vec::new();
    let mut clause = |named: bool, holds: &dyn Fn() -> bool, says: &dyn Fn() -> String| {
        if named {
            all.push(Clause { holds: holds(), says: says() });
        }
    };
    let mentions = &condition.mentions;
    clause(
        !mentions.is_empty(),
        &|| mentions.iter().any(|mention| reading.mentions(*mention)),
        &|| {
            let words: Vec<String> =
                mentions.iter().map(|one| format!("{one:?}").to_lowercase()).collect();
            format!("it mentions any of: {}", words.join(", "))
        },
    );
    let only = &condition.nothing_but;
    clause(!only.is_empty(), &|| nothing_but(only, lists, reading), &|| {
        format!("it contains nothing but {}", few(only))
    });
    let (any, before) = (&condition.any_phrase, &condition.unless_before);
    clause(!any.is_empty(), &|| found(any, before, lists, reading), &|| {
        let excused = if before.is_empty() { "" } else { ", not preceded by an exempting phrase" };
        format!("it contains {}{excused}{}", few(any), where_found(any, policy, reading))
    });
    let also = &condition.also_phrase;
    clause(!also.is_empty(), &|| found(also, &[], lists, reading), &|| {
        format!("it also contains {}{}", few(also), where_found(also, policy, reading))
    });
    let combined = &condition.together;
    clause(!combined.is_empty(), &|| together(combined, before, lists, reading), &|| {
        let combined: Vec<String> = combined.iter().map(|parts| parts.join(" + ")).collect();
        format!("it contains, close together, {}", few(&combined))
    });
    let pairs = &condition.opposed;
    clause(!pairs.is_empty(), &|| opposed(pairs, lists, reading), &|| {
        let pairs: Vec<String> = pairs.iter().map(|pair| pair.join(" and ")).collect();
        format!("it says about the same thing {}", few(&pairs))
    });
    let unless = &condition.unless_phrase;
    clause(!unless.is_empty(), &|| !found(unless, &[], lists, reading), &|| {
        format!("it does not contain {}{}", few(unless), where_found(unless, policy, reading))
    });
    all
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
