//! Go or no-go at the end of each phase, from evidence alone.

use types::{Decision, Event, Evidence, GateRule, Phase, RuleId, Timestamp};

use crate::run::{Lane, Run, passed};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let phase = run.phase();
    if run.gates().iter().any(|gate| !gate.go || gate.phase == phase) || !is_over(run, phase) {
        return vec![];
    }
    let rules: Vec<&GateRule> =
        run.policy().gates.iter().filter(|gate| gate.phase == phase).collect();
    let mut seen = Vec::new();
    for rule in &rules {
        for evidence in &rule.requires {
            match missing(run, *evidence) {
                None => seen.push(word(*evidence).to_owned()),
                Some(reason) => {
                    let decision = Decision { rule: rule.id.clone(), reason, seen };
                    return vec![Event::GateBlocked { phase, decision, card: None }];
                }
            }
        }
    }
    let rule = rules.first().map_or_else(|| RuleId::fixed("gate.none"), |rule| rule.id.clone());
    let reason = format!("everything that {} must show is there", phase.word());
    vec![Event::GatePassed { phase, decision: Decision { rule, reason, seen }, card: None }]
}

/// Whether all work of a phase has ended, well or not.
fn is_over(run: &Run, phase: Phase) -> bool {
    match phase {
        Phase::Initiation => run.documents().is_some() && run.proof().is_some(),
        Phase::Planning => run.plan().is_some() || run.planning().is_settled(),
        Phase::Execution => run.all_settled(),
        Phase::Monitoring => {
            let checks = run.merged_checks();
            checks.len() == run.final_checks().len() && checks.iter().all(|c| c.end.is_some())
        }
        Phase::Closure => true,
    }
}

/// Why the evidence is not there; nothing when it is.
fn missing(run: &Run, evidence: Evidence) -> Option<String> {
    let unless = |there: bool, why: &str| (!there).then(|| why.to_owned());
    match evidence {
        Evidence::RequestAccepted => unless(run.is_admitted(), "the request was not accepted"),
        Evidence::RequestRouted => unless(run.route().is_some(), "the request was not routed"),
        Evidence::PlanAdopted => unless(run.plan().is_some(), "there is no valid plan"),
        Evidence::TasksFinished => tasks_finished(run),
        Evidence::MergedChecksPassed => merged_checks(run),
        Evidence::ArtifactsPresent => {
            let missing: Vec<String> = run.missing().iter().map(ToString::to_string).collect();
            unless(missing.is_empty(), &format!("promised but not there: {}", missing.join(", ")))
        }
        Evidence::WithinBudget => {
            unless(!run.ledger().is_overspent(), "more was spent than the budget allows")
        }
    }
}

fn tasks_finished(run: &Run) -> Option<String> {
    let finished = run.lanes().iter().filter(|lane| lane.is_finished()).count();
    // What a person left out is not missing, as long as something is left.
    let waived = run.lanes().iter().filter(|lane| finished > 0 && lane.is_waived()).count();
    let all = run.lanes().len() - waived;
    (finished < all).then(|| {
        let failed = run.lanes().iter().filter(|lane| Lane::is_failed(lane)).count();
        let skipped = all - finished - failed;
        let mut reason = format!("{finished} of {all} tasks are finished");
        for (count, word) in [(failed, "failed"), (skipped, "skipped")] {
            if count > 0 {
                reason.push_str(&format!(", {count} {word}"));
            }
        }
        reason
    })
}

fn merged_checks(run: &Run) -> Option<String> {
    let checks = run.merged_checks();
    if checks.is_empty() {
        return Some(
            "there is no check that could tell whether it works; name one with --check".to_owned(),
        );
    }
    let failed = checks.iter().filter(|check| passed(check) != Some(true));
    let names: Vec<&str> = failed.map(|check| check.what.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("on the merged tree {} did not pass", names.join(", ")))
}

const fn word(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::RequestAccepted => "request accepted",
        Evidence::RequestRouted => "request routed",
        Evidence::PlanAdopted => "plan adopted",
        Evidence::TasksFinished => "all tasks finished",
        Evidence::MergedChecksPassed => "checks passed on the merged tree",
        Evidence::ArtifactsPresent => "artifacts present",
        Evidence::WithinBudget => "within budget",
    }
}

#[cfg(test)]
mod tests;
