//! One command of a line and everything known about it. Data only: the parser fills it in, and `risks` adds the risks.

use std::collections::BTreeSet;
use std::ops::Range;

use types::CommandRisk;

use super::paths::Cwd;
use super::word::Word;

/// One command of a line: a program with its words, or only assignments or redirections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Variables that it sets, for itself or for later commands.
    pub(super) assigns: Vec<(String, Word)>,
    pub(crate) redirections: Vec<Redirection>,
    /// Effects beyond those of the program itself.
    pub(crate) risks: BTreeSet<CommandRisk>,
    /// It only starts another command, which is a part of its own.
    pub(crate) is_wrapper: bool,
    /// Why it could not be read, if it could not.
    pub unclear: Option<&'static str>,
    /// Nesting depth in other commands.
    pub(super) depth: u32,
    /// It runs in the background.
    pub(super) background: bool,
    /// The part as written that it comes from.
    pub(super) origin: usize,
    /// Parts inside its words.
    pub(super) inside: Range<usize>,
    /// Parts whose output may be its input.
    pub(super) upstream: Vec<Range<usize>>,
    /// Its working directory, after the commands before it.
    pub(super) cwd: Cwd,
    /// The subshells around it, innermost first; a `cd` has no effect outside its own.
    pub(super) shells: Vec<usize>,
    /// The part that starts it.
    pub(super) started_by: Option<usize>,
    /// The functions around it.
    pub(super) functions: Vec<String>,
}

impl Part {
    /// The part in one line, for display; not necessarily valid shell.
    #[must_use]
    pub fn shown(&self) -> String {
        let assigns = self.assigns.iter().map(|(name, value)| format!("{name}={}", value.shown()));
        // `export A=b` has its assignments among its words too.
        let assigns = assigns.filter(|text| !self.words.iter().any(|word| word.shown() == *text));
        let words = self.words.iter().map(Word::shown);
        let redirections = self.redirections.iter().map(Redirection::shown);
        assigns.chain(words).chain(redirections).collect::<Vec<_>>().join(" ")
    }

    /// The value that it gives a variable.
    pub(crate) fn set(&self, name: &str) -> Option<&Word> {
        self.assigns.iter().rfind(|(set, _)| set == name).map(|(_, value)| value)
    }

    /// A part for text that could not be read.
    pub(super) fn unclear(why: &'static str, text: String) -> Self {
        let words = vec![Word::unknown(text)];
        Self {
            words,
            unclear: Some(why),
            risks: BTreeSet::from([CommandRisk::Opaque]),
            ..Self::default()
        }
    }
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirection {
    pub(super) direction: Direction,
    /// The file, descriptor or delimiter.
    pub(crate) target: Word,
}

/// The effect of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Reads,
    Writes,
    /// Copies a descriptor; touches no file.
    Copies,
    /// Reads a here-document or here-string, by its number.
    Document(usize),
}

impl Redirection {
    pub(super) fn shown(&self) -> String {
        let sign = match self.direction {
            Direction::Reads => "<",
            Direction::Writes => ">",
            Direction::Copies => ">&",
            Direction::Document(_) => "<<",
        };
        format!("{sign} {}", self.target.shown())
    }
}
