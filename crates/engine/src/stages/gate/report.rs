//! The report of a gate as Markdown, for people who sign off. A pure function of the record.

use std::fmt::Write as _;

use types::{GateView, RunView, Verdict};

use super::evidence::word;

/// A measure below this is shown as failed.
const PASS: u32 = 70;

/// All gates of a run, in the order of their evaluation.
#[must_use]
pub fn all(view: &RunView) -> String {
    let each = view.gates.iter().map(|gate| one(view, gate));
    each.collect::<Vec<_>>().join("\n")
}

/// One verdict of one gate.
#[must_use]
pub fn one(view: &RunView, gate: &GateView) -> String {
    let (phase, number) = (gate.phase.as_str(), gate.phase as usize + 1);
    let mut text = format!("# Gate {number}: {phase}\n\n");
    let judged = gate.card.as_ref().map_or(Verdict::NoGo, |card| card.verdict);
    let verdict = if gate.go { Verdict::Go } else { judged };
    let _ = writeln!(text, "- Run: {}", view.run);
    let _ = writeln!(text, "- Goal: {}", types::headline(&view.goal, 200));
    let _ = writeln!(text, "- Decision: **{}**", verdict.as_str());
    if let Some(card) = &gate.card {
        let _ = writeln!(text, "- Score: {} of 100 (minimum {})", card.score, card.threshold);
    }
    let reason = types::one_line(&gate.decision.reason, 400);
    let _ = writeln!(text, "- Reason: {reason} (`{}`)", gate.decision.rule);
    if gate.reopened {
        text.push_str("- Evaluated again at a person's request.\n");
    }
    if let Some(card) = &gate.card {
        table(&mut text, card);
        list(&mut text, "Issues", &card.issues);
        list(&mut text, "Required actions", &card.actions);
    }
    let _ = writeln!(text, "\nDecided by `{}` from the run's record.", gate.decision.rule);
    text
}

fn table(text: &mut String, card: &types::Scorecard) {
    text.push_str("\n| deliverable | |\n|---|---|\n");
    for deliverable in &card.deliverables {
        let there = deliverable
            .missing
            .as_ref()
            .map_or_else(|| "present".to_owned(), |why| format!("MISSING: {}", cell(why)));
        let _ = writeln!(text, "| {} | {there} |", word(deliverable.evidence));
    }
    text.push_str("\n| criterion | weight | score | | counted |\n|---|---|---|---|---|\n");
    for one in &card.criteria {
        let mark = if one.value >= PASS { "PASS" } else { "FAIL" };
        let (name, weight, value) = (one.measure.as_str(), one.weight, one.value);
        let _ = writeln!(text, "| {name} | {weight} | {value} | {mark} | {} |", cell(&one.seen));
    }
}

fn list(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## {title}\n");
    for line in lines {
        let _ = writeln!(text, "- {}", types::one_line(line, 300));
    }
}

/// Escapes a table cell.
fn cell(text: &str) -> String {
    types::one_line(text, 200).replace('|', "/")
}
