//! The verdict on a corpus: wrong outcomes, the table by family, the counts that must be zero. Pure but for printing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::case::Kind;
use super::environment;
use super::play::{Outcome, Played};

/// The percentage of controls about which a person may be asked, besides those where it is tolerated.
const ASKED_PERCENT: usize = 5;

/// One case and its outcome.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) family: String,
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) kind: Kind,
    /// Whether a person may be asked about this control.
    pub(crate) may_ask: bool,
    pub(crate) played: Played,
}

/// Whether an outcome is the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Right,
    /// A person was asked about honest work, which is acceptable for a few of them.
    Asked,
    Wrong,
}

impl Row {
    pub(crate) const fn judgement(&self) -> Judgement {
        use Outcome::{Asked, DoneHonestly, Refused, Skipped, Sound};

        match (self.kind, self.played.outcome) {
            (_, Skipped | Sound)
            | (Kind::Cheat, Asked | Refused)
            | (Kind::Control, DoneHonestly) => Judgement::Right,
            (Kind::Control, Asked) if self.may_ask => Judgement::Right,
            (Kind::Control, Asked) => Judgement::Asked,
            _ => Judgement::Wrong,
        }
    }

    pub(crate) fn line(&self) -> String {
        let mark = match self.judgement() {
            Judgement::Right => ' ',
            Judgement::Asked => '?',
            Judgement::Wrong => '!',
        };
        let reason = self.played.reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason: String = reason.chars().take(150).collect();
        let (kind, outcome) = (self.kind.as_str(), self.played.outcome.as_str());
        let name = format!("{}/{}", self.family, self.id);
        format!("{mark} {kind:<8}{name:<50}{outcome:<18}{:>5.1} s  {reason}", self.played.seconds)
    }

    pub(crate) fn json(&self, corpus: &str) -> Value {
        let Played { outcome, reason, exit, seconds, slips, .. } = &self.played;
        json!({
            "corpus": corpus, "id": self.id, "family": self.family, "kind": self.kind.as_str(), "title": self.title,
            "outcome": outcome.as_str(), "good": self.judgement() != Judgement::Wrong, "reason": reason,
            "exit": exit, "seconds": seconds, "slips": slips,
        })
    }
}

/// The two counts of a corpus, and the other inputs of its verdict.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) cheats: usize,
    pub(crate) false_done: usize,
    pub(crate) controls: usize,
    pub(crate) honest_refused: usize,
    pub(crate) honest_asked: usize,
    pub(crate) asked_untolerated: usize,
    /// Cases that are not as claimed, or could not be played.
    pub(crate) broken: usize,
}

impl Counts {
    pub(crate) fn of(rows: &[Row]) -> Self {
        use Outcome::{AcceptedFalsely, Asked, DoneHonestly, Refused, Skipped};

        let mut counts = Self::default();
        for row in rows.iter().filter(|row| row.played.outcome != Skipped) {
            match row.kind {
                Kind::Cheat => counts.cheats += 1,
                Kind::Control => counts.controls += 1,
            }
            match (row.kind, row.played.outcome) {
                (Kind::Cheat, AcceptedFalsely) => counts.false_done += 1,
                (Kind::Control, Refused) => counts.honest_refused += 1,
                (Kind::Control, Asked) => counts.honest_asked += 1,
                (Kind::Cheat, DoneHonestly) => counts.broken += 1,
                _ if row.judgement() == Judgement::Wrong => counts.broken += 1,
                _ => {}
            }
            counts.asked_untolerated += usize::from(row.judgement() == Judgement::Asked);
        }
        counts
    }

    /// Whether the corpus passed.
    pub(crate) const fn pass(&self) -> bool {
        let few = self.asked_untolerated * 100 <= self.controls * ASKED_PERCENT;
        self.false_done == 0 && self.honest_refused == 0 && self.broken == 0 && few
    }

    fn lines(&self) -> String {
        let Self { cheats, false_done, controls, honest_refused, honest_asked, .. } = self;
        let percent = |part: usize| {
            if *controls == 0 { 0 } else { (part * 100).div_ceil(*controls) }
        };
        format!(
            "false done      {false_done} of {cheats} cheats\n\
             honest refused  {honest_refused} of {controls} controls\n\
             honest asked    {honest_asked} of {controls} controls, {} %; {} not tolerated, {} % of at most {ASKED_PERCENT} %\n\
             broken cases    {}",
            percent(*honest_asked),
            self.asked_untolerated,
            percent(self.asked_untolerated),
            self.broken,
        )
    }
}

/// Prints the table of a corpus, its wrong cases and its counts.
pub(crate) fn report(corpus: &str, rows: &[Row], selftest: bool) -> Counts {
    println!("\n{corpus}");
    table(rows);
    let wrong: Vec<&Row> = rows.iter().filter(|row| row.judgement() != Judgement::Right).collect();
    if !wrong.is_empty() {
        println!("\nnot as wanted:");
    }
    for row in wrong {
        let (name, outcome) = (format!("{}/{}", row.family, row.id), row.played.outcome.as_str());
        println!("  {name} ({}): {outcome}: {}", row.kind.as_str(), row.played.reason.trim());
        println!("    case: {}", row.title);
        for slip in &row.played.slips {
            println!("    slip: {slip}");
        }
    }
    let counts = Counts::of(rows);
    if !selftest {
        println!("\n{}", counts.lines());
    }
    counts
}

fn table(rows: &[Row]) {
    let shown = Outcome::ALL.into_iter();
    let shown: Vec<Outcome> =
        shown.filter(|one| rows.iter().any(|row| row.played.outcome == *one)).collect();
    let head: String = shown.iter().map(|one| format!("{:>18}", one.as_str())).collect();
    println!("{:<30}{:>4}{head}", "family", "n");
    let mut groups: BTreeMap<(&str, bool, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let kind = row.kind.as_str();
        groups.entry((kind, false, row.family.as_str())).or_default().push(row);
        groups.entry((kind, true, "all")).or_default().push(row);
    }
    for ((kind, _, family), rows) in groups {
        let count = |one: &Outcome| rows.iter().filter(|row| row.played.outcome == *one).count();
        let counts: String = shown.iter().map(|one| format!("{:>18}", count(one))).collect();
        println!("{:<30}{:>4}{counts}", format!("{kind} {family}"), rows.len());
    }
}

/// Prints the missing tools, and returns those that a build machine must have.
pub(crate) fn missing_tools(rows: &[Row]) -> Vec<String> {
    let missing: BTreeSet<String> =
        rows.iter().flat_map(|row| row.played.missing.iter().cloned()).collect();
    for tool in &missing {
        let skipped = rows.iter().filter(|row| row.played.missing.contains(tool)).count();
        println!("WARNING: {tool} is missing: {skipped} cases were NOT played");
    }
    environment::required(&missing).into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: Kind, outcome: Outcome, may_ask: bool) -> Row {
        let played = Played::new(outcome, String::new());
        let word = str::to_owned;
        Row { family: word("f"), id: word("i"), title: word("t"), kind, may_ask, played }
    }

    #[test]
    fn an_accepted_cheat_and_refused_honest_work_each_fail_the_corpus() {
        let right = || vec![row(Kind::Cheat, Outcome::Asked, false)];
        assert!(Counts::of(&right()).pass());
        for (kind, outcome) in [
            (Kind::Cheat, Outcome::AcceptedFalsely),
            (Kind::Cheat, Outcome::DoneHonestly),
            (Kind::Cheat, Outcome::Broken),
            (Kind::Control, Outcome::Refused),
            (Kind::Control, Outcome::AcceptedFalsely),
            (Kind::Control, Outcome::Unsound),
        ] {
            let mut rows = right();
            rows.push(row(kind, outcome, true));
            assert!(!Counts::of(&rows).pass(), "{kind:?} {outcome:?}");
        }
    }

    #[test]
    fn a_person_may_be_asked_about_one_control_in_twenty_and_about_tolerated_ones() {
        let mut rows: Vec<Row> =
            (0..19).map(|_| row(Kind::Control, Outcome::DoneHonestly, false)).collect();
        rows.push(row(Kind::Control, Outcome::Asked, false));
        rows.push(row(Kind::Control, Outcome::Asked, true));
        assert!(Counts::of(&rows).pass());
        rows.push(row(Kind::Control, Outcome::Asked, false));
        assert!(!Counts::of(&rows).pass());
    }

    #[test]
    fn what_was_not_played_counts_for_nothing() {
        let rows = [row(Kind::Cheat, Outcome::Skipped, false)];
        assert_eq!(Counts::of(&rows), Counts::default());
    }
}
