//! JUnit XML, as most runners can write it: suites and cases.
//!
//! A small dedicated reader. It expands only the five standard entities and numbers, skips document types, comments and
//! texts, and calls a file complete only if every element is closed.

use types::TestOutcome;

use super::part::{Cases, Part};

/// Reads one report file; `None` if it is not JUnit XML.
pub(super) fn read(path: &str, content: &str) -> Option<Part> {
    let mut reading = Reading::default();
    let mut rest = content.trim_start_matches('\u{feff}').trim_start();
    if !rest.starts_with('<') {
        return None;
    }
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some(after) = reading.mark(rest) else {
            reading.broken = true;
            break;
        };
        rest = after;
    }
    if !reading.is_junit {
        return None;
    }
    let complete = !reading.broken && reading.open.is_empty() && reading.closed;
    let runner = runner(path, &reading.title);
    Some(Part::named(runner, complete, reading.cases))
}

/// The runner that wrote the file, from its path and title.
fn runner(path: &str, title: &str) -> &'static str {
    match title {
        "pytest tests" | "pytest" => "pytest",
        "vitest tests" => "vitest",
        "jest tests" => "jest",
        "Mocha Tests" => "mocha",
        "nextest-run" => "cargo nextest",
        "rspec" => "rspec",
        _ if path.contains("surefire-reports") || path.contains("failsafe-reports") => "maven",
        _ if path.contains("test-results/") => "gradle",
        _ => "junit",
    }
}

#[derive(Default)]
struct Reading {
    is_junit: bool,
    closed: bool,
    broken: bool,
    /// The name of the outermost suite.
    title: String,
    /// Open elements, with the names of suites.
    open: Vec<(String, String)>,
    /// The open test.
    case: Option<(String, TestOutcome)>,
    cases: Cases,
}

impl Reading {
    /// Reads the element after a `<`; returns the rest, or `None` if it never ends.
    fn mark<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        for (open, close) in [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")] {
            if let Some(inner) = rest.strip_prefix(open) {
                return inner.split_once(close).map(|(_, after)| after);
            }
        }
        if rest.starts_with('!') {
            return skip_document_type(rest);
        }
        if let Some(name) = rest.strip_prefix('/') {
            let (name, after) = name.split_once('>')?;
            self.end(name.trim());
            return Some(after);
        }
        let (element, after) = element(rest)?;
        self.begin(element);
        Some(after)
    }

    fn begin(&mut self, element: Element<'_>) {
        let Element { name, attributes, is_empty } = element;
        let get = |key: &str| {
            attributes.iter().find(|(k, _)| *k == key).map(|(_, v)| unescape(v)).unwrap_or_default()
        };
        let mut title = String::new();
        match name {
            "testsuites" | "testsuite" => {
                self.is_junit = true;
                title = get("name");
                if self.title.is_empty() {
                    self.title.clone_from(&title);
                }
            }
            "testcase" if self.is_junit => {
                let name = self.case_name(&get("classname"), &get("name"));
                self.case = Some((name, TestOutcome::Passed));
            }
            "skipped" | "failure" | "error" => {
                if let Some((_, outcome)) = &mut self.case {
                    let skipped = name == "skipped" || *outcome == TestOutcome::Skipped;
                    *outcome = if skipped { TestOutcome::Skipped } else { TestOutcome::Failed };
                }
            }
            _ => {}
        }
        if self.open.len() > 200 {
            self.broken = true;
            return;
        }
        self.open.push((name.to_owned(), title));
        if is_empty {
            self.end(name);
        }
    }

    /// `classname::name`, or the suites around it if there is no class.
    fn case_name(&self, class: &str, name: &str) -> String {
        if !class.is_empty() && class != "test" {
            return format!("{class}::{name}");
        }
        let suites = self.open.iter().map(|(_, title)| title.as_str()).filter(|t| !t.is_empty());
        suites.chain([name]).collect::<Vec<_>>().join(" > ")
    }

    fn end(&mut self, name: &str) {
        match self.open.pop() {
            Some((open, _)) if open == name => {}
            _ => self.broken = true,
        }
        if name == "testcase"
            && let Some((name, outcome)) = self.case.take()
        {
            self.cases.push(&name, outcome);
        }
        self.closed |= self.open.is_empty() && (name == "testsuites" || name == "testsuite");
    }
}

fn skip_document_type(rest: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, char) in rest.char_indices() {
        match char {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '>' if depth == 0 => return Some(&rest[at + 1..]),
            _ => {}
        }
    }
    None
}

struct Element<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    is_empty: bool,
}

/// Reads an element and its attributes; `None` if it is truncated.
fn element(rest: &str) -> Option<(Element<'_>, &str)> {
    let end = rest.find(|char: char| char.is_whitespace() || char == '>' || char == '/')?;
    let (name, mut rest) = rest.split_at(end);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>") {
            return Some((Element { name, attributes, is_empty: true }, after));
        }
        if let Some(after) = rest.strip_prefix('>') {
            return Some((Element { name, attributes, is_empty: false }, after));
        }
        let end = rest.find(['=', '>'])?;
        if !rest[end..].starts_with('=') {
            return None;
        }
        let key = rest[..end].trim();
        let value = rest[end + 1..].trim_start();
        let quote = value.chars().next().filter(|char| matches!(char, '"' | '\''))?;
        let (value, after) = value[1..].split_once(quote)?;
        if attributes.len() < 32 {
            attributes.push((key, value));
        }
        rest = after;
    }
}

/// Replaces the five standard entities and numbers; any other stays as is.
fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.char_indices().take(12).find(|(_, char)| *char == ';').map(|(at, _)| at);
        match end.and_then(|end| Some((entity(&rest[1..end])?, end))) {
            Some((char, end)) => {
                text.push(char);
                rest = &rest[end + 1..];
            }
            None => {
                text.push('&');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}
