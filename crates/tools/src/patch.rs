//! Parses the v4a patch format into sections and hunks. Text only; no file is accessed here. Anything that is
//! not understood is rejected with its line, because a half-understood patch does harm.

use types::WorkPath;

use crate::schema;

/// Changes to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Add { path: WorkPath, content: String },
    Delete { path: WorkPath },
    Update { path: WorkPath, to: Option<WorkPath>, hunks: Vec<Hunk> },
}

/// One change in a file: its position and its lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Lines above the change, from top to bottom.
    pub(crate) hints: Vec<String>,
    pub(crate) lines: Vec<HunkLine>,
    /// The change is at the end of the file.
    pub(crate) at_end: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HunkLine {
    Keep(String),
    Remove(String),
    Insert(String),
}

impl HunkLine {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Keep(text) | Self::Remove(text) | Self::Insert(text) => text,
        }
    }

    /// The line that takes this one back.
    pub(crate) fn inverse(&self) -> Self {
        match self {
            Self::Keep(text) => Self::Keep(text.clone()),
            Self::Remove(text) => Self::Insert(text.clone()),
            Self::Insert(text) => Self::Remove(text.clone()),
        }
    }

    /// A line of the same kind with another text.
    pub(crate) fn like(&self, text: &str) -> Self {
        let text = text.trim_end_matches('\r').to_owned();
        match self {
            Self::Keep(_) => Self::Keep(text),
            Self::Remove(_) => Self::Remove(text),
            Self::Insert(_) => Self::Insert(text),
        }
    }
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Parses a patch.
pub(crate) fn parse(text: &str) -> Result<Vec<Section>, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let mut lines: Vec<&str> =
        text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    if lines.first().map(|line| line.trim_end()) != Some(BEGIN) {
        return Err(format!("the patch must begin with the line {BEGIN:?}"));
    }
    if lines.len() < 2 || lines.pop().map(str::trim_end) != Some(END) {
        return Err(format!("the patch must end with the line {END:?}"));
    }
    let mut reader = Reader { lines: &lines, at: 1 };
    let mut sections = Vec::new();
    while let Some(line) = reader.next() {
        sections.push(reader.section(line)?);
    }
    if sections.is_empty() {
        return Err("the patch changes no file".to_owned());
    }
    refuse_twice(&sections)?;
    Ok(sections)
}

impl Section {
    /// All paths that the section touches.
    pub(crate) fn paths(&self) -> Vec<&WorkPath> {
        match self {
            Self::Add { path, .. } | Self::Delete { path } => vec![path],
            Self::Update { path, to, .. } => std::iter::once(path).chain(to).collect(),
        }
    }
}

fn refuse_twice(sections: &[Section]) -> Result<(), String> {
    let mut paths: Vec<&WorkPath> = sections.iter().flat_map(Section::paths).collect();
    paths.sort();
    match paths.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!(
            "the patch names {} twice; put all changes of a file into one section",
            pair[0]
        )),
        None => Ok(()),
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn wrong(&self, what: &str) -> String {
        let line: String = self.lines.get(self.at - 1).unwrap_or(&"").chars().take(120).collect();
        format!("line {} of the patch, {line:?}: {what}", self.at)
    }

    fn section(&mut self, line: &str) -> Result<Section, String> {
        if let Some(path) = line.strip_prefix(ADD) {
            let path = self.file(path)?;
            return Ok(Section::Add { path, content: self.added()? });
        }
        if let Some(path) = line.strip_prefix(DELETE) {
            return Ok(Section::Delete { path: self.file(path)? });
        }
        if let Some(path) = line.strip_prefix(UPDATE) {
            let path = self.file(path)?;
            let to = match self.peek().and_then(|line| line.strip_prefix(MOVE)) {
                Some(to) => {
                    self.at += 1;
                    Some(self.file(to)?)
                }
                None => None,
            };
            let hunks = self.hunks()?;
            if hunks.is_empty() && to.is_none() {
                return Err(format!("the patch updates {path} without any change"));
            }
            return Ok(Section::Update { path, to, hunks });
        }
        Err(self.wrong("expected a line with Add File, Delete File or Update File"))
    }

    fn file(&self, text: &str) -> Result<WorkPath, String> {
        schema::file(text.trim()).map_err(|complaint| self.wrong(&complaint))
    }

    fn added(&mut self) -> Result<String, String> {
        let mut content = String::new();
        while let Some(line) = self.peek().filter(|line| !line.starts_with("*** ")) {
            self.at += 1;
            let Some(line) = line.strip_prefix('+') else {
                return Err(self.wrong("every line of a new file begins with +"));
            };
            content.push_str(line);
            content.push('\n');
        }
        Ok(content)
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, String> {
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut hunk = Hunk::default();
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE {
                self.at += 1;
                hunk.at_end = true;
                hunks.push(std::mem::take(&mut hunk));
                continue;
            }
            if line.starts_with("*** ") {
                break;
            }
            self.at += 1;
            if let Some(hint) = line.strip_prefix("@@") {
                if !hunk.lines.is_empty() {
                    hunks.push(std::mem::take(&mut hunk));
                }
                hunk.hints.extend(hint_of(hint));
                continue;
            }
            hunk.lines.push(self.hunk_line(line)?);
        }
        if !hunk.lines.is_empty() {
            hunks.push(hunk);
        } else if !hunk.hints.is_empty() {
            return Err(self.wrong("there is no change after the @@ line"));
        }
        Ok(hunks)
    }

    fn hunk_line(&self, line: &str) -> Result<HunkLine, String> {
        let mut characters = line.chars();
        match characters.next() {
            // An empty context line often lacks its leading space.
            None => Ok(HunkLine::Keep(String::new())),
            Some(' ') => Ok(HunkLine::Keep(characters.as_str().to_owned())),
            Some('-') => Ok(HunkLine::Remove(characters.as_str().to_owned())),
            Some('+') => Ok(HunkLine::Insert(characters.as_str().to_owned())),
            Some(_) => Err(self.wrong("every line of a change begins with a blank, - or +")),
        }
    }
}

/// Position hint of an `@@` line. Line numbers, as in other formats, are not trusted.
fn hint_of(text: &str) -> Option<String> {
    let text = text.trim();
    let text = match text.strip_prefix('-').and_then(|rest| rest.split_once("@@")) {
        Some((numbers, rest)) if numbers.starts_with(|c: char| c.is_ascii_digit()) => rest.trim(),
        _ => text.strip_suffix("@@").unwrap_or(text).trim(),
    };
    (!text.is_empty()).then(|| text.to_owned())
}
