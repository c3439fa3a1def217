//! Old tests, carried along with what a goal orders: a test file of before, with those changes of the new one that follow
//! from the goal. A name that the code gave up for another one, a module that moved, an expected value that the goal
//! names, a test of something that the goal removes. Every other change of a test is left out, so that the expectations
//! of before stay. Looks at lines and words, not at the meaning of the goal.

use std::collections::{BTreeMap, BTreeSet};

use similar::{DiffOp, TextDiff};

use crate::cases::cases;
use crate::pattern::pattern;
use crate::source::Source;

/// Two literals of a goal with at most so many characters between them belong together: "from 30 to 60".
const NEAR: usize = 20;
/// Shorter words are in too many texts to mean something.
const SHORTEST: usize = 3;
/// The most changes that are told.
const MOST_TOLD: usize = 20;

/// What a goal orders, as far as the changed code shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ordered {
    goal: String,
    /// Words that the changed code had and does not have any more.
    gone: BTreeSet<String>,
    /// Words that it did not have before.
    new: BTreeSet<String>,
    /// Paths of code without their extensions: before and now.
    moved: Vec<(String, String)>,
    /// The package's own version: before and now.
    versions: Vec<(String, String)>,
}

/// A test file of before with the changes that were ordered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Carried {
    pub text: String,
    /// The changes, as `30 → 60`.
    pub changes: Vec<String>,
}

impl Ordered {
    /// From the changed code before and after, and from the paths that are gone and new.
    #[must_use]
    pub fn new(
        goal: &str,
        before: &[(String, String)],
        after: &[(String, String)],
        (gone, new): (&[String], &[String]),
    ) -> Self {
        let words = |files: &[(String, String)]| -> BTreeSet<String> {
            let code = files.iter().map(|(path, text)| {
                Source::of(path, text).map_or_else(|| text.clone(), |source| source.code())
            });
            code.flat_map(|code| words(&code).map(str::to_owned).collect::<Vec<_>>()).collect()
        };
        let (had, has) = (words(before), words(after));
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let pairs = gone.iter().flat_map(|old| new.iter().map(move |new| (old, new)));
        let moved = pairs.filter(|(old, new)| name(old) == name(new));
        let moved = moved.map(|(old, new)| (stem(old).to_owned(), stem(new).to_owned())).collect();
        Self {
            goal: goal.to_owned(),
            gone: had.difference(&has).cloned().collect(),
            new: has.difference(&had).cloned().collect(),
            moved,
            versions: versions(before, after),
        }
    }

    /// A test file of before with what was ordered; `None` if none of its changes was. An empty `new` is a file that
    /// is gone: it is gone rightly if nothing of it would be left.
    #[must_use]
    pub fn carried(&self, path: &str, old: &str, new: &str) -> Option<Carried> {
        let diff = TextDiff::from_lines(old, new);
        let (before, after) = (lines(old), lines(new));
        let renamed = self.all_renamed(old, new);
        let follow = |line: &str| renamed_in(line, &renamed);
        let mut carried = Carried { changes: told(&renamed), ..Carried::default() };
        for op in diff.ops() {
            let old_lines = &before[op.old_range()];
            if let DiffOp::Equal { .. } = op {
                carried.text.extend(old_lines.iter().copied());
                continue;
            }
            let of_both = pairs(op, &before, &after);
            let rest = &old_lines[of_both.len()..];
            for (old, new) in of_both {
                // A name may stand in the line in another sense as well, as in the path of a module.
                if self.renamed(old, new).is_some() {
                    carried.text.push_str(new);
                    continue;
                }
                let old = follow(old);
                match self.follows(&old, new) {
                    Some(change) => {
                        carried.text.push_str(new);
                        carried.changes.extend(change);
                    }
                    None => carried.text.push_str(&old),
                }
            }
            if self.is_removal(path, old, rest) {
                carried.changes.push(format!("without {}", shown(rest)));
            } else {
                carried.text.extend(rest.iter().map(|line| follow(line)));
            }
        }
        carried.changes.truncate(MOST_TOLD);
        (!carried.changes.is_empty()).then_some(carried)
    }

    /// The names that one line has in place of those of another, if that is all that differs.
    fn renamed(&self, old: &str, new: &str) -> Option<BTreeMap<String, String>> {
        let (old, new) = (tokens(old), tokens(new));
        if old.len() != new.len() {
            return None;
        }
        let differing = old.into_iter().zip(new).filter(|(old, new)| old != new);
        let pairs: BTreeMap<String, String> =
            differing.map(|(old, new)| (old.to_owned(), new.to_owned())).collect();
        let is_ordered = |(old, new): (&String, &String)| {
            let follows = self.gone.contains(old) && self.new.contains(new);
            follows && (self.names(old) || self.names(new) || is_private(old))
        };
        pairs.iter().all(is_ordered).then_some(pairs)
    }

    /// Whether a changed line follows from the goal; with what there is to tell about it.
    fn follows(&self, old: &str, new: &str) -> Option<Option<String>> {
        if old == new {
            return Some(None);
        }
        let by_value = self.other_values(old, new).map(Some);
        by_value
            .or_else(|| self.other_names(old, new).map(Some))
            .or_else(|| self.other_path(old, new).map(Some))
            .or_else(|| self.is_shorter(old, new).then(|| Some(format!("without {}", old.trim()))))
    }

    /// The file that moved, if its path is all that differs.
    fn other_path(&self, old: &str, new: &str) -> Option<String> {
        let is_whole = |at: usize, end: usize| {
            let part = |c: char| c.is_alphanumeric() || c == '_';
            !old[..at].ends_with(part) && !old[end..].starts_with(part)
        };
        let follows = |(from, to): &&(String, String)| {
            old.match_indices(from.as_str()).any(|(at, _)| {
                let end = at + from.len();
                is_whole(at, end) && [&old[..at], to, &old[end..]].concat() == new
            })
        };
        self.moved.iter().find(follows).map(|(from, to)| format!("{from} → {to}"))
    }

    /// The names that replace others in a line that is otherwise the same, if the goal says that they do, as it does of
    /// another error.
    fn other_names(&self, old: &str, new: &str) -> Option<String> {
        let (old, new) = (tokens(old), tokens(new));
        if old.len() != new.len() {
            return None;
        }
        let differing = old.iter().zip(&new).filter(|(old, new)| old != new);
        let differing: BTreeSet<(&str, &str)> = differing.map(|(old, new)| (*old, *new)).collect();
        let is_ordered = |(old, new): &(&str, &str)| {
            let is_name = |word: &str| words(word).next() == Some(word) && word.len() >= SHORTEST;
            is_name(old) && is_name(new) && self.says_instead(old, new)
        };
        let told = differing.iter().map(|(old, new)| format!("{old} → {new}"));
        differing.iter().all(is_ordered).then(|| told.collect::<Vec<_>>().join(", "))
    }

    /// Whether the goal puts a name in the place of another: "`ValueError` instead of `TypeError`".
    fn says_instead(&self, old: &str, new: &str) -> bool {
        let instead = pattern!(r"(?i)\b(?:instead of|in place of|rather than|not)\b");
        self.found(new).iter().any(|at| {
            let rest = &self.goal[at + new.len()..];
            let near = rest.get(..rest.len().min(NEAR + 10)).or_else(|| rest.get(..NEAR));
            let between = near.and_then(|near| near.split(old).next().filter(|one| *one != near));
            between.is_some_and(|between| instead.is_match(between))
        }) || self.replaces(old, new) && self.has(old)
    }

    /// The values that replace others in a line that is otherwise the same, if the goal names them all. Where it does
    /// not say what they replace, it has to name the other values of the line: what is expected of something else is
    /// not what it orders.
    fn other_values(&self, old: &str, new: &str) -> Option<String> {
        let literal = pattern!(r#""[^"\n]*"|'[^'\n]*'|`[^`\n]*`|\b\d+(?:\.\d+)*\b"#);
        let skeleton = |line: &str| literal.replace_all(line, "\u{0}").into_owned();
        if skeleton(old) != skeleton(new) {
            return None;
        }
        let values = |line: &'_ str| -> Vec<String> {
            literal.find_iter(line).map(|found| found.as_str().to_owned()).collect()
        };
        let of_line = values(old).into_iter().zip(values(new));
        let (same, differing): (Vec<_>, Vec<_>) = of_line.partition(|(old, new)| old == new);
        let indices = pattern!(r"\[\d+\]").find_iter(old).map(|found| found.as_str());
        let indices: String = indices.collect();
        let is_index = |value: &str| indices.contains(&format!("[{value}]"));
        let named = same.iter().all(|(value, _)| is_index(value) || self.has(inside(value)));
        let is_ordered = |(old, new): &(String, String)| {
            let (old, new) = (inside(old), inside(new));
            self.replaces(old, new) && (named || self.has(old))
                || self.is_moved(old, new)
                || self.versions.iter().any(|(from, to)| (from.as_str(), to.as_str()) == (old, new))
        };
        let told = differing.iter().map(|(old, new)| format!("{old} → {new}"));
        differing.iter().all(is_ordered).then(|| told.collect::<Vec<_>>().join(", "))
    }

    /// Where the goal names a value.
    fn found(&self, value: &str) -> Vec<usize> {
        let found = self.goal.match_indices(value).filter(|(at, _)| {
            let before = self.goal[..*at].chars().next_back();
            let after = self.goal[at + value.len()..].chars().next();
            let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !value.is_empty() && !part(before) && !part(after)
        });
        found.map(|(at, _)| at).collect()
    }

    fn has(&self, value: &str) -> bool {
        !self.found(value).is_empty()
    }

    /// Whether the goal names a value, and in place of what if it names both.
    fn replaces(&self, old: &str, new: &str) -> bool {
        let (olds, news) = (self.found(old), self.found(new));
        if olds.is_empty() {
            return !news.is_empty();
        }
        let near = |(from, to): (&usize, &usize)| {
            let between = self.goal.get(from + old.len()..*to);
            between.is_some_and(|between| {
                between.len() <= NEAR && pattern!(r"(?i)\bto\b|→|->|=>|\binto\b").is_match(between)
            })
        };
        olds.iter().any(|from| news.iter().any(|to| near((from, to))))
    }

    /// A file of before with the names of now, as far as the goal mentions both; and what changed, as `fee → charge`.
    #[must_use]
    pub fn renamed_file(&self, old: &str, new: &str) -> (String, Vec<String>) {
        let mut renamed = self.all_renamed(old, new);
        renamed.retain(|old, new| self.names(old) && self.names(new));
        let text = lines(old).into_iter().map(|line| renamed_in(line, &renamed)).collect();
        (text, told(&renamed))
    }

    /// The names that the goal mentions and that the code does not have any more, as `without fee`.
    #[must_use]
    pub fn removed(&self) -> Vec<String> {
        let removed = self.gone.iter().filter(|word| self.takes_away(word));
        removed.map(|word| format!("without {word}")).collect()
    }

    /// The names of the changed lines that have another one now.
    fn all_renamed(&self, old: &str, new: &str) -> BTreeMap<String, String> {
        let (before, after) = (lines(old), lines(new));
        let mut renamed = BTreeMap::new();
        for op in TextDiff::from_lines(old, new).ops() {
            for (old, new) in pairs(op, &before, &after) {
                renamed.extend(self.renamed(old, new).unwrap_or_default());
            }
        }
        renamed
    }

    /// Whether a path or the name of a module follows a file that was moved.
    fn is_moved(&self, old: &str, new: &str) -> bool {
        let plain = |value: &str| {
            let value = value.trim_start_matches(['.', '/']);
            if value.contains('/') { stem(value).to_owned() } else { value.to_owned() }
        };
        let (old, new) = (plain(old), plain(new));
        let ends = |path: &str, value: &str| {
            path.strip_suffix(value).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let of_moved = |(from, to): &(String, String)| ends(from, &old) && ends(to, &new);
        !old.is_empty() && !new.is_empty() && self.moved.iter().any(of_moved)
    }

    /// Whether a line only lost something that the goal takes away, and not what it compares with.
    fn is_shorter(&self, old: &str, new: &str) -> bool {
        let (old, new) = (tokens(old), tokens(new));
        let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let Some(lost) = old.len().checked_sub(new.len()).filter(|lost| *lost > 0) else {
            return false;
        };
        let lost = &old[start..start + lost];
        let compares = |token: &&str| matches!(*token, "=" | "!" | "<" | ">");
        let twice = lost.windows(2).any(|two| two[1] == "=" && compares(&two[0]));
        let end = start + lost.len();
        old[end..] == new[start..] && !twice && lost.iter().any(|token| self.takes_away(token))
    }

    /// Whether lines that are gone are about something that the goal takes away: every test in them, or every line.
    fn is_removal(&self, path: &str, text: &str, removed: &[&str]) -> bool {
        let Some(source) = Source::of(path, text) else { return false };
        let offset = |line: &&str| line.as_ptr() as usize - text.as_ptr() as usize;
        let (Some(first), Some(last)) = (removed.first(), removed.last()) else { return false };
        let block = offset(first)..offset(last) + last.len();
        let mentions = |text: &str| words(text).any(|word| self.takes_away(word));
        let all = cases(&source);
        let mut of_block = all.iter().filter(|case| block.contains(&case.start)).peekable();
        if of_block.peek().is_some() {
            return of_block.all(|case| mentions(&text[case.start..case.body.end]));
        }
        let closes = |line: &&&str| line.chars().any(|c| c.is_alphanumeric());
        removed.iter().filter(closes).all(|line| mentions(line)) && mentions(&text[block])
    }

    /// Whether the goal names a word that the code does not have any more.
    fn takes_away(&self, word: &str) -> bool {
        word.len() >= SHORTEST && self.gone.contains(word) && self.names(word)
    }

    pub(super) fn names(&self, word: &str) -> bool {
        words(&self.goal).any(|one| one == word)
    }
}

/// The values of the package's own version that changed, file by file.
fn versions(before: &[(String, String)], after: &[(String, String)]) -> Vec<(String, String)> {
    let of = |text: &str| {
        let own = pattern!(r#"(?m)^__version__(?:\s*:\s*str)?\s*=\s*["']([\w.+-]+)["']"#)
            .captures(text)?;
        own.get(1).map(|value| value.as_str().to_owned())
    };
    let pairs = after.iter().filter_map(|(path, text)| {
        let (_, old) = before.iter().find(|(other, _)| other == path)?;
        of(old).zip(of(text))
    });
    pairs.filter(|(old, new)| old != new).collect()
}

/// Whether a name is nobody's but the project's own.
fn is_private(name: &str) -> bool {
    name.starts_with('_') && !name.starts_with("__")
}

/// The lines of a changed block that correspond to each other: all, or the first if the rest is gone.
fn pairs<'a>(op: &DiffOp, before: &[&'a str], after: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    match op {
        DiffOp::Replace { old_len, new_len, .. } if old_len >= new_len => {
            let (old, new) = (&before[op.old_range()], &after[op.new_range()]);
            old.iter().copied().zip(new.iter().copied()).collect()
        }
        _ => vec![],
    }
}

fn told(renamed: &BTreeMap<String, String>) -> Vec<String> {
    renamed.iter().map(|(old, new)| format!("{old} → {new}")).collect()
}

/// A line with other names.
fn renamed_in(line: &str, renamed: &BTreeMap<String, String>) -> String {
    tokens(line).into_iter().map(|token| renamed.get(token).map_or(token, String::as_str)).collect()
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Words, and everything between them, character by character.
fn tokens(line: &str) -> Vec<&str> {
    pattern!(r"(?s)\w+|.").find_iter(line).map(|found| found.as_str()).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    pattern!(r"\b[A-Za-z_]\w*").find_iter(text).map(|found| found.as_str())
}

/// A value without its quotation marks.
fn inside(value: &str) -> &str {
    match value.starts_with(['"', '\'', '`']) {
        true => &value[1..value.len() - 1],
        false => value,
    }
}

/// A path without its extension.
fn stem(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    path[name..].find('.').map_or(path, |at| &path[..name + at])
}

/// The first of some lines with something in it.
fn shown(removed: &[&str]) -> String {
    let first = removed.iter().find(|line| !line.trim().is_empty());
    types::one_line(first.map(|line| line.trim()).unwrap_or_default(), 80)
}

#[cfg(test)]
mod tests;
