//! How often the crew's rules judge a request as a person would: the labelled requests of `eval/intake.jsonl`, or of
//! the file that is named, with every miss.

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]
#![expect(clippy::disallowed_methods, reason = "the file may be named on the command line")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use engine::explain::{Course, explain};
use serde::Deserialize;
use types::{Policy, Request};

const POLICY: &str = include_str!("../../../policies/crew.toml");
const LABELLED: &str = include_str!("../../../eval/intake.jsonl");
/// The share of requests that must be judged rightly.
const WANTED: f64 = 0.95;

/// A request with what a person says should become of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    text: String,
    /// `accept`, `refuse` or `ask`.
    admission: String,
    /// `product`, `dev` or `person`, unless it is refused.
    #[serde(default)]
    to: Option<String>,
}

#[derive(Debug, Default)]
struct Tally {
    right: usize,
    all: usize,
}

impl Tally {
    fn add(&mut self, right: bool) {
        self.all += 1;
        self.right += usize::from(right);
    }

    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    fn share(&self) -> f64 {
        if self.all == 0 { 1.0 } else { self.right as f64 / self.all as f64 }
    }

    fn print(&self, what: &str) {
        println!("{what:<28} {:>4} of {:>4}  {:5.1} %", self.right, self.all, self.share() * 100.0);
    }
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let policy: Policy = toml::from_str(POLICY)?;
    let text = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file)?,
        None => LABELLED.to_owned(),
    };
    let mut classes: BTreeMap<String, Tally> = BTreeMap::new();
    let mut halves = [Tally::default(), Tally::default()];
    let mut all = Tally::default();
    for (line, text) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let label: Labelled = serde_json::from_str(text)?;
        let request = Request::new(label.text.clone(), "eval/none".parse()?);
        let explained = explain(&policy, &request, &[]);
        let admission = explained.admission.verdict.word();
        let route = &explained.route;
        let to = match &route.course {
            Course::To(_) => route.category.map_or("nobody", |category| category.side().word()),
            Course::Person => "person",
            Course::Nobody => "nobody",
        };
        let admitted = admission == label.admission;
        let routed = label.to.as_deref().is_none_or(|wanted| wanted == to);
        if !(admitted && routed) {
            let wanted = format!("{} {}", label.admission, label.to.as_deref().unwrap_or("-"));
            let rules = format!("{}, {}", explained.admission.decision.rule, route.decision.rule);
            println!("line {:>3}: wanted {wanted}, got {admission} {to} ({rules})", line + 1);
            println!("          {:?}", label.text);
        }
        classes.entry(format!("admission {}", label.admission)).or_default().add(admitted);
        if let Some(wanted) = &label.to {
            classes.entry(format!("route {wanted}")).or_default().add(routed);
        }
        halves[line % 2].add(admitted && routed);
        all.add(admitted && routed);
    }
    println!();
    classes.iter().for_each(|(class, tally)| tally.print(class));
    halves[1].print("even lines");
    halves[0].print("odd lines");
    all.print("all");
    let enough = all.share() >= WANTED;
    Ok(if enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
