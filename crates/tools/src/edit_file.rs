//! `edit_file`: replaces one text in a file by another. The text must occur exactly once, or as often as the call
//! says; a near match is used if it is the only one, and is reported as such.

use memchr::memmem;
use sandbox::Change;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, REDACTED, Repeat};

use crate::text::{Likeness, Lines};
use crate::typed::{Reply, Typed, facts};
use crate::{ToolContext, schema};

/// The shortest new text by which an edit is recognized as made before.
const SHORTEST: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFile {
    /// The file, relative to the workspace.
    path: String,
    /// The text to replace, exactly as it is in the file, with enough around it to be the only one.
    old_string: String,
    /// The text to put in its place.
    new_string: String,
    /// Replace every occurrence instead of the only one.
    replace_all: Option<bool>,
    /// How many occurrences there should be; with any other number nothing is changed.
    #[schemars(range(min = 1))]
    expected_replacements: Option<usize>,
}

impl EditFile {
    /// Number of occurrences to replace; `None` for all.
    fn wanted(&self) -> Option<usize> {
        let only = (self.replace_all != Some(true)).then_some(1);
        self.expected_replacements.or(only)
    }
}

impl Typed for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Replaces a text in a file by another. Read the file first; give the old \
        text exactly as it stands there, without line numbers.";

    fn facts(&self) -> Result<CallFacts, String> {
        let path = schema::file(&self.path)?;
        if self.old_string.is_empty() {
            return Err("old_string is empty; use write_file to make a new file".to_owned());
        }
        if self.old_string == self.new_string {
            return Err("old_string and new_string are the same, so nothing would change; give what is in the file as \
                        old_string, and what it should become as new_string"
                .to_owned());
        }
        Ok(facts(Access::Write, vec![path], Repeat::Unknown))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = schema::file(&self.path)?;
        let bytes = place.env.read(&path).await?;
        place.may_change(&path, &bytes)?;
        let args = meant(self, &bytes, place)?;
        let edit = replace(&bytes, &args);
        if was_made(&bytes, &args, &edit) {
            place.note(&path, Some(&bytes));
            let text = format!(
                "{path} already has the new text: nothing to replace. If you have not made this edit before, give other \
                 lines as old_string"
            );
            let (path, replacements) = (Some(path), Some(0));
            let metadata = Metadata { path, replacements, ..Metadata::default() };
            return Ok(Reply::from(text).knowing(metadata));
        }
        let edit = edit?;
        let bytes = edit.bytes.clone();
        place.env.apply(vec![Change::Write { path: path.clone(), bytes }]).await?;
        place.note(&path, Some(&edit.bytes));
        let text = match edit.remark {
            None => format!("replaced {} in {path}", times(edit.count)),
            Some(remark) => format!("replaced {} in {path}; it {remark}", times(edit.count)),
        };
        let metadata = Metadata {
            bytes: Some(edit.bytes.len() as u64),
            path: Some(path),
            replacements: Some(edit.count as u64),
            ..Metadata::default()
        };
        Ok(Reply::from(text).knowing(metadata))
    }
}

/// The same edit, with the redaction marks shown to the model replaced by the file's secrets.
fn meant(mut args: EditFile, bytes: &[u8], place: &ToolContext<'_>) -> Result<EditFile, String> {
    if !args.old_string.contains(REDACTED)
        || memmem::find(bytes, args.old_string.as_bytes()).is_some()
    {
        return Ok(args);
    }
    let text = String::from_utf8_lossy(bytes);
    let exact = match place.shown(&text) {
        Some(shown) => shown.meant_by(&args.old_string)?.map(str::to_owned),
        None => None,
    };
    let Some(old) = exact else { return Ok(args) };
    if let Some(shown) = place.shown(&old)
        && let Some(new) = shown.restored(&args.new_string)?
    {
        args.new_string = new;
    }
    args.old_string = old;
    Ok(args)
}

/// Replaces the only occurrence of a text in a file.
#[cfg(any(test, fuzzing))]
pub(crate) fn replaced(bytes: &[u8], old: &str, new: &str) -> Result<Vec<u8>, String> {
    let args = EditFile {
        path: "f".to_owned(),
        old_string: old.to_owned(),
        new_string: new.to_owned(),
        replace_all: None,
        expected_replacements: None,
    };
    replace(bytes, &args).map(|edit| edit.bytes)
}

struct Edit {
    bytes: Vec<u8>,
    count: usize,
    remark: Option<String>,
}

fn replace(bytes: &[u8], args: &EditFile) -> Result<Edit, String> {
    let (old, new) = (args.old_string.as_bytes(), args.new_string.as_bytes());
    let count = memmem::find_iter(bytes, old).count();
    if count > 0 {
        // A text within a line says nothing about line endings; new lines get those of the file.
        let adds_lines = new.contains(&b'\n') && !new.contains(&b'\r') && !old.contains(&b'\n');
        if adds_lines && has_returns(bytes) {
            return substitute(bytes, old, with_returns(&args.new_string).as_bytes(), count, args);
        }
        return substitute(bytes, old, new, count, args);
    }
    // Models write line endings as one character; a file may have two.
    if memmem::find(bytes, b"\r\n").is_some() && !old.contains(&b'\r') {
        let (old, new) = (with_returns(&args.old_string), with_returns(&args.new_string));
        let count = memmem::find_iter(bytes, old.as_bytes()).count();
        if count > 0 {
            return substitute(bytes, old.as_bytes(), new.as_bytes(), count, args);
        }
    }
    nearly(bytes, args)
}

/// Whether the file is as the edit would leave it: the old text is gone and the new one is there, or the old text is
/// there only as a part of the new one.
fn was_made(bytes: &[u8], args: &EditFile, edit: &Result<Edit, String>) -> bool {
    let (old, new) = (&args.old_string, &args.new_string);
    let has = |text: &str| memmem::find(bytes, text.as_bytes()).is_some();
    let has = |text: &str| has(text) || has(&with_returns(text));
    match edit {
        Ok(edit) if edit.bytes == bytes => true,
        Ok(edit) if edit.count == 1 && args.wanted() == Some(1) => {
            let part_of_new = memmem::find_iter(new.as_bytes(), old.as_bytes());
            let place = memmem::find(bytes, old.as_bytes());
            place.is_some_and(|place| {
                part_of_new
                    .filter_map(|before| bytes.get(place.checked_sub(before)?..))
                    .any(|there| there.starts_with(new.as_bytes()))
            })
        }
        Ok(_) => false,
        // A short text is found anywhere.
        Err(_) => new.trim().len() >= SHORTEST && !has(old) && has(new),
    }
}

fn substitute(
    bytes: &[u8],
    old: &[u8],
    new: &[u8],
    count: usize,
    args: &EditFile,
) -> Result<Edit, String> {
    if let Some(wanted) = args.wanted().filter(|wanted| *wanted != count) {
        return Err(ambiguous(count, wanted, args));
    }
    let mut edited = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for at in memmem::find_iter(bytes, old) {
        edited.extend_from_slice(&bytes[from..at]);
        edited.extend_from_slice(new);
        from = at + old.len();
    }
    edited.extend_from_slice(&bytes[from..]);
    Ok(Edit { bytes: edited, count, remark: None })
}

/// Whether every line of a file ends with a carriage return.
pub(crate) fn has_returns(bytes: &[u8]) -> bool {
    let mut ends = memmem::find_iter(bytes, b"\n").peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && bytes[at - 1] == b'\r')
}

fn with_returns(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// Replaces whole lines that match except for whitespace, if they occur in one place only.
fn nearly(bytes: &[u8], args: &EditFile) -> Result<Edit, String> {
    let lines = Lines::of(bytes);
    let old: Vec<&[u8]> = args.old_string.as_bytes().split_inclusive(|b| *b == b'\n').collect();
    if old.iter().all(|line| line.trim_ascii().is_empty()) {
        return Err(absent(&lines, &old, args));
    }
    for likeness in [Likeness::LineEnds, Likeness::Indentation] {
        let places: Vec<usize> = lines.find(&old, 0, likeness).collect();
        let [at] = places.as_slice() else {
            if places.is_empty() {
                continue;
            }
            return Err(ambiguous(places.len(), 1, args));
        };
        let (first, last) = (at + 1, at + old.len());
        let remark = likeness.remark().map(|how| format!("{how}, in lines {first} to {last}"));
        return Ok(Edit { bytes: spliced(&lines, *at, &old, args), count: 1, remark });
    }
    Err(absent(&lines, &old, args))
}

/// Replaces the block at a line; new lines get the file's own indentation and line endings.
fn spliced(lines: &Lines<'_>, at: usize, old: &[&[u8]], args: &EditFile) -> Vec<u8> {
    if args.new_string.is_empty() {
        return lines.without(at, old.len());
    }
    let indent = |line: &[u8]| line.len() - line.trim_ascii_start().len();
    let model = old.iter().position(|line| !line.trim_ascii().is_empty()).unwrap_or(0);
    let (there, given) = (lines.all[at + model], old[model]);
    let (there, given) = (&there[..indent(there)], &given[..indent(given)]);
    let fresh = args.new_string.lines().map(|line| {
        let rest = line.as_bytes().strip_prefix(given);
        let indented = rest.filter(|rest| !rest.is_empty()).map(|rest| [there, rest].concat());
        let mut line = indented.unwrap_or_else(|| line.as_bytes().to_vec());
        line.extend_from_slice(lines.ending());
        line
    });
    let before = lines.all[..at].iter().map(|line| line.to_vec());
    let after = lines.all[at + old.len()..].iter().map(|line| line.to_vec());
    lines.join(&before.chain(fresh).chain(after).collect::<Vec<_>>())
}

fn ambiguous(count: usize, wanted: usize, args: &EditFile) -> String {
    format!(
        "old_string occurs {} in {}, not {}; give more of the text around it, or say that all are meant; nothing was changed",
        times(count),
        args.path,
        times(wanted)
    )
}

fn absent(lines: &Lines<'_>, old: &[&[u8]], args: &EditFile) -> String {
    let first = old.iter().find(|line| !line.trim_ascii().is_empty());
    let near = first
        .and_then(|first| lines.find(std::slice::from_ref(first), 0, Likeness::Indentation).next());
    let hint = match near {
        Some(at) => {
            format!("its first line is like line {} of the file, but what follows differs", at + 1)
        }
        None => "read the file again and copy the text exactly".to_owned(),
    };
    format!("old_string was not found in {}; {hint}; nothing was changed", args.path)
}

fn times(count: usize) -> String {
    if count == 1 { "1 time".to_owned() } else { format!("{count} times") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(
        file: &str,
        old: &str,
        new: &str,
        all: bool,
    ) -> Result<(String, Option<String>), String> {
        let args = EditFile {
            path: "f".to_owned(),
            old_string: old.to_owned(),
            new_string: new.to_owned(),
            replace_all: Some(all),
            expected_replacements: None,
        };
        let edit = replace(file.as_bytes(), &args)?;
        Ok((String::from_utf8(edit.bytes).expect("text"), edit.remark))
    }

    #[test]
    fn the_only_occurrence_is_replaced_and_nothing_else_is_touched() {
        for (file, old, new, result) in [
            ("a\r\nb\r\nc", "b", "x", "a\r\nx\r\nc"),
            ("a\r\nb\r\nc", "a\nb", "x\ny", "x\r\ny\r\nc"),
            ("\u{feff}a\tb\n", "a\tb", "c", "\u{feff}c\n"),
            ("no end", "end", "final", "no final"),
            ("a\n", "a\n", "", ""),
        ] {
            assert_eq!(edit(file, old, new, false), Ok((result.to_owned(), None)), "{file:?}");
        }
    }

    /// A75: a text that occurs twice is not replaced without an explicit request.
    #[test]
    fn several_occurrences_are_counted_or_all_replaced() {
        let error = edit("x\nx\n", "x", "y", false).expect_err("ambiguous");
        assert!(error.contains("occurs 2 times"), "{error}");
        assert_eq!(edit("x\nx\n", "x", "y", true), Ok(("y\ny\n".to_owned(), None)));
    }

    /// A76: a near match is reported as one.
    #[test]
    fn a_near_match_is_used_with_the_files_own_indentation_and_is_reported() {
        let file = "fn f() {\n    if a {\n        b();\n    }\n}\n";
        let (text, remark) =
            edit(file, "if a {\n    b();\n}", "if c {\n    d();\n}", false).expect("an edit");
        assert_eq!(text, "fn f() {\n    if c {\n        d();\n    }\n}\n");
        assert!(remark.expect("a remark").contains("indentation, in lines 2 to 4"));
        let (text, remark) = edit("a  \nb\n", "a\nb\n", "c\n", false).expect("an edit");
        assert_eq!(text, "c\n");
        assert!(remark.expect("a remark").contains("blanks at line ends"));
    }

    #[test]
    fn a_text_that_is_not_there_is_an_error_with_a_hint() {
        let error = edit("one\ntwo\n", "one\nthree", "x", false).expect_err("absent");
        assert!(error.contains("not found") && error.contains("line 1"), "{error}");
        let error = edit("  x\n x\n", "x ", "y", false).expect_err("ambiguous");
        assert!(error.contains("occurs 2 times"), "{error}");
    }

    #[test]
    fn the_same_edit_again_is_recognized() {
        let made = |file: &str, old: &str, new: &str| {
            let args = EditFile {
                path: "f".to_owned(),
                old_string: old.to_owned(),
                new_string: new.to_owned(),
                replace_all: None,
                expected_replacements: None,
            };
            let edit = replace(file.as_bytes(), &args);
            was_made(file.as_bytes(), &args, &edit)
        };
        for (before, old, new) in [
            ("a - b\n", "a - b", "a + b"),
            ("import os\n", "import os", "import os\nimport sys"),
            ("x()\n", "x()", "f(x())"),
            ("a\r\nb\r\n", "a\nb", "one\ntwo"),
            ("if a:\n  return b\n", "  return b", "    return b"),
        ] {
            assert!(!made(before, old, new), "{before:?}");
            let after = replaced(before.as_bytes(), old, new).expect("an edit");
            assert!(made(std::str::from_utf8(&after).expect("text"), old, new), "{before:?}");
        }
        // What is gone, short or nowhere in the file proves nothing.
        for (file, old, new) in [("b\n", "abc", ""), ("b = 1\n", "abc", "1"), ("b\n", "abc", "def")]
        {
            assert!(!made(file, old, new), "{file:?}");
        }
        assert!(!made("xx xx\n", "xx", "xxx"), "it occurs twice");
    }

    #[test]
    fn a_near_match_at_the_end_is_removed_without_touching_the_line_before() {
        let edited = replaced(b"one\n\n2", "2 ", "").expect("an edit");
        assert_eq!(edited, b"one\n\n");
    }

    /// A74: a file has one kind of line endings before and after.
    #[test]
    fn new_lines_get_the_line_endings_of_the_file() {
        let edited = replaced(b"one\r\ntwo\r\n", "two", "two\n2").expect("an edit");
        assert_eq!(edited, b"one\r\ntwo\r\n2\r\n");
        let mixed = replaced(b"one\r\ntwo\n", "two", "two\n2").expect("an edit");
        assert_eq!(mixed, b"one\r\ntwo\n2\n");
    }

    #[test]
    fn a_return_at_the_very_end_survives_a_near_match_elsewhere() {
        let edited = replaced(b"\t-\nz\r", "- ", "=").expect("an edit");
        assert_eq!(edited, b"\t=\nz\r");
    }

    /// A74: any encoding passes through.
    #[test]
    fn bytes_that_are_no_text_survive() {
        assert_eq!(replaced(b"\xff\xfea\x80", "a", "b").expect("an edit"), b"\xff\xfeb\x80");
    }
}
