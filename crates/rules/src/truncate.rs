//! Truncation of long texts for a model: characters first, then lines. The tool determines which part is kept and how
//! much; one warning gives the total that is missing. Storing the whole text is not done here.

use std::borrow::Cow;

use types::{BlobRef, Keep, OutputLimit, Shown, ToolPolicy};

/// The part of an output that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub chars: usize,
    /// None means no limit.
    pub lines: Option<usize>,
    pub keep: Keep,
}

const fn cut(chars: usize, lines: Option<usize>, keep: Keep) -> Cut {
    Cut { chars, lines, keep }
}

/// The default limits of each tool.
const DEFAULTS: &[(&str, Cut)] = &[
    ("read_file", cut(50_000, None, Keep::HeadTail)),
    ("shell", cut(30_000, Some(256), Keep::HeadTail)),
    ("grep", cut(20_000, Some(200), Keep::Tail)),
    ("glob", cut(20_000, Some(500), Keep::Tail)),
    ("edit_file", cut(10_000, None, Keep::Tail)),
    ("apply_patch", cut(10_000, None, Keep::Tail)),
    ("write_file", cut(1_000, None, Keep::Tail)),
    ("delete_file", cut(1_000, None, Keep::Tail)),
    ("move_file", cut(1_000, None, Keep::Tail)),
    ("spawn_agent", cut(20_000, None, Keep::HeadTail)),
];

impl Cut {
    /// The limits for a tool: those of the policy or, where it has none, the tool's default. An unknown tool shows
    /// `otherwise` characters.
    #[must_use]
    pub fn of(tool: &str, policy: &ToolPolicy, otherwise: usize) -> Self {
        let known = DEFAULTS.iter().find(|(name, _)| *name == tool).map(|(_, cut)| *cut);
        let default = known.unwrap_or(cut(otherwise, None, Keep::HeadTail));
        let said = policy.output.get(tool).copied().unwrap_or_default();
        let OutputLimit { chars, lines, keep } = said;
        Self {
            chars: chars.unwrap_or(default.chars),
            lines: lines.map_or(default.lines, |most| (most > 0).then_some(most)),
            keep: keep.unwrap_or(default.keep),
        }
    }

    /// Whether a text would be truncated.
    #[must_use]
    pub fn cuts(&self, text: &str) -> bool {
        let long = text.len() > self.chars && text.chars().count() > self.chars;
        long || self.lines.is_some_and(|most| text.lines().nth(most).is_some())
    }

    /// The text as it is shown. `whole` is where all of it is stored, except for the `gaps`.
    #[must_use]
    pub fn shown(&self, text: &str, whole: Option<BlobRef>, gaps: Gaps) -> Shown {
        let (shown, removed) = match more_than(text, self.chars) {
            None => match self.lines.and_then(|most| fewer_lines(text, most, gaps)) {
                Some((shown, gone)) => (shown, gone.saturating_add(gaps.not_held)),
                None => (text.to_owned(), gaps.not_held),
            },
            Some(_) => self.fewer_characters(&without_marker(text, gaps), gaps),
        };
        Shown { text: shown, removed, blob: whole }
    }

    /// Truncates by characters; also returns how many are removed, including those of removed lines.
    fn fewer_characters(&self, text: &str, gaps: Gaps) -> (String, u64) {
        let (first, rest) = match self.keep {
            Keep::HeadTail => (self.chars / 2, self.chars / 2),
            Keep::Tail => (0, self.chars),
        };
        let (mut head, mut tail) = (&text[..nth(text, first)], &text[last(text, rest)..]);
        let lines = |text: &str| text.lines().count();
        let mut omitted = None;
        if let Some(most) = self.lines.filter(|most| lines(head) + lines(tail) > *most) {
            let first = if self.keep == Keep::HeadTail { most / 2 } else { 0 };
            head = first_lines(head, first);
            tail = last_lines(tail, most - first);
            omitted = Some(lines(text).saturating_sub(lines(head) + lines(tail)));
        }
        let removed = text.chars().count() - head.chars().count() - tail.chars().count();
        let removed = (removed as u64, omitted);
        let warning = warning(removed, gaps, self.keep);
        let shown = match self.keep {
            Keep::HeadTail => format!("{head}\n\n{warning}\n\n{tail}"),
            Keep::Tail => format!("{warning}\n\n{tail}"),
        };
        (shown, removed.0.saturating_add(gaps.not_held))
    }
}

/// The parts of an output that are missing before truncation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gaps {
    /// Bytes from its middle that exceeded memory, replaced by a marker.
    pub not_held: u64,
    /// Bytes at its end that exceeded the storage limit.
    pub not_kept: u64,
}

/// The text without the marker for bytes not held in memory; the warning includes them.
fn without_marker(text: &str, gaps: Gaps) -> Cow<'_, str> {
    let marker = format!("\n[{} bytes of output are not shown here]\n", gaps.not_held);
    if gaps.not_held > 0 && text.contains(&marker) {
        return Cow::Owned(text.replacen(&marker, "", 1));
    }
    Cow::Borrowed(text)
}

/// The warning for the model: how much is missing, from where, and where it is stored.
fn warning((chars, lines): (u64, Option<usize>), gaps: Gaps, keep: Keep) -> String {
    let lines = match lines {
        Some(lines) if gaps.not_held > 0 => format!(" (more than {lines} lines)"),
        Some(lines) => format!(" ({lines} lines)"),
        None => String::new(),
    };
    let further = match gaps.not_held {
        0 => String::new(),
        bytes => format!(" and {bytes} further bytes"),
    };
    let removed = match keep {
        Keep::HeadTail => {
            format!("{chars} characters{lines}{further} were removed from the middle.")
        }
        Keep::Tail => format!("The first {chars} characters{lines}{further} were removed."),
    };
    let whole = match gaps.not_kept {
        0 => "The whole is in the log.".to_owned(),
        bytes => format!("The log has it without its last {bytes} bytes, which were not kept."),
    };
    let part = " To see a certain part, make the call again for less.";
    let part = if keep == Keep::HeadTail { part } else { "" };
    format!("[WARNING: Tool output was truncated. {removed} {whole}{part}]")
}

/// The byte offset of the nth character.
fn nth(text: &str, number: usize) -> usize {
    text.char_indices().nth(number).map_or(text.len(), |(at, _)| at)
}

fn first_lines(text: &str, most: usize) -> &str {
    let end = text.match_indices('\n').nth(most.wrapping_sub(1)).map(|(at, _)| at + 1);
    if most == 0 { "" } else { &text[..end.unwrap_or(text.len())] }
}

fn last_lines(text: &str, most: usize) -> &str {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let start = body.rmatch_indices('\n').nth(most.wrapping_sub(1)).map(|(at, _)| at + 1);
    if most == 0 { "" } else { &text[start.unwrap_or(0)..] }
}

/// The text itself if it has at most `max` characters; otherwise its first and last `max / 2`.
#[must_use]
pub fn head_and_tail(text: &str, max: usize, blob: Option<BlobRef>) -> Shown {
    cut(max, None, Keep::HeadTail).shown(text, blob, Gaps::default())
}

/// The output of a check, for people and reports: the text itself if it has at most `max` characters, otherwise its
/// first five and its last two eighths with dots between them. For 4000 that is 2500 and 1000, 3505 characters in all.
#[must_use]
pub fn report(text: &str, max: usize, blob: Option<BlobRef>) -> Shown {
    let Some(count) = more_than(text, max) else {
        return Shown { text: text.to_owned(), removed: 0, blob };
    };
    let (first, rest) = (max * 5 / 8, max / 4);
    let shown = format!("{}\n...\n{}", &text[..nth(text, first)], &text[last(text, rest)..]);
    Shown { text: shown, removed: (count - first - rest) as u64, blob }
}

/// The first and the last lines, with a note on those between; also how many characters those had.
fn fewer_lines(text: &str, max: usize, gaps: Gaps) -> Option<(String, u64)> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let count = starts.len() - usize::from(text.ends_with('\n'));
    let omitted = count.checked_sub(max).filter(|omitted| *omitted > 0)?;
    let head = max / 2;
    let (from, to) = (starts[head], starts[head + omitted]);
    let gone = text[from..to].chars().count() as u64;
    let kept = match gaps.not_kept {
        0 => String::new(),
        bytes => format!("; the log has it without its last {bytes} bytes"),
    };
    let (head, tail) = (&text[..from], &text[to..]);
    let shown = format!("{head}[... {omitted} lines omitted{kept} ...]\n{tail}");
    Some((shown, gone))
}

/// The number of characters, if more than `max`. A text never has fewer bytes than characters, so most need no
/// counting.
fn more_than(text: &str, max: usize) -> Option<usize> {
    if text.len() <= max {
        return None;
    }
    Some(text.chars().count()).filter(|count| *count > max)
}

/// The byte offset of the last `count` characters.
fn last(text: &str, count: usize) -> usize {
    match count {
        0 => text.len(),
        _ => text.char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at),
    }
}

#[cfg(test)]
mod tests;
