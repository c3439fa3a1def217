//! Admission: accepts a request, refuses it, or returns it with questions. Ordered rules decide by its text, budget and
//! project type. Independent of models and runs.

use types::{Admission, AdmissionRule, Budget, Decision, Policy, Request, RuleId};

use crate::condition::{found, holds, over_money, over_time, over_tokens};
use crate::reading::Reading;

/// The policy's word list for complex requests, and the estimate for those in percent of the usual one.
const COMPLEX: (&str, u64) = ("complex", 150);
/// The first word of an answer that insists on the request instead of changing it.
pub const INSIST: &str = "insist";

/// The verdict of the admission rules on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub verdict: Admission,
    pub decision: Decision,
    /// The questions, if the verdict is to ask.
    pub questions: Vec<String>,
    /// Whether the person who started the run may override the verdict.
    pub insist: bool,
}

/// Reads a request, with its budget and an estimate of its cost.
#[must_use]
pub fn read(policy: &Policy, request: &Request, text: &str, budget: Budget) -> Reading {
    let mut reading = Reading::of_request(request, text, budget);
    let (tokens, seconds) = estimate(policy, &reading);
    reading.facts.estimate = tokens;
    reading.facts.estimate_seconds = seconds;
    reading
}

/// Judges a request by the first admission rule that matches.
#[must_use]
pub fn judge(policy: &Policy, reading: &Reading) -> Judged {
    let insists = reading.facts.insists.as_ref().filter(|_| policy.insist);
    let mut overruled = Vec::new();
    let mut rules = policy.admission.iter().filter(|rule| holds(&rule.when, policy, reading));
    let rule = rules.find(|rule| {
        let gives_way = insists.is_some() && rule.insist && rule.verdict != Admission::Accept;
        overruled.extend(gives_way.then_some(*rule));
        !gives_way
    });
    let Some(rule) = rule else {
        let reason =
            "no admission rule matches this request; the last rule of a policy must always match";
        let decision = Decision::new(RuleId::fixed("intake.no_rule"), reason);
        return Judged { verdict: Admission::Refuse, decision, questions: vec![], insist: false };
    };
    let mut decision = match insists {
        Some(why) if rule.verdict == Admission::Accept && !overruled.is_empty() => {
            let decision = Decision::new(RuleId::fixed("intake.insisted"), insisted(why));
            overruled.iter().fold(decision, |decision, rule| {
                decision.seeing(format!("{}: {}", rule.id, rule.reason))
            })
        }
        _ => Decision::new(rule.id.clone(), reason(rule, policy, reading)),
    };
    decision = decision.seeing(format!("{} words", reading.words().len()));
    if reading.passed_over > 0 {
        decision =
            decision.seeing(format!("{} bytes in the middle were not read", reading.passed_over));
    }
    if let Some(estimate) = reading.facts.estimate {
        decision = decision.seeing(format!("estimated {estimate} tokens"));
    }
    let questions = match rule.verdict {
        Admission::Ask if rule.questions.is_empty() => vec![rule.reason.clone()],
        Admission::Ask => rule.questions.clone(),
        Admission::Accept | Admission::Refuse => vec![],
    };
    Judged { verdict: rule.verdict, decision, questions, insist: policy.insist && rule.insist }
}

fn insisted(why: &str) -> String {
    let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
    format!("the person who started the run insists: {why}")
}

/// The reason given in an answer that insists.
#[must_use]
pub fn insists(answer: &str) -> Option<&str> {
    let (word, rest) = answer.split_at_checked(INSIST.len())?;
    // `Insist on TLS` is an ordinary answer.
    let reason = if rest.trim().is_empty() { Some("") } else { rest.strip_prefix(':') };
    reason.filter(|_| word.eq_ignore_ascii_case(INSIST)).map(str::trim)
}

/// A rule's reason, with the numbers or names that it is about.
fn reason(rule: &AdmissionRule, policy: &Policy, reading: &Reading) -> String {
    let facts = &reading.facts;
    if rule.when.over_budget == Some(true) {
        let over = |what: &str, (estimate, most): (u64, u64)| {
            format!("estimated {estimate} {what}, budget {most} {what}")
        };
        let tokens = over_tokens(reading).map(|over_by| over("tokens", over_by));
        let time = over_time(reading).map(|over_by| over("seconds", over_by));
        let money = over_money(reading)
            .map(|(estimate, most)| format!("estimated ${estimate}, budget ${most}"));
        let numbers: Vec<String> = tokens.into_iter().chain(time).chain(money).collect();
        return format!("{}: {}", rule.reason, numbers.join("; "));
    }
    if let (Some(false), Some(named)) = (rule.when.known_project_type, &facts.project_type) {
        let known: Vec<&str> =
            policy.project_types.iter().map(|known| known.name.as_str()).collect();
        let named: String = named.chars().take(40).collect();
        return format!("{}: {named:?} is not one of {}", rule.reason, known.join(", "));
    }
    rule.reason.clone()
}

/// The estimate of tokens and seconds for the request's type; a named type takes precedence over one that the text
/// suggests.
fn estimate(policy: &Policy, reading: &Reading) -> (Option<u64>, Option<u64>) {
    let prose = reading.prose();
    let named = reading.facts.project_type.as_ref();
    let named =
        named.and_then(|name| policy.project_types.iter().find(|known| known.name == *name));
    let of_type = named.or_else(|| {
        policy.project_types.iter().find(|known| {
            known.any_phrase.is_empty() || found(&known.any_phrase, &[], &policy.words, &prose)
        })
    });
    let Some(of_type) = of_type else { return (None, None) };
    let (list, percent) = COMPLEX;
    let complex = policy.words.contains_key(list)
        && found(&[format!("<{list}>")], &[], &policy.words, &prose);
    let whole = |of_type: u64| {
        if complex { of_type.saturating_mul(percent) / 100 } else { of_type }
    };
    (Some(whole(of_type.tokens)), of_type.seconds.map(whole))
}
