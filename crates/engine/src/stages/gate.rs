//! Gates: go or no-go at the end of each phase, from evidence alone: deliverables, quality, risks, blockers, remaining
//! budget. If the policy requires it, a no-go is put to a person and the gate is evaluated again.

mod card;
mod evidence;
pub mod report;

use types::{
    About, Choice, Decision, Escalation, Event, GateRule, GateView, OnNoGo, Phase, RuleId,
    Scorecard, Severity, Terms, Timestamp, Verdict,
};

use crate::stages::{advice, baseline, limits, question, verify};
use crate::state::{Question, Run};
use card::questions;
use types::choices::{AGAIN, DROP, GO, RETRY, STOP};

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if let Some(blocked) = run.blocked() {
        return if asks(run, blocked) { vec![ask(run, blocked, now)] } else { vec![] };
    }
    let phase = run.phase();
    if run.verdict(phase).is_some() || !is_over(run, phase) {
        return vec![];
    }
    let rules = run.policy().gates.iter().filter(|gate| gate.phase == phase);
    // Reports the rule that stops the run; else the first that passed by a person's answer; else the first.
    let mut told: Option<(&GateRule, Scorecard)> = None;
    for rule in rules {
        let card = card::judge(run, rule);
        let stops = !goes(&card, accepted(run, rule));
        let says_more = |(_, other): &(_, Scorecard)| {
            other.verdict == Verdict::Go && card.verdict != Verdict::Go
        };
        if stops || told.as_ref().is_none_or(says_more) {
            told = Some((rule, card));
        }
        if stops {
            break;
        }
    }
    let Some((rule, card)) = told else {
        let reason = format!("the policy has no gate for the {} phase", phase.as_str());
        let decision = Decision::new(RuleId::fixed("gate.none"), reason);
        return vec![Event::GatePassed { phase, decision, card: None }];
    };
    vec![verdict(run, rule, card)]
}

/// The person's go for this rule, unless work was redone since.
fn accepted<'a>(run: &'a Run, rule: &GateRule) -> Option<&'a Question> {
    let mut since = questions(run, rule.phase).rev().take_while(|one| one.choice() != Some(RETRY));
    since.find(|asked| asked.rule == rule.id).filter(|asked| asked.choice() == Some(GO))
}

/// The confirmation, at the end of monitoring, of criteria that no check can show.
pub(crate) fn confirmed(run: &Run) -> Option<&Question> {
    let rules = run.policy().gates.iter().filter(|rule| rule.phase == Phase::Monitoring);
    rules.filter_map(|rule| accepted(run, rule)).next()
}

fn goes(card: &Scorecard, accepted: Option<&Question>) -> bool {
    match card.verdict {
        Verdict::Go => true,
        Verdict::ConditionalGo => accepted.is_some(),
        Verdict::NoGo => false,
    }
}

fn verdict(run: &Run, rule: &GateRule, card: Scorecard) -> Event {
    let (phase, seen) = (rule.phase, card::seen(&card));
    let accepted = accepted(run, rule);
    let goes = goes(&card, accepted);
    let (rule, reason) = match (card.verdict, accepted) {
        (Verdict::Go, _) => {
            let reason = format!("all requirements of the {} gate are met", phase.as_str());
            (rule.id.clone(), reason)
        }
        (Verdict::ConditionalGo, Some(question)) => {
            let by = question.answer.as_ref().map_or("a person", |answer| &answer.said.by);
            (RuleId::fixed("person.go"), format!("{by} reviewed the open points and accepted them"))
        }
        (Verdict::ConditionalGo, None) => {
            let below = rule.conditional_below.is_some_and(|below| card.score < below);
            let score = format!("the score is {} of 100; required actions: ", card.score);
            let reason = format!("{}{}", if below { &score } else { "" }, card.actions.join("; "));
            (rule.id.clone(), reason)
        }
        (Verdict::NoGo, _) => (rule.id.clone(), card.issues.first().cloned().unwrap_or_default()),
    };
    let decision = Decision { rule, reason, seen };
    let card = Some(Box::new(card));
    if goes {
        Event::GatePassed { phase, decision, card }
    } else {
        Event::GateBlocked { phase, decision, card }
    }
}

/// The no-go that ends the run, because no person is asked about it, or the answer was to stop.
pub(crate) fn last_word(run: &Run) -> Option<&GateView> {
    let blocked = run.blocked()?;
    let open = questions(run, blocked.phase).any(Question::is_open);
    (!open && !asks(run, blocked)).then_some(blocked)
}

/// Whether to ask a person about this no-go; each is asked about once.
fn asks(run: &Run, blocked: &GateView) -> bool {
    let phase = blocked.phase;
    // A person may always accept a critical risk.
    let risky = phase == Phase::Planning && card::risks(run).next().is_some();
    let wanted = run.policy().gates.iter().any(|gate| {
        let asks = gate.on_no_go == OnNoGo::Ask || conditional(blocked) || risky;
        gate.id == blocked.decision.rule && asks
    });
    let verdicts = run.gates().iter().filter(|gate| gate.phase == phase && !gate.go).count();
    wanted && !run.policy().headless && questions(run, phase).count() < verdicts
}

fn conditional(blocked: &GateView) -> bool {
    blocked.card.as_ref().is_some_and(|card| card.verdict == Verdict::ConditionalGo)
}

fn ask(run: &Run, blocked: &GateView, now: Timestamp) -> Event {
    let phase = blocked.phase;
    let mut choices = vec![if conditional(blocked) {
        Choice::new(GO, "accept the result as it is, after your own review")
    } else {
        Choice::new(AGAIN, "evaluate the gate again after fixing the problem")
    }];
    let late = limits::late(run, &run.check_results().merged).map(|(_, check)| check.longer());
    if let (true, Some(longer)) = (conditional(blocked) && phase == Phase::Monitoring, late.max()) {
        let says = format!("run the check that timed out again, for up to {longer}");
        choices.push(Choice::new(AGAIN, &says));
    }
    let again = match phase {
        Phase::Planning => Some("create a new plan"),
        Phase::Execution => Some("retry the tasks that did not finish"),
        Phase::Monitoring => Some("one more attempt, which adds what is missing to the result"),
        Phase::Initiation | Phase::Closure => None,
    };
    if phase == Phase::Planning && card::risks(run).next().is_some() {
        choices.push(Choice::new(GO, "accept the risks and continue"));
    }
    choices.extend(again.map(|says| Choice::new(RETRY, says).with_words()));
    let failed = evidence::failed_when_merged(run);
    if phase == Phase::Monitoring && !failed.is_empty() {
        let says = format!(
            "accept the result after your own review and drop {}: not run again in this run",
            failed.join(", ")
        );
        choices.push(Choice::new(DROP, &says));
    }
    choices.push(Choice::new(STOP, "end the run; all existing work is kept"));
    let (escalation, severity) = (Escalation::QualityFailure, Severity::High);
    let terms = Terms::escalation(escalation, severity, About::Gate(phase), choices, STOP);
    let why = &blocked.decision.reason;
    let opening = match phase {
        Phase::Planning if conditional(blocked) => "the plan has open points".to_owned(),
        _ if conditional(blocked) => "the result has open points".to_owned(),
        Phase::Monitoring => "the result is not good enough".to_owned(),
        _ => format!("the {} phase cannot be completed", phase.as_str()),
    };
    let text = format!("{opening}: {why}. How should the run continue?");
    question::ask(run, (text, blocked.decision.clone()), None, Some(terms), now)
}

/// Whether all work of a phase has ended, successfully or not.
fn is_over(run: &Run, phase: Phase) -> bool {
    match phase {
        Phase::Initiation => {
            let begun = run.documents().is_some() && run.proof().is_some();
            begun && baseline::is_over(run) && advice::is_over(run)
        }
        Phase::Planning => run.plan().is_some() || run.planning().is_settled(),
        Phase::Execution => run.all_settled(),
        Phase::Monitoring => {
            let checks = &run.check_results().merged;
            let all = run.check_results().next_merged().is_none();
            let results = run.check_results();
            let mut trials = results.without.values().chain(&results.with_tests);
            let tried = trials.all(|check| check.end.is_some());
            let all = all && tried && verify::tried_whole(run).is_empty();
            run.all_settled() && all && checks.iter().all(|check| check.end.is_some())
        }
        Phase::Closure => true,
    }
}

#[cfg(test)]
mod tests;
