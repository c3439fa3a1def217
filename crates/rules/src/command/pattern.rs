//! Patterns for commands in rules: `git push --force`, `rm -rf <outside>`, `mkfs*`.
//!
//! The first word is the program. Options may appear anywhere, in any order, bundled or in their long form. Plain words
//! follow the program in this order; those that look like paths may appear anywhere. `a|b` is either, `*` matches any
//! characters, `<outside>` and `<device>` match arguments that name something outside the workspace, or a device. Rules
//! that forbid match loosely; rules that allow match strictly and never cover a dangerous flag that they do not name.

use evidence::files::fits;
use types::CommandRisk;

use super::flags::Flag;
use super::part::Part;
use super::word::Word;
use super::{dangerous_flags, paths, programs};

/// Risks that a rule allowing a program never covers.
const NEVER: [CommandRisk; 8] = [
    CommandRisk::Opaque,
    CommandRisk::Redirects,
    CommandRisk::WritesOutside,
    CommandRisk::WritesDevice,
    CommandRisk::SetsVariable,
    CommandRisk::PipeToShell,
    CommandRisk::NetworkToShell,
    CommandRisk::Connects,
];

/// A parsed pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pattern {
    program: Vec<String>,
    /// Plain words, each with its alternatives.
    words: Vec<Vec<String>>,
    paths: Vec<Vec<String>>,
    flags: Vec<Flag>,
    outside: bool,
    device: bool,
}

impl Pattern {
    /// Parses a pattern; none if it names no program.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let either = |word: &str| word.split('|').map(str::to_owned).collect::<Vec<_>>();
        let mut words = text.split_whitespace();
        let program = either(words.next()?);
        let mut pattern = Self { program, ..Self::default() };
        for word in words {
            match word {
                "<outside>" => pattern.outside = true,
                "<device>" => pattern.device = true,
                _ if word.starts_with('-') && word.len() > 1 => {
                    let name = pattern.program.first().map(String::as_str).unwrap_or_default();
                    pattern.flags.extend(Flag::parse(name, &either(word)));
                }
                _ if word.contains('/') || word.starts_with(['~', '.']) => {
                    pattern.paths.push(either(word));
                }
                _ => pattern.words.push(either(word)),
            }
        }
        Some(pattern)
    }

    /// Whether a pattern can match any of these programs, by its first word alone.
    pub(crate) fn is_near(text: &str, names: &[String]) -> bool {
        let near = |program: &str| {
            let loose = program.contains(['*', '/']) || !program.is_ascii();
            loose || names.iter().any(|name| program.eq_ignore_ascii_case(name))
        };
        text.split_whitespace().next().is_some_and(|first| first.split('|').any(near))
    }

    /// Loose matching, for rules that forbid or ask.
    pub(crate) fn is_like(&self, part: &Part) -> bool {
        let (Some(name), Some(first)) = (part.name(), part.words.first()) else { return false };
        let called = |program: &String| {
            fits(&program.to_lowercase(), &name)
                || program.contains('/') && first.likely().is_some_and(|text| fits(program, &text))
        };
        if !self.program.iter().any(called) {
            return false;
        }
        let arguments = part.words.get(1..).unwrap_or_default();
        let texts: Vec<String> = arguments.iter().map(Word::shown).collect();
        let end = texts.iter().position(|text| text == "--").unwrap_or(texts.len());
        let has = |flag: &Flag| {
            // `kill -- -1` names a process group, as `kill -1` does.
            let end = if flag.is_number() { texts.len() } else { end };
            texts[..end].iter().any(|text| flag.is_in(text, true))
        };
        self.flags.iter().all(has)
            && self.paths.iter().all(|path| texts.iter().any(|text| any(path, text)))
            && self.places(part, arguments)
            && self.words_in_order(&texts)
    }

    /// Whether the plain words come first, apart from options and their possible values.
    fn words_in_order(&self, texts: &[String]) -> bool {
        let mut wanted = self.words.iter();
        let Some(mut next) = wanted.next() else { return true };
        let mut after_option = false;
        for text in texts {
            if text.starts_with('-') && text.len() > 1 {
                after_option = !text.contains('=');
                continue;
            }
            if any(next, text) {
                match wanted.next() {
                    Some(word) => next = word,
                    None => return true,
                }
            } else if !after_option {
                return false;
            }
            after_option = false;
        }
        false
    }

    /// Strict matching, for rules that allow: covers the part and everything that it does.
    pub(crate) fn covers(&self, part: &Part) -> bool {
        let Some(first) = part.words.first() else { return false };
        // A program named with its path is allowed at that path; any other must be found by `PATH` or in a system
        // folder.
        let by_name = programs::certain(first);
        let by_path = first.known().filter(|text| text.contains('/'));
        let called = |program: &String| {
            let wanted = if program.contains('/') { &by_path } else { &by_name };
            wanted.as_ref().is_some_and(|text| fits(program, text))
        };
        let named = self.program.iter().any(called);
        let name = part.name().unwrap_or_default();
        let plain = self.words.is_empty() && self.flags.is_empty() && self.paths.is_empty();
        let arguments = part.words.get(1..).unwrap_or_default();
        named
            && self.begins(part, arguments)
            && !part.risks.iter().any(|risk| NEVER.contains(risk) || *risk == CommandRisk::ForkBomb)
            && !(plain && part.risks.contains(&CommandRisk::RunsCode))
            && dangerous_flags::find(&name, arguments, &self.flags).is_none()
    }

    /// Whether the arguments begin with the pattern's words, with no options before them but the pattern's own.
    fn begins(&self, part: &Part, arguments: &[Word]) -> bool {
        let mut wanted = self.words.iter().peekable();
        for word in arguments {
            let Some(next) = wanted.peek() else { break };
            let Some(text) = word.known() else { return false };
            if any(next, &text) {
                wanted.next();
            } else if !self.flags.iter().any(|flag| flag.is_in(&text, false)) {
                return false;
            }
        }
        let known: Vec<String> = arguments.iter().filter_map(Word::known).collect();
        wanted.peek().is_none()
            && self.flags.iter().all(|flag| known.iter().any(|text| flag.is_in(text, false)))
            && self.paths.iter().all(|path| known.iter().any(|text| any(path, text)))
            && self.places(part, arguments)
    }

    /// Whether the arguments name the places that the pattern does.
    fn places(&self, part: &Part, arguments: &[Word]) -> bool {
        let mut plain = arguments.iter().filter(|word| !word.shown().starts_with('-'));
        (!self.outside || plain.any(|word| paths::is_outside_from(part.cwd, word)))
            && (!self.device || arguments.iter().any(names_a_device))
    }
}

/// `of=/dev/sda` names a device as much as `/dev/sda` does.
fn names_a_device(word: &Word) -> bool {
    let value = |text: String| text.split_once('=').map(|(_, value)| Word::of(value));
    paths::is_device(word) || value(word.shown()).is_some_and(|word| paths::is_device(&word))
}

fn any(alternatives: &[String], text: &str) -> bool {
    alternatives.iter().any(|pattern| fits(pattern, text))
}
