//! Scripts, lists, pipelines and compound commands: finds the commands in a text and connects the stages of pipelines.

use types::CommandRisk;

use super::part::Part;
use super::source::{Found, MOST_BYTES, Read, Source, Unclear, ends_word, is_name};
use super::word::{Atom, Word, word};

/// Where a list ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With the text.
    Text,
    Paren,
    /// Before one of these words, where a command would begin.
    Words(&'static [&'static str]),
    /// Before the end of a branch of `case`.
    Branch,
}

/// Parses a whole script. If it cannot be parsed to the end, the rest becomes one part marked as such.
pub(super) fn read_script(found: &mut Found, text: &str, depth: u32) {
    let mut source = Source::new(found, text, depth);
    if let Err(Unclear(why)) = source.script() {
        let at = source.at.min(source.text.len());
        let rest: String = source.text.iter().skip(at.saturating_sub(1)).take(200).collect();
        let part = Part { depth, origin: source.found.parts.len(), ..Part::unclear(why, rest) };
        source.found.parts.push(part);
    }
}

impl Source<'_> {
    /// The whole text as a script.
    pub(super) fn script(&mut self) -> Read<()> {
        self.list(End::Text)?;
        if !self.awaited.is_empty() {
            return Err(Unclear("a here-document has no end marker"));
        }
        if self.peek().is_none() {
            Ok(())
        } else {
            Err(Unclear("a closing parenthesis or keyword has no opening one"))
        }
    }

    /// Commands, up to where the list ends.
    pub(super) fn list(&mut self, end: End) -> Read<()> {
        let mut first = self.found.parts.len();
        loop {
            self.gap()?;
            if self.is_at(end) {
                return Ok(());
            }
            if self.peek().is_none() {
                return Err(Unclear("it is incomplete"));
            }
            self.pipeline()?;
            self.blanks();
            match (self.peek(), self.peek_at(1)) {
                (Some(';'), Some(';' | '&')) if end == End::Branch => return Ok(()),
                (Some(';'), Some(';' | '&')) => return Err(Unclear("a ;; or ;& outside a case")),
                (Some('&'), Some('&')) | (Some('|'), Some('|')) => {
                    self.at += 2;
                    continue;
                }
                (Some('&'), _) => {
                    self.at += 1;
                    for part in self.found.parts.iter_mut().skip(first) {
                        part.background = true;
                    }
                    self.found.subshell(first);
                }
                (Some(';'), _) => self.at += 1,
                (None | Some('\n' | '#'), _) => {}
                (Some(')'), _) if matches!(end, End::Paren | End::Branch) => {}
                (Some(_), _) if self.is_at(end) => {}
                _ => return Err(Unclear("an operator is in an unexpected position")),
            }
            first = self.found.parts.len();
        }
    }

    /// Commands, up to one of these words and past it; returns the word.
    fn list_past(&mut self, words: &'static [&'static str]) -> Read<String> {
        self.list(End::Words(words))?;
        let word = self.plain().unwrap_or_default();
        self.pass_word(&word);
        Ok(word)
    }

    fn is_at(&self, end: End) -> bool {
        match end {
            End::Text => self.peek().is_none(),
            End::Paren => self.peek() == Some(')'),
            End::Words(words) => self.plain().is_some_and(|word| words.contains(&word.as_str())),
            End::Branch => {
                (self.peek() == Some(';') && matches!(self.peek_at(1), Some(';' | '&')))
                    || self.plain().as_deref() == Some("esac")
            }
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        let start = self.found.parts.len();
        loop {
            let stage = self.found.parts.len();
            self.deeper(Self::command)?;
            if stage > start {
                for part in self.found.parts.iter_mut().skip(stage) {
                    part.upstream.push(start..stage);
                }
            }
            self.blanks();
            let last = self.peek() != Some('|') || self.peek_at(1) == Some('|');
            if stage > start || !last {
                self.found.subshell(stage);
            }
            if last {
                return Ok(());
            }
            self.at += 1;
            // `|&` sends the errors along.
            self.passes("&");
            self.gap()?;
        }
    }

    /// The next word without moving past it, if it has no quotes or expansions.
    pub(super) fn plain(&self) -> Option<String> {
        let word: String = self
            .text
            .iter()
            .skip(self.at)
            .take_while(|c| !ends_word(**c))
            .take(MOST_BYTES)
            .collect();
        let clean = !word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`']);
        clean.then_some(word)
    }

    /// One command of any kind.
    pub(super) fn command(&mut self) -> Read<()> {
        self.blanks();
        if self.peek() == Some('(') {
            return self.parenthesis();
        }
        let Some(first) = self.plain() else { return self.simple() };
        match first.as_str() {
            "!" | "coproc" => {
                self.pass_word(&first);
                self.deeper(Self::command)
            }
            "time" => {
                self.pass_word(&first);
                self.blanks();
                if self.plain().as_deref() == Some("-p") {
                    self.at += 2;
                    self.blanks();
                }
                let ends = |c: char| matches!(c, '\n' | ';' | '&' | '|' | ')');
                if self.peek().is_none_or(ends) { Ok(()) } else { self.deeper(Self::command) }
            }
            "if" | "while" | "until" | "for" | "select" | "case" | "{" | "[[" | "function" => {
                self.pass_word(&first);
                self.deeper(|source| source.compound(&first))?;
                self.trailing_redirections()
            }
            "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "in" => {
                Err(Unclear("a shell keyword is in the place of a command"))
            }
            _ => self.simple(),
        }
    }

    fn compound(&mut self, first: &str) -> Read<()> {
        match first {
            "if" => self.branches(),
            "while" | "until" => {
                self.list(End::Words(&["do"]))?;
                self.body()
            }
            "for" | "select" => self.each(),
            "case" => self.case(),
            "{" => self.list_past(&["}"]).map(drop),
            "[[" => self.test(),
            _ => self.function(),
        }
    }

    fn pass_word(&mut self, word: &str) {
        self.at += word.chars().count();
    }

    /// `(…)` or `((…))`.
    fn parenthesis(&mut self) -> Read<()> {
        if self.passes("((") {
            self.arithmetic(false)?;
        } else {
            self.at += 1;
            let from = self.found.parts.len();
            self.deeper(|source| source.list(End::Paren))?;
            self.expect(")", "a parenthesis is not closed")?;
            self.found.subshell(from);
        }
        self.trailing_redirections()
    }

    fn branches(&mut self) -> Read<()> {
        self.list_past(&["then"])?;
        loop {
            match self.list_past(&["elif", "else", "fi"])?.as_str() {
                "elif" => drop(self.list_past(&["then"])?),
                "else" => return self.list_past(&["fi"]).map(drop),
                _ => return Ok(()),
            }
        }
    }

    /// `do … done`, from before `do`.
    fn body(&mut self) -> Read<()> {
        self.gap()?;
        if self.plain().as_deref() != Some("do") {
            return Err(Unclear("a loop has no body"));
        }
        self.at += 2;
        self.list_past(&["done"]).map(drop)
    }

    /// `for NAME in …; do …; done`, from after `for`.
    fn each(&mut self) -> Read<()> {
        self.blanks();
        if self.passes("((") {
            self.arithmetic(true)?;
            self.blanks();
            self.passes(";");
            return self.body();
        }
        let Some(name) = self.plain().filter(|name| is_name(name)) else {
            return Err(Unclear("a loop has no variable name"));
        };
        self.pass_word(&name);
        self.found.set(&name, None);
        self.gap()?;
        if self.plain().as_deref() == Some("in") {
            self.at += 2;
            loop {
                self.blanks();
                match self.peek() {
                    Some('\n' | ';') => break,
                    Some('#') => self.comment(),
                    _ => {
                        if self.atoms()?.is_empty() {
                            return Err(Unclear("the words of a loop cannot be parsed"));
                        }
                    }
                }
            }
        }
        self.blanks();
        self.passes(";");
        self.body()
    }

    /// `case … in …) …;; esac`, from after `case`.
    fn case(&mut self) -> Read<()> {
        self.blanks();
        if self.atoms()?.is_empty() {
            return Err(Unclear("case has no subject"));
        }
        self.gap()?;
        if self.plain().as_deref() != Some("in") {
            return Err(Unclear("case has no branches"));
        }
        self.at += 2;
        loop {
            self.gap()?;
            if self.plain().as_deref() == Some("esac") {
                self.at += 4;
                return Ok(());
            }
            self.passes("(");
            loop {
                self.blanks();
                if self.passes(")") {
                    break;
                }
                if !self.passes("|") && self.atoms()?.is_empty() {
                    return Err(Unclear("a case pattern cannot be parsed"));
                }
            }
            self.list(End::Branch)?;
            let _ended = self.passes(";;&") || self.passes(";;") || self.passes(";&");
        }
    }

    /// `[[ … ]]`, from after the brackets. Skips its operators and reads its words.
    fn test(&mut self) -> Read<()> {
        let from = self.found.parts.len();
        let mut words = vec![Word::of("[[")];
        loop {
            self.gap()?;
            if self.plain().as_deref() == Some("]]") {
                self.at += 2;
                break;
            }
            let from_word = self.at;
            let atoms: Vec<Atom> = self.atoms()?;
            if self.written(from_word).contains("\\\n") {
                return Err(Unclear("a test contains a line continuation"));
            }
            if !atoms.is_empty() {
                words.push(word(&atoms));
                continue;
            }
            match self.next() {
                Some('(' | ')' | '<' | '>' | '&' | '|') => {}
                _ => return Err(Unclear("a test is not closed")),
            }
        }
        let counts = |word: &Word| {
            let numeric = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];
            word.known().is_some_and(|text| numeric.contains(&text.as_str()))
        };
        let mut part = Part { inside: from..self.found.parts.len(), ..Part::default() };
        if words.iter().any(counts) {
            part.risks.insert(CommandRisk::RunsCode);
        }
        part.words = words;
        self.add(part)
    }

    /// `function NAME [()] …`, from after the word.
    fn function(&mut self) -> Read<()> {
        self.blanks();
        let Some(name) = self.plain() else { return Err(Unclear("a function has no name")) };
        self.pass_word(&name);
        self.blanks();
        if self.passes("(") {
            self.blanks();
            self.expect(")", "a function cannot be parsed")?;
        }
        self.function_body(&name)
    }

    pub(super) fn function_body(&mut self, name: &str) -> Read<()> {
        self.gap()?;
        let first = self.found.parts.len();
        self.found.functions.push(name.to_owned());
        self.deeper(Self::command)?;
        for part in self.found.parts.iter_mut().skip(first) {
            part.functions.push(name.to_owned());
        }
        Ok(())
    }

    /// The redirections of a whole group, as a part without words.
    fn trailing_redirections(&mut self) -> Read<()> {
        let mut part = Part { inside: self.found.parts.len()..0, ..Part::default() };
        loop {
            self.blanks();
            let Some(redirection) = self.redirection()? else { break };
            part.redirections.push(redirection);
        }
        part.inside.end = self.found.parts.len();
        if part.redirections.is_empty() { Ok(()) } else { self.add(part) }
    }
}
