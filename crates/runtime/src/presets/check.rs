//! Problems in a policy file, each with its line, for its author.

use types::Policy;

use super::{PolicyError, read_with};
use crate::prompts::Prompts;

/// An unusable part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    pub cause: String,
}

/// Reads a policy and tests its rules on their examples. `name` is for messages.
pub fn check(name: &str, text: &str, prompts: &Prompts) -> Result<Policy, Vec<Problem>> {
    read_with(name, text, prompts).map_err(|error| match error {
        PolicyError::Unreadable { line, cause, .. } => vec![Problem { line, cause }],
        PolicyError::Broken { problems, .. } => {
            let placed = |cause: String| Problem { line: line_of(text, &cause), cause };
            problems.into_iter().map(placed).collect()
        }
        other => vec![Problem { line: 1, cause: other.to_string() }],
    })
}

/// The number of examples of a policy's rules.
#[must_use]
pub fn examples(policy: &Policy) -> usize {
    let admission = policy.admission.iter().map(|rule| (&rule.matches, &rule.not_matches));
    let routing = policy.routing.iter().map(|rule| (&rule.matches, &rule.not_matches));
    let permissions = policy.permissions.iter().map(|rule| (&rule.matches, &rule.not_matches));
    let all = admission.chain(routing).chain(permissions);
    all.map(|(good, bad)| good.len() + bad.len()).sum()
}

/// The line of a problem: that of the quoted pattern or example, of the named rule or role, or else of the table.
fn line_of(text: &str, cause: &str) -> usize {
    let at = |place: usize| text[..place].matches('\n').count() + 1;
    let start = ["rule ", "role ", "project type "].into_iter().find_map(|word| {
        let (_, rest) = cause.split_once(word)?;
        let name = rest.split([' ', ',', ':', ';']).next().filter(|name| !name.is_empty())?;
        let written = [format!("\"{name}\""), format!(".{name}]")];
        written.iter().find_map(|written| text.find(written.as_str()))
    });
    let quoted = cause.split('"').nth(1).filter(|quoted| !quoted.is_empty());
    let after = start.unwrap_or(0);
    let inside = quoted.and_then(|quoted| text.get(after..)?.find(quoted).map(|at| after + at));
    let table = || {
        let word = cause.split([' ', '.', ':']).next().filter(|word| word.len() > 3)?;
        text.find(&format!("[{word}")).or_else(|| Some(text.find(&format!("\n{word} ="))? + 1))
    };
    inside.or(start).or_else(table).map_or(1, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<Problem> {
        check("mine.toml", text, &Prompts::default()).map(|_| ()).expect_err("it is broken")
    }

    #[test]
    fn a_problem_is_told_with_the_line_of_its_rule() {
        let found = problems(
            "[limits]\nparallel_tasks = 0\n\n[[permissions]]\nid = \"mine.a\"\nverdict = \"deny\"\nreason = \"r\"\n\
             commands = [\"rm -rf\"]\nmatches = [\"rm -r x\"]\n",
        );
        let lines: Vec<usize> = found.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [9, 1], "{found:?}");
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_line() {
        let found = problems("[limits]\nparallel_tasks = = 2\n");
        assert_eq!(found[0].line, 2, "{found:?}");
    }

    #[test]
    fn a_fine_policy_says_how_many_examples_hold() {
        let policy = check("mine.toml", "headless = true\n", &Prompts::default()).expect("fine");
        assert!(examples(&policy) > 50);
    }
}
