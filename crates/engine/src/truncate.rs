//! Cutting long texts for a model: characters first, then lines. Which part stays and how much depends on the tool;
//! the cut says how much is gone. The whole is kept elsewhere, so nothing is lost here.

use types::{BlobRef, Keep, OutputLimit, Shown, ToolPolicy};

/// How much of an output is shown, and which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub chars: usize,
    /// Nothing means as many as there are.
    pub lines: Option<usize>,
    pub keep: Keep,
}

const fn cut(chars: usize, lines: Option<usize>, keep: Keep) -> Cut {
    Cut { chars, lines, keep }
}

/// What is shown of each tool's output if the policy does not say otherwise.
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
    /// The cut for a tool: what the policy says of it, and where it says nothing the tool's own default. A tool
    /// that is not known shows `otherwise` characters.
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

    /// Whether a text would lose anything.
    #[must_use]
    pub fn cuts(&self, text: &str) -> bool {
        let long = text.len() > self.chars && text.chars().count() > self.chars;
        long || self.lines.is_some_and(|most| text.lines().nth(most).is_some())
    }

    /// The text as it is shown. `whole` is where all of it is kept.
    #[must_use]
    pub fn shown(&self, text: &str, whole: Option<BlobRef>) -> Shown {
        let fewer = match self.keep {
            Keep::HeadTail => head_and_tail(text, self.chars, None),
            Keep::Tail => tail(text, self.chars),
        };
        let shorter = self.lines.and_then(|most| fewer_lines(&fewer.text, most));
        let (text, omitted) = shorter.unwrap_or((fewer.text, 0));
        Shown { text, removed: fewer.removed.saturating_add(omitted), blob: whole }
    }
}

/// The text itself if it has at most `max` characters; otherwise its first and last `max / 2`.
#[must_use]
pub fn head_and_tail(text: &str, max: usize, blob: Option<BlobRef>) -> Shown {
    let Some(count) = more_than(text, max) else {
        return Shown { text: text.to_owned(), removed: 0, blob };
    };
    let half = max / 2;
    let removed = count - 2 * half;
    let head_end = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..head_end], &text[last(text, half)..]);
    let text = format!(
        "{head}\n\n[WARNING: Tool output was truncated. {removed} characters were removed from the middle. \
         The whole is in the log. To see a certain part, make the call again for less.]\n\n{tail}"
    );
    Shown { text, removed: removed as u64, blob }
}

/// What a check said, for people and reports: the text itself if it has at most `max` characters, otherwise its first
/// five and its last two eighths with dots between them. Of 4000 that is 2500 and 1000, 3505 characters in all.
#[must_use]
pub fn report(text: &str, max: usize, blob: Option<BlobRef>) -> Shown {
    let Some(count) = more_than(text, max) else {
        return Shown { text: text.to_owned(), removed: 0, blob };
    };
    let (first, rest) = (max * 5 / 8, max / 4);
    let head_end = text.char_indices().nth(first).map_or(text.len(), |(at, _)| at);
    let shown = format!("{}\n...\n{}", &text[..head_end], &text[last(text, rest)..]);
    Shown { text: shown, removed: (count - first - rest) as u64, blob }
}

/// The text itself if it has at most `max` characters; otherwise its last `max`.
fn tail(text: &str, max: usize) -> Shown {
    let Some(count) = more_than(text, max) else {
        return Shown { text: text.to_owned(), removed: 0, blob: None };
    };
    let removed = count - max;
    let text = format!(
        "[WARNING: Tool output was truncated. The first {removed} characters were removed. \
         The whole is in the log.]\n\n{}",
        &text[last(text, max)..]
    );
    Shown { text, removed: removed as u64, blob: None }
}

/// The first and the last lines, with a note on those between; also how many characters those had.
fn fewer_lines(text: &str, max: usize) -> Option<(String, u64)> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let count = starts.len() - usize::from(text.ends_with('\n'));
    let omitted = count.checked_sub(max).filter(|omitted| *omitted > 0)?;
    let head = max / 2;
    let (from, to) = (starts[head], starts[head + omitted]);
    let gone = text[from..to].chars().count() as u64;
    let shown = format!("{}[... {omitted} lines omitted ...]\n{}", &text[..from], &text[to..]);
    Some((shown, gone))
}

/// How many characters there are, if more than `max`. A text is never shorter in bytes than in characters, so most
/// need no counting.
fn more_than(text: &str, max: usize) -> Option<usize> {
    if text.len() <= max {
        return None;
    }
    Some(text.chars().count()).filter(|count| *count > max)
}

/// Where the last `count` characters begin.
fn last(text: &str, count: usize) -> usize {
    match count {
        0 => text.len(),
        _ => text.char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at),
    }
}

#[cfg(test)]
mod tests;
