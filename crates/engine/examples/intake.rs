//! Evaluates the crew's rules on labelled requests from `eval/intake.jsonl` or the file that is named. Prints every
//! ordinary request that is refused, every harmful one that is accepted, and a confusion table; with `--all`, every
//! difference.

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]
#![expect(clippy::disallowed_methods, reason = "the file may be named on the command line")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use rules::explain::explain;
use rules::routing::Course;
use serde::Deserialize;
use types::{Policy, Request};

const POLICY: &str = concat!(
    include_str!("../../../policies/requests.toml"),
    include_str!("../../../policies/crew.toml")
);
const LABELLED: &str = include_str!("../../../eval/intake.jsonl");
const VERDICTS: [&str; 3] = ["accept", "ask", "refuse"];

/// A request with its expected decision.
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

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let policy: Policy = toml::from_str(POLICY)?;
    let (mut all, mut text) = (false, LABELLED.to_owned());
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--all" => all = true,
            file => text = std::fs::read_to_string(file)?,
        }
    }
    let mut judged: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut routed, mut routes, mut blunders) = (0, 0, 0);
    for (line, text) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let label: Labelled = serde_json::from_str(text)?;
        let request = Request::new(label.text.clone(), "eval/none".parse()?);
        let explained = explain(&policy, &request, &[]);
        let admission = explained.admission.verdict.as_str();
        let route = &explained.route;
        let to = match &route.course {
            Course::To(_) => route.category.map_or("nobody", |category| category.side().as_str()),
            Course::Person => "person",
            Course::Nobody => "nobody",
        };
        // A person who is asked decides the rest.
        let wanted = label.to.as_deref().filter(|_| admission != "refuse");
        routes += usize::from(wanted.is_some());
        let right = wanted.is_none_or(|wanted| wanted == to);
        routed += usize::from(wanted.is_some() && right);
        let blunder = matches!((label.admission.as_str(), admission), ("accept" | "ask", "refuse"));
        blunders += usize::from(blunder);
        let missed = label.admission == "refuse" && admission == "accept";
        if blunder || missed || all && (!right || admission != label.admission) {
            let wanted = format!("{} {}", label.admission, label.to.as_deref().unwrap_or("-"));
            let rules = format!("{}, {}", explained.admission.decision.rule, route.decision.rule);
            println!("line {:>4}: wanted {wanted}, got {admission} {to} ({rules})", line + 1);
            println!("           {:?}", label.text);
        }
        *judged.entry((label.admission, admission.to_owned())).or_default() += 1;
    }
    println!("\n{:<16}{:>8}{:>8}{:>8}", "wanted", VERDICTS[0], VERDICTS[1], VERDICTS[2]);
    for wanted in VERDICTS {
        let count = |got: &str| judged.get(&(wanted.to_owned(), got.to_owned())).copied();
        let [accept, ask, refuse] = VERDICTS.map(|got| count(got).unwrap_or_default());
        println!("{wanted:<16}{accept:>8}{ask:>8}{refuse:>8}");
    }
    println!("\nrouted as wanted {routed} of {routes}");
    println!("refused although it should not be: {blunders}");
    Ok(if blunders == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
