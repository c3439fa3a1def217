//! Secrets in files. A model is shown a file with a mark in place of each secret, and repeats the mark when it writes
//! the file. Here the mark is replaced by the secret if it is clear which one is meant; otherwise the change is
//! refused. The implementation of [`Secrets`] decides what a secret is; texts that go to a model are not redacted here.

use std::collections::BTreeMap;
use std::ops::Range;

use types::REDACTED;

/// Detects secrets.
pub trait Secrets: Send + Sync + std::fmt::Debug {
    /// Ranges of the secrets in a text: in order, none inside another.
    fn find(&self, text: &str) -> Vec<Range<usize>>;
}

/// A file with secrets, as it was shown to a model.
#[derive(Debug)]
pub(crate) struct ShownText<'t> {
    text: &'t str,
    shown: String,
    /// Every mark in the shown text: its position, and the range of the original text that it stands
    /// for, which may be a mark itself.
    marks: Vec<(usize, Range<usize>)>,
    /// Values of the marks of each line, by the shown line; for identical lines, in order.
    lines: BTreeMap<String, Vec<Vec<&'t str>>>,
}

impl<'t> ShownText<'t> {
    /// `None` if there is no secret in the text.
    pub(crate) fn of(text: &'t str, secrets: &dyn Secrets) -> Option<Self> {
        let found = secrets.find(text);
        if found.is_empty() {
            return None;
        }
        let (mut shown, mut marks) = (String::with_capacity(text.len()), Vec::new());
        let mut from = 0;
        for secret in found.into_iter().map(Some).chain([None]) {
            let until = secret.as_ref().map_or(text.len(), |secret| secret.start);
            for (at, mark) in text[from..until].match_indices(REDACTED) {
                marks.push((shown.len() + at, from + at..from + at + mark.len()));
            }
            shown.push_str(&text[from..until]);
            if let Some(secret) = secret {
                from = secret.end;
                marks.push((shown.len(), secret));
                shown.push_str(REDACTED);
            }
        }
        let lines = BTreeMap::new();
        Some(Self { text, shown, marks, lines }.by_line())
    }

    fn by_line(mut self) -> Self {
        let (mut start, mut next) = (0, 0);
        for line in self.shown.split_inclusive('\n') {
            let end = start + line.len();
            let first = next;
            next += self.marks[first..].iter().take_while(|(at, _)| *at < end).count();
            if next > first {
                let marks = self.marks[first..next].iter();
                let values = marks.map(|(_, value)| &self.text[value.clone()]).collect();
                self.lines.entry(bare(line).to_owned()).or_default().push(values);
            }
            start = end;
        }
        self
    }

    /// Restores the secrets in a model's text that is to replace all of this one. `None` if there is no mark in it.
    pub(crate) fn restored(&self, new: &str) -> Result<Option<String>, String> {
        if !new.contains(REDACTED) {
            return Ok(None);
        }
        let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
        for line in new.lines().filter(|line| line.contains(REDACTED)) {
            *alike.entry(bare(line)).or_default() += 1;
        }
        let mut before: BTreeMap<&str, usize> = BTreeMap::new();
        let mut restored = String::with_capacity(new.len());
        for line in new.split_inclusive('\n') {
            if !line.contains(REDACTED) {
                restored.push_str(line);
                continue;
            }
            let before = before.entry(bare(line)).or_default();
            let in_all = alike.get(bare(line)).copied().unwrap_or_default();
            let values = self.meant(line, *before, in_all).ok_or_else(|| unclear(line))?;
            *before += 1;
            let mut values = values.into_iter();
            let mut pieces = line.split(REDACTED);
            restored.push_str(pieces.next().unwrap_or_default());
            for piece in pieces {
                restored.push_str(values.next().unwrap_or(REDACTED));
                restored.push_str(piece);
            }
        }
        Ok(Some(restored))
    }

    /// Values of the marks in a line, if they are unambiguous: the same line was shown, or there is only one secret. Of
    /// the `in_all` identical lines, `before` precede this one.
    fn meant(&self, line: &str, before: usize, in_all: usize) -> Option<Vec<&'t str>> {
        if let Some(alike) = self.lines.get(bare(line)) {
            let there = alike.get(before).filter(|_| alike.len() == in_all);
            let first = alike.first().filter(|first| alike.iter().all(|values| values == *first));
            return there.or(first).cloned();
        }
        let mut all = self.marks.iter().map(|(_, value)| &self.text[value.clone()]);
        let only = all.next()?;
        all.all(|value| value == only).then(|| vec![only; line.matches(REDACTED).count()])
    }

    /// The original of a text that was shown. `None` if it was not shown; an error if it was shown in several places
    /// with different originals.
    pub(crate) fn meant_by(&self, old: &str) -> Result<Option<&'t str>, String> {
        let places = self.shown.match_indices(old);
        let mut exact = places.filter_map(|(at, old)| {
            let (start, end) = (self.place_of(at)?, self.place_of(at + old.len())?);
            self.text.get(start..end)
        });
        let Some(first) = exact.next() else { return Ok(None) };
        match exact.all(|other| other == first) {
            true => Ok(Some(first)),
            false => Err(unclear(old)),
        }
    }

    /// Position in the original of a position in the shown text; `None` inside a mark.
    fn place_of(&self, shown: usize) -> Option<usize> {
        let before = self.marks.partition_point(|(at, _)| *at < shown);
        let Some((at, value)) = self.marks[..before].last() else { return Some(shown) };
        let since = shown.checked_sub(at + REDACTED.len())?;
        Some(value.end + since)
    }
}

/// A line without its line ending.
fn bare(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

fn unclear(what: &str) -> String {
    let what: String = what.trim().chars().take(120).collect();
    format!(
        "the file holds secrets, which are shown as {REDACTED}, and it is not clear which of them is meant in {what:?}; \
         leave the lines with secrets as they were shown, or change only other parts of the file; nothing was changed"
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Treats words that begin with `key-` as secrets.
    #[derive(Debug)]
    pub(crate) struct Keys;

    impl Secrets for Keys {
        fn find(&self, text: &str) -> Vec<Range<usize>> {
            let starts = text.match_indices("key-").map(|(at, _)| at);
            let end = |at: usize| {
                let rest = &text[at..];
                at + rest.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(rest.len())
            };
            starts.map(|at| at..end(at)).collect()
        }
    }

    fn restored(old: &str, new: &str) -> Result<Option<String>, String> {
        ShownText::of(old, &Keys).map_or(Ok(None), |shown| shown.restored(new))
    }

    #[test]
    fn a_mark_becomes_the_secret_that_was_shown_there() {
        let old = "a = \"key-one\"\nb = \"key-two\"\nc = 1\n";
        let new = "# new\nb = \"[redacted]\"\na = \"[redacted]\"\nc = 2\n";
        let exact = "# new\nb = \"key-two\"\na = \"key-one\"\nc = 2\n";
        assert_eq!(restored(old, new), Ok(Some(exact.to_owned())));
        // The only secret in the file.
        let renamed = restored("a = key-one\r\n", "first = [redacted]\n");
        assert_eq!(renamed, Ok(Some("first = key-one\n".to_owned())));
        // Identical lines, all of them present.
        let list = restored("- key-a\n- key-b\n", "list:\n- [redacted]\n- [redacted]\n");
        assert_eq!(list, Ok(Some("list:\n- key-a\n- key-b\n".to_owned())));
    }

    #[test]
    fn a_mark_that_may_be_any_of_several_is_refused() {
        let old = "a = key-one\nb = key-two\n";
        assert!(restored(old, "c = [redacted]\n").expect_err("unclear").contains("not clear"));
        assert!(restored("- key-a\n- key-b\n", "- [redacted]\n").is_err());
        // A literal mark in the file is one of the candidates.
        assert!(restored("a = key-one\nb = [redacted]\n", "c = [redacted]\n").is_err());
        let kept = restored("a = key-one\nb = [redacted]\n", "b = [redacted]\n");
        assert_eq!(kept, Ok(Some("b = [redacted]\n".to_owned())));
    }

    #[test]
    fn a_mark_is_a_text_like_any_other_where_there_is_no_secret() {
        assert_eq!(restored("b = [redacted]\n", "c = [redacted]\n"), Ok(None));
        assert_eq!(restored("a = key-one\n", "a = 1\n"), Ok(None));
    }

    #[test]
    fn what_was_shown_is_found_in_the_file() {
        let old = "x [redacted] y\na = \"key-one\"; b\na = \"key-two\"; c\nend\n";
        let shown = ShownText::of(old, &Keys).expect("secrets");
        let meant = |text: &str| shown.meant_by(text);
        assert_eq!(meant("\"[redacted]\"; c\nend"), Ok(Some("\"key-two\"; c\nend")));
        assert_eq!(meant("x [redacted] y\na"), Ok(Some("x [redacted] y\na")));
        assert_eq!(meant("dacted]\"; c"), Ok(None));
        assert_eq!(meant("nowhere [redacted]"), Ok(None));
        assert!(meant("a = \"[redacted]\"").is_err());
    }
}
