//! Computed properties of a plan: totals, risks and strategy, regardless of the planner's claims.

use std::fmt::Write as _;

use types::{
    Budget, Impact, Millis, Money, Plan, Policy, Probability, Request, Risk, Severity, Spend,
    Strategy, Totals,
};

use crate::condition::found;
use crate::dag;
use crate::reading::Reading;

/// The ids of computed risks; a planner's own are numbered after them.
const COMPUTED: [&str; 3] = ["RISK-001", "RISK-002", "RISK-003"];
/// The number of consecutive tasks that makes a long chain.
const LONG_CHAIN: u64 = 5;
/// A time budget below which only the critical path is pursued.
const SHORT: Millis = Millis::seconds(180);
/// The policy's word lists for unproven technology and for research.
const EXPERIMENTAL: &str = "experimental";
const RESEARCH: &str = "research";

/// The budget left for a plan, and the spending before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headroom {
    pub left: Budget,
    pub spent: Spend,
}

/// The plan with its totals, risks and strategy.
#[must_use]
pub fn complete(policy: &Policy, request: &Request, mut plan: Plan, room: &Headroom) -> Plan {
    let order = dag::order(&dag::shape(&plan.tasks)).unwrap_or_default();
    let totals = totals(policy, &plan, &order, room);
    let text = words_of(request, &plan);
    let says = |list: &str| {
        policy.words.contains_key(list) && found(&[format!("<{list}>")], &[], &policy.words, &text)
    };
    let mut risks = computed(&totals, room, says(EXPERIMENTAL));
    let own = std::mem::take(&mut plan.risks);
    risks.extend(own.into_iter().filter(|risk| !COMPUTED.contains(&risk.id.as_str())));
    for (place, risk) in risks.iter_mut().enumerate().filter(|(_, risk)| risk.id.is_empty()) {
        risk.id = format!("RISK-{:03}", 101 + place);
    }
    plan.risks = risks;
    let research = request.project_type.as_deref() == Some(RESEARCH) || says(RESEARCH);
    plan.strategy = Some(match room.left.time_ms {
        Some(time) if time < SHORT => Strategy::CriticalPath,
        _ if research => Strategy::Agile,
        _ => Strategy::Incremental,
    });
    plan.totals = Some(totals);
    plan
}

/// The words of a request and its plan.
fn words_of(request: &Request, plan: &Plan) -> Reading {
    let mut text = format!("{}\n{}", request.text, plan.summary);
    for task in plan.tasks.iter().take(200) {
        let _ = write!(text, "\n{}\n{}", task.title, task.description);
    }
    Reading::of_text(crate::truncate::head_and_tail(&text, 100_000, None).text.as_str()).prose()
}

pub(super) fn totals(policy: &Policy, plan: &Plan, order: &[usize], room: &Headroom) -> Totals {
    let tokens = sum(plan.tasks.iter().map(|task| task.estimate_tokens));
    let tokens = policy.budget.with_reserve(tokens);
    let seconds = sum(plan.tasks.iter().map(|task| task.estimate_seconds));
    let at_once = u64::try_from(policy.limits.parallel_tasks.max(1)).unwrap_or(u64::MAX);
    let (longest_chain, along_it) = longest(plan, order);
    let millis = along_it.max(seconds.div_ceil(at_once)).saturating_mul(1_000);
    Totals {
        tasks: plan.tasks.len() as u64,
        tokens,
        time_ms: Millis(policy.budget.with_reserve(millis)),
        money: price(room.spent, tokens),
        longest_chain,
    }
}

pub(super) fn sum(estimates: impl Iterator<Item = Option<u64>>) -> u64 {
    estimates.flatten().fold(0, u64::saturating_add)
}

/// The cost of this many tokens at the average price so far.
fn price(spent: Spend, tokens: u64) -> Option<Money> {
    if spent.tokens == 0 || spent.money == Money::ZERO {
        return None;
    }
    let nanos = u128::from(spent.money.as_nanos()) * u128::from(tokens) / u128::from(spent.tokens);
    Some(Money::nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
}

/// The longest chain, in tasks and in seconds.
fn longest(plan: &Plan, order: &[usize]) -> (u64, u64) {
    let shape = dag::shape(&plan.tasks);
    let mut before = vec![(0_u64, 0_u64); plan.tasks.len()];
    let mut longest = (0, 0);
    for place in order {
        let seconds = plan.tasks[*place].estimate_seconds.unwrap_or_default();
        let here = (before[*place].0 + 1, before[*place].1.saturating_add(seconds));
        longest = (longest.0.max(here.0), longest.1.max(here.1));
        for after in &shape.dependants[*place] {
            let best = &mut before[*after];
            *best = (best.0.max(here.0), best.1.max(here.1));
        }
    }
    longest
}

/// The risks that follow from the numbers.
fn computed(totals: &Totals, room: &Headroom, experimental: bool) -> Vec<Risk> {
    let mut risks = Vec::new();
    let mut add = |place: usize, severity, description: String, mitigation: &str| {
        risks.push(Risk {
            id: COMPUTED[place].to_owned(),
            description,
            severity,
            probability: Some(Probability::Possible),
            impact: Some(if severity == Severity::High {
                Impact::Severe
            } else {
                Impact::Moderate
            }),
            mitigation: mitigation.to_owned(),
            owner: "bosun".to_owned(),
            tasks: vec![],
        });
    };
    if let Some((percent, of_what)) = most_used(totals, room).filter(|(percent, _)| *percent > 80) {
        let description =
            format!("the plan is expected to use {percent} % of the remaining {of_what}");
        add(
            0,
            Severity::High,
            description,
            "work that does not fit is not started; the budget can be raised",
        );
    }
    if totals.longest_chain >= LONG_CHAIN {
        let description = format!(
            "{} tasks form a chain of dependencies; a failure stops all later ones",
            totals.longest_chain
        );
        add(1, Severity::Medium, description, "each result is checked before the next task starts");
    }
    if experimental {
        let description = "the plan relies on unproven technology".to_owned();
        add(2, Severity::Medium, description, "checks run on each task and on the merged result");
    }
    risks
}

/// The largest share of the remaining budget that the plan uses, in percent.
fn most_used(totals: &Totals, room: &Headroom) -> Option<(u64, &'static str)> {
    let share = |used: u64, left: u64| {
        u64::try_from(u128::from(used) * 100 / u128::from(left.max(1))).unwrap_or(u64::MAX)
    };
    let tokens = room.left.tokens.map(|left| (share(totals.tokens, left), "tokens"));
    let time = room.left.time_ms.map(|left| (share(totals.time_ms.0, left.0), "milliseconds"));
    let money = totals.money.zip(room.left.money);
    let money = money.map(|(cost, left)| (share(cost.as_nanos(), left.as_nanos()), "dollars"));
    [tokens, time, money].into_iter().flatten().max_by_key(|(percent, _)| *percent)
}

/// A short summary of the plan, for approval.
#[must_use]
pub fn told(plan: &Plan) -> String {
    let mut text = String::from("Execute this plan?");
    if !plan.summary.trim().is_empty() {
        let _ = write!(text, "\n{}", types::one_line(&plan.summary, 400));
    }
    for task in plan.tasks.iter().take(30) {
        let places: Vec<String> = task.artifacts.iter().map(ToString::to_string).collect();
        let (title, places) =
            (types::one_line(&task.title, 80), types::one_line(&places.join(", "), 80));
        let _ = write!(text, "\n{}: {title} ({places})", task.id);
    }
    if plan.tasks.len() > 30 {
        let _ = write!(text, "\n... and {} more", plan.tasks.len() - 30);
    }
    for risk in &plan.risks {
        let _ = write!(
            text,
            "\nrisk, {}: {}",
            risk.severity.as_str(),
            types::one_line(&risk.description, 120)
        );
    }
    text
}
