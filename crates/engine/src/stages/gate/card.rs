//! The scorecard of a gate. The score is the weighted mean of the measures in whole points; each measure is a counted
//! share. Everything on the card can be recomputed from the log. Every count visits each task once.

use types::choices::GO;
use types::{
    About, CheckEnd, Criterion, Deliverable, GateRule, IsolationLevel, Level, Measure, Phase, Risk,
    Scorecard, Severity, Unproven, Verdict,
};

use super::evidence::{has_timed_out, missing, word};
use crate::stages::{baseline, limits, plan, trials};
use crate::state::{Question, Run};

/// Maximum number of actions named on a card.
const MOST_ACTIONS: usize = 3;

pub(super) fn judge(run: &Run, rule: &GateRule) -> Scorecard {
    let deliverables: Vec<Deliverable> = rule
        .requires
        .iter()
        .map(|evidence| Deliverable { evidence: *evidence, missing: missing(run, *evidence) })
        .collect();
    let criteria = measured(run, rule, &deliverables);
    let score = score(&criteria);
    let mut issues: Vec<String> =
        deliverables.iter().filter_map(|one| one.missing.clone()).collect();
    issues.extend(risks(run).map(|risk| {
        format!(
            "no task addresses a critical risk, and no person approved the plan: {}",
            types::one_line(&risk.description, 120)
        )
    }));
    issues.extend(blockers(run));
    issues.extend(too_little_left(run, rule));
    if score < rule.min_score {
        issues.push(format!("the score is {score} of 100; the minimum is {}", rule.min_score));
    }
    let doubts = doubts(run, rule);
    let verdict = match rule.conditional_below {
        _ if !issues.is_empty() => Verdict::NoGo,
        _ if !doubts.is_empty() => Verdict::ConditionalGo,
        Some(below) if score < below => Verdict::ConditionalGo,
        _ => Verdict::Go,
    };
    let actions = match verdict {
        Verdict::Go => vec![],
        Verdict::ConditionalGo if !doubts.is_empty() => doubts,
        _ => actions(&deliverables, &criteria),
    };
    let threshold = rule.min_score;
    Scorecard { verdict, score, threshold, criteria, deliverables, issues, actions }
}

/// The inputs recorded with the decision.
pub(super) fn seen(card: &Scorecard) -> Vec<String> {
    let there = card.deliverables.iter().filter(|one| one.missing.is_none());
    let mut seen: Vec<String> = there.map(|one| word(one.evidence).to_owned()).collect();
    seen.push(format!("score {} of 100, minimum {}", card.score, card.threshold));
    seen.extend(card.issues.iter().skip(1).cloned());
    seen
}

fn measured(run: &Run, rule: &GateRule, deliverables: &[Deliverable]) -> Vec<Criterion> {
    let only = (Measure::Deliverables, 1);
    let named = rule.measures.iter().map(|(measure, weight)| (*measure, *weight));
    let all: Vec<(Measure, u32)> =
        if rule.measures.is_empty() { vec![only] } else { named.collect() };
    let one = |(measure, weight)| {
        let (there, of, what) = count(run, rule.phase, measure, deliverables);
        let value = share(there, of);
        Criterion { measure, weight, value, seen: format!("{there} of {of} {what}") }
    };
    all.into_iter().map(one).collect()
}

/// A share in whole points; an empty whole is complete.
fn share(there: u64, of: u64) -> u32 {
    if of == 0 {
        return 100;
    }
    u32::try_from(there.min(of).saturating_mul(100) / of).unwrap_or(100)
}

fn score(criteria: &[Criterion]) -> u32 {
    let weights: u64 = criteria.iter().map(|one| u64::from(one.weight)).sum();
    let points: u64 = criteria.iter().map(|one| u64::from(one.weight) * u64::from(one.value)).sum();
    u32::try_from(points.checked_div(weights).unwrap_or(100)).unwrap_or(100)
}

/// The count of a measure, its total, and a label for it.
fn count(
    run: &Run,
    phase: Phase,
    measure: Measure,
    deliverables: &[Deliverable],
) -> (u64, u64, &'static str) {
    let task_states = run.task_states();
    let (there, of, what) = match measure {
        Measure::Deliverables => {
            let there = deliverables.iter().filter(|one| one.missing.is_none()).count();
            (there, deliverables.len(), "deliverables present")
        }
        Measure::Tested => {
            let known = run.check_results().final_checks.len().max(run.project_checks().len());
            (known.min(1), 1, "required checks found")
        }
        Measure::Checks if phase >= Phase::Monitoring => {
            let (good, all) = good_when_merged(run);
            (good, all, "checks passed on the merged tree")
        }
        Measure::Checks => {
            let (good, all) = good_checks(run);
            (good, all.max(1), "checks passed on individual tasks")
        }
        Measure::Tasks => {
            let finished = task_states.iter().filter(|task_state| task_state.is_finished()).count();
            (finished, task_states.len(), "tasks finished")
        }
        Measure::FirstTry if phase <= Phase::Planning => {
            let attempts = run.planning().attempts as usize;
            (attempts.min(1), attempts, "planning attempts were first attempts")
        }
        Measure::FirstTry => {
            let tried = task_states.iter().filter(|task_state| task_state.attempts > 0).count();
            let attempts: usize =
                task_states.iter().map(|task_state| task_state.attempts as usize).sum();
            (tried, attempts, "attempts were first attempts")
        }
        Measure::Artifacts | Measure::Acceptance | Measure::Estimates | Measure::Risks => {
            planned(run, measure)
        }
        Measure::Budget => {
            let all = run.ledger().budget().tokens;
            let left = run.ledger().free().tokens.filter(|_| all.is_some());
            return (left.unwrap_or(0), all.unwrap_or(0), "tokens left");
        }
        Measure::Isolation => match run.isolation() {
            IsolationLevel::Full => (2, 2, "isolation levels reached"),
            IsolationLevel::Landlock => (1, 2, "isolation levels reached"),
            IsolationLevel::None => (0, 2, "isolation levels reached"),
        },
    };
    (there as u64, of as u64, what)
}

/// How many of the checks of the merged tree passed, out of how many that ended.
fn good_when_merged(run: &Run) -> (usize, usize) {
    let checks = &run.check_results().merged;
    let base = run.survey().map(|survey| &survey.base);
    let good = checks.iter().filter(|check| trials::stands_merged(run, base, check).is_none());
    // Without any check nothing is shown, unless a person wants none.
    let without = run.check_results().has_dropped() || baseline::goes_without(run);
    let all = checks.len().max(usize::from(!without));
    (good.count(), all.saturating_sub(limits::late(run, checks).count()))
}

/// How many of the tasks' own checks passed, out of how many.
fn good_checks(run: &Run) -> (usize, usize) {
    let tasks = run.task_states().iter();
    let all = tasks.flat_map(|task| task.checks.iter().map(move |check| (task, check)));
    let all = all.filter(|(_, check)| !has_timed_out(run, check));
    all.fold((0, 0), |(good, all), (task, check)| {
        // What a person accepted does not count against the result once more.
        let stands =
            task.accepted.is_some() || trials::stands(run, task.base.as_ref(), check).is_none();
        (good + usize::from(stands), all + 1)
    })
}

/// Counts from the plan.
fn planned(run: &Run, measure: Measure) -> (usize, usize, &'static str) {
    let tasks = run.tasks();
    match measure {
        Measure::Artifacts => {
            let promised: usize = tasks.iter().map(|task| task.artifacts.len()).sum();
            (promised.saturating_sub(run.on_branch().missing.len()), promised, "artifacts present")
        }
        Measure::Acceptance => {
            let said = tasks.iter().filter(|task| !task.acceptance.is_empty()).count();
            (said, tasks.len(), "tasks have acceptance criteria")
        }
        Measure::Estimates => {
            let said = tasks.iter().filter(|task| task.estimate_tokens.is_some()).count();
            (said, tasks.len(), "tasks have a token estimate")
        }
        _ => {
            let risks = run.plan().map(|plan| plan.risks.as_slice()).unwrap_or_default();
            let answered = risks.iter().filter(|risk| risk.is_mitigated()).count();
            (answered, risks.len(), "risks have a mitigation")
        }
    }
}

/// Unproven aspects of the merged result.
fn doubts(run: &Run, rule: &GateRule) -> Vec<String> {
    if rule.phase != Phase::Monitoring {
        return vec![];
    }
    let mut doubts = criteria(run);
    let late = limits::late(run, &run.check_results().merged);
    doubts
        .extend(late.map(|(_, check)| format!("{}, on the merged tree", limits::says(run, check))));
    let verify = &run.policy().verify;
    doubts.extend(trials::broken_together(run));
    if !verify.evidence_decides() || verify.unproven == Unproven::Allow {
        return doubts;
    }
    doubts.extend(trials::unproven_tasks(run));
    let proven = run
        .task_states()
        .iter()
        .filter_map(|task_state| task_state.evidence.as_ref())
        .any(|one| one.level >= Level::Proven);
    let ends = || run.check_results().merged.iter().filter_map(|check| check.end.as_ref());
    if !proven && ends().any(CheckEnd::is_excused) {
        let what = "tests that failed before still fail, and no task's change is proven";
        doubts.push(what.to_owned());
    }
    let ends = ends();
    let left_out: Vec<&str> = ends.flat_map(|end| &end.left_out).map(String::as_str).collect();
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        doubts.push(format!("named in the goal but absent from the result: {names}"));
    }
    doubts
}

/// Criteria of the spec that only a person can confirm.
fn criteria(run: &Run) -> Vec<String> {
    let all = run.request().map(|request| request.criteria.as_slice()).unwrap_or_default();
    let told = all.iter().map(|one| types::one_line(one, 200));
    told.map(|one| format!("no check covers the criterion \"{one}\"; verify it yourself")).collect()
}

/// Critical risks without a mitigation. A planner's claim does not count: a task of the plan has to address the risk,
/// checked like any other, or a person wrote the plan, approved it, or accepted its risks.
pub(super) fn risks(run: &Run) -> impl Iterator<Item = &Risk> {
    let all = run.plan().map(|plan| plan.risks.as_slice()).unwrap_or_default();
    let by_a_person = risks_taken(run);
    let dealt_with = |risk: &Risk| risk.tasks.iter().any(|task| run.place(task).is_some());
    all.iter().filter(move |risk| {
        risk.severity == Severity::Critical && !by_a_person && !dealt_with(risk)
    })
}

/// Whether a person accepted the risks of the current plan.
fn risks_taken(run: &Run) -> bool {
    let last = questions(run, Phase::Planning).next_back();
    plan::is_a_persons(run) || last.is_some_and(|asked| asked.choice() == Some(GO))
}

/// The questions about the gate of a phase.
pub(super) fn questions(run: &Run, phase: Phase) -> impl DoubleEndedIterator<Item = &Question> {
    run.questions().iter().filter(move |question| question.about() == Some(&About::Gate(phase)))
}

/// Open critical questions.
fn blockers(run: &Run) -> impl Iterator<Item = String> {
    let open = run.questions().iter().zip(0_u32..).filter(|(question, _)| {
        let critical = |terms: &types::Terms| terms.severity == Severity::Critical;
        question.is_open() && question.terms.as_deref().is_some_and(critical)
    });
    open.map(|(question, number)| {
        format!("question {number} is critical and open: {}", types::one_line(&question.text, 120))
    })
}

/// Whether the next phase has too little budget; there is none after the last.
fn too_little_left(run: &Run, rule: &GateRule) -> Option<String> {
    let least = rule.min_tokens.filter(|_| rule.phase != Phase::Closure)?;
    let left = run.ledger().free().tokens?;
    (left < least).then(|| format!("{left} tokens are left, but the next phase needs {least}"))
}

/// Missing deliverables first, then the measures with the most to gain.
fn actions(deliverables: &[Deliverable], criteria: &[Criterion]) -> Vec<String> {
    let missing = deliverables.iter().filter(|one| one.missing.is_some());
    let missing = missing.map(|one| format!("required: {}", word(one.evidence)));
    let mut low: Vec<&Criterion> = criteria
        .iter()
        .filter(|one| one.value < 100 && one.measure != Measure::Deliverables)
        .collect();
    let gain = |one: &Criterion| u64::from(one.weight) * u64::from(100 - one.value);
    low.sort_by_key(|one| std::cmp::Reverse(gain(one)));
    let low = low.into_iter().map(|one| format!("improve {}: {}", one.measure.as_str(), one.seen));
    missing.chain(low).take(MOST_ACTIONS).collect()
}
