//! Verification of a spec's criteria: by a command, by a check of the same name, or by a person's confirmation. Decided
//! once, from the form of the text, when the request is made. Runs nothing.

use types::{Check, Spec};

/// Programs that make a criterion a command without further marking.
const PROGRAMS: [&str; 28] = [
    "bash", "bundle", "bun", "cargo", "cmake", "ctest", "deno", "diff", "dotnet", "go", "gradle",
    "grep", "jest", "just", "make", "mvn", "node", "npm", "npx", "php", "pnpm", "pytest", "python",
    "python3", "ruby", "sh", "tox", "yarn",
];
/// The longest name of a check, in characters.
const NAME: usize = 120;

/// How a criterion is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shown {
    /// This command exits with 0.
    Command(String),
    /// A check of the spec with its name.
    ByCheck,
    /// A person confirms it.
    Person,
}

/// The checks for the criteria, and the sentences that only a person can confirm.
pub(super) fn split(spec: &Spec, checks: &[Check]) -> (Vec<Check>, Vec<String>) {
    let (mut commands, mut sentences) = (Vec::<Check>::new(), Vec::new());
    for criterion in &spec.verification.criteria {
        match shown(criterion, checks) {
            Shown::Command(command) => {
                let known = checks.iter().chain(&commands).any(|check| check.command == command);
                if !known {
                    let name = types::one_line(criterion, NAME);
                    commands.push(Check { criterion: true, ..Check::new(name, command) });
                }
            }
            Shown::Person => sentences.push(criterion.trim().to_owned()),
            Shown::ByCheck => {}
        }
    }
    (commands, sentences)
}

fn shown(criterion: &str, checks: &[Check]) -> Shown {
    let criterion = criterion.trim();
    let prefix = criterion.split_once(':').map(|(name, _)| name.trim());
    let names = |check: &Check| {
        let is = |text: &str| check.name.trim().eq_ignore_ascii_case(text);
        is(criterion) || prefix.is_some_and(is)
    };
    if checks.iter().any(names) {
        return Shown::ByCheck;
    }
    let marked = criterion.strip_prefix("$ ").or_else(|| {
        criterion.strip_prefix('`')?.strip_suffix('`').filter(|in_it| !in_it.contains('`'))
    });
    match marked {
        Some(command) if !command.trim().is_empty() => Shown::Command(command.trim().to_owned()),
        None if is_command(criterion) => Shown::Command(criterion.to_owned()),
        _ => Shown::Person,
    }
}

/// Whether a text is almost certainly a command: a program of the repository, or a well-known one with an option, a
/// path or a single word. A misread criterion fails or asks a person; it never counts as proven.
fn is_command(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((program, rest)) = words.split_first() else { return false };
    if text.contains('\n') || text.ends_with(['.', '!', '?', ':']) {
        return false;
    }
    let technical = |word: &&str| {
        let option = word.len() > 1 && word.starts_with('-');
        option || word.contains('/') || word.contains('=')
    };
    if program.starts_with("./") && program.len() > 2 {
        return true;
    }
    if ["test", "["].contains(program) {
        return rest.first().is_some_and(|word| word.len() == 2 && word.starts_with('-'));
    }
    PROGRAMS.contains(program) && (rest.len() <= 1 || rest.iter().any(technical))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_alone(criterion: &str) -> Shown {
        shown(criterion, &[Check::new("greeting", "sh t.sh")])
    }

    #[test]
    fn a_command_is_told_from_a_sentence_by_its_form() {
        for text in [
            "make test",
            "cargo test --workspace",
            "pytest -q",
            "./run.sh all of it",
            "sh tests/all.sh",
            "test -f greeting.txt",
            "grep -q hello greeting.txt",
        ] {
            assert_eq!(shown_alone(text), Shown::Command(text.to_owned()), "{text}");
        }
        assert_eq!(shown_alone("`any thing`"), Shown::Command("any thing".to_owned()));
        assert_eq!(shown_alone("$ any thing"), Shown::Command("any thing".to_owned()));
        for text in [
            "The header names the columns",
            "make the button blue",
            "test coverage is good",
            "test coverage",
            "go to the page and it loads",
            "`export` writes `a.csv`",
            "python 3 is enough to run it",
            "Greeting",
        ] {
            let wanted = if text == "Greeting" { Shown::ByCheck } else { Shown::Person };
            assert_eq!(shown_alone(text), wanted, "{text}");
        }
        assert_eq!(shown_alone("greeting: it says hello"), Shown::ByCheck);
        assert_eq!(shown_alone("header: it says hello"), Shown::Person);
    }
}
