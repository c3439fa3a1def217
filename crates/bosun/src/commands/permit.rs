//! `bosun permit`: the verdict of the rules on a command line, part by part, without running anything.

use std::io::Read as _;
use std::path::Path;

use rules::permit::{PartPermit, Permit, judge};
use serde_json::{Value, json};
use types::{Access, CallFacts, Permission, Repeat, Scope};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::print::{self, one_line};
use crate::rules::rules;

/// Maximum number of bytes read from standard input; the rules reject longer lines anyway.
const MOST: u64 = 1024 * 1024;
/// Maximum length of a command or reason on a line.
const SHOWN: usize = 200;

pub(crate) fn permit(args: &args::Permit) -> anyhow::Result<Exit> {
    let policy = rules(args.policy.as_deref(), None, Path::new("."))?.policy;
    let facts = CallFacts {
        access: Access::Execute,
        paths: vec![],
        command: Some(line(&args.command)?),
        folder: None,
        repeat: Repeat::Unknown,
        tool: None,
        agent: None,
        hosts: vec![],
    };
    let permit = judge(&policy, &Scope(args.scope.clone()), "shell", &facts);
    print::result(args.json, &as_json(&permit), &as_text(&permit))?;
    Ok(match permit.verdict {
        Permission::Allow => Exit::Done,
        Permission::Ask => Exit::Waiting,
        Permission::Deny => Exit::Refused,
    })
}

fn line(words: &[String]) -> Result<String, CliError> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().take(MOST).read_to_string(&mut text);
    match read {
        Ok(_) => Ok(text),
        Err(source) => Err(CliError::Unreadable { path: "standard input".to_owned(), source }),
    }
}

fn as_text(permit: &Permit) -> String {
    let (verdict, decision) = (permit.verdict.as_str(), &permit.decision);
    let reason = one_line(&decision.reason, SHOWN);
    let parts = permit.parts.iter().map(|part| {
        let (verdict, rule) = (part.verdict.as_str(), part.rule.as_str());
        format!("  {verdict:<5}  {rule:<24}  {}\n", one_line(&part.command, SHOWN))
    });
    format!("{verdict}  {}: {reason}\n{}", decision.rule, parts.collect::<String>())
}

fn as_json(permit: &Permit) -> Value {
    let part = |part: &PartPermit| {
        json!({
            "command": part.command,
            "words": part.words,
            "verdict": part.verdict,
            "rule": part.rule,
            "reason": part.reason,
        })
    };
    json!({
        "verdict": permit.verdict,
        "rule": permit.decision.rule,
        "reason": permit.decision.reason,
        "parts": permit.parts.iter().map(part).collect::<Vec<_>>(),
    })
}
