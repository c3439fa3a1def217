//! The tests of a file in the opposite order. Runners take them as they stand, or by name: then they get other names.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cases::{Case, cases};
use crate::pattern::pattern;
use crate::related::has_word;
use crate::source::{Language, Source, line_range};

/// Where a test stands, with its marks, and the block that it belongs to.
struct Unit {
    at: Range<usize>,
    block: Option<usize>,
    text: String,
    /// What is evaluated when the file is loaded.
    head: String,
}

/// The text, the names of its tests before and now, and whether any changed places.
pub(super) fn turned(source: &Source<'_>) -> (String, Vec<(String, String)>, bool) {
    let all = cases(source);
    let keeps = keeps_order(source, &all);
    let names = if keeps { BTreeMap::new() } else { renamed(source, &all) };
    let mut units: Vec<Unit> =
        all.iter().filter_map(|case| unit(source, case, names.get(&case.start))).collect();
    units.sort_by_key(|unit| unit.at.start);
    let mut end = 0;
    units.retain(|unit| {
        let apart = unit.at.start >= end;
        end = end.max(unit.at.end);
        apart
    });
    let mut places: Vec<usize> = (0..units.len()).collect();
    if !keeps {
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (n, unit) in units.iter().enumerate() {
            groups.entry(unit.block).or_default().push(n);
        }
        for group in groups.values().filter(|group| can_turn(source, &units, group)) {
            for (place, from) in group.iter().zip(group.iter().rev()) {
                places[*place] = *from;
            }
        }
    }
    let reordered = !names.is_empty() || places.iter().enumerate().any(|(n, from)| n != *from);
    let (mut text, mut at) = (String::with_capacity(source.text.len() + 64), 0);
    for (unit, from) in units.iter().zip(&places) {
        text.push_str(&source.text[at..unit.at.start]);
        text.push_str(&units[*from].text);
        at = unit.at.end;
    }
    text.push_str(&source.text[at..]);
    let now = |case: &Case| names.get(&case.start).cloned().unwrap_or_else(|| case.name.clone());
    let tests = all.iter().map(|case| (case.name.clone(), now(case))).collect();
    (text, tests, reordered)
}

fn unit(source: &Source<'_>, case: &Case, name: Option<&String>) -> Option<Unit> {
    let start = match source.language {
        Language::Python => first_mark(source, case.start),
        Language::JavaScript => case.start,
        _ => case.start - case.marks.len(),
    };
    let start = source.trimmed(start..case.body.start).start;
    let end = match source.language {
        Language::Python => case.body.end,
        Language::JavaScript => {
            let open = case.start + source.bare[case.start..].find('(')?;
            source.closing(open)? + 1
        }
        _ => case.body.end + 1,
    };
    let at = start..end;
    let mut text = source.text[at.clone()].to_owned();
    let split = splits(source, case).into_iter().rev();
    split.for_each(|offset| text.insert(offset - start, '\n'));
    if let Some(name) = name {
        let place = source.text[case.start..case.body.start].find(&case.name)? + case.start - start;
        text.replace_range(place..place + case.name.len(), name);
    }
    let block = opener(source, case.start);
    let head = source.bare[start..case.body.start].to_owned();
    Some(Unit { at, block, text, head })
}

/// The start of the first decorator of a function, or of the function.
fn first_mark(source: &Source<'_>, at: usize) -> usize {
    let line = line_range(source.text, at).start;
    let above = source.logical_lines(0..line);
    let marks = above.iter().rev().take_while(|range| {
        source.bare[source.trimmed((*range).clone())].starts_with('@')
            && source.indent(source.trimmed((*range).clone()).start) == source.indent(at)
    });
    marks.last().map_or(line, |range| range.start)
}

/// The offsets at which the arguments of assertions can go on in another line.
fn splits(source: &Source<'_>, case: &Case) -> Vec<usize> {
    let head = pattern!(
        r"^(?:await\s+)?(?:[\w.:]*\.)?(?:assert|expect|require|check|is|same|equal)\w*(?:\.\w+)*!?\s*\("
    );
    let of_statement = |range: Range<usize>| {
        let open = head.find(&source.bare[range.clone()])?.end() + range.start - 1;
        let arguments = source.arguments(open)?;
        Some(arguments.into_iter().map(|one| one.start).collect::<Vec<_>>())
    };
    let statements = source.statements(case.body.clone());
    let mut found: Vec<usize> = statements.into_iter().filter_map(of_statement).flatten().collect();
    found.dedup();
    found
}

/// What the block around an offset is known by.
fn opener(source: &Source<'_>, at: usize) -> Option<usize> {
    if source.language == Language::Python {
        let depth = source.indent(at);
        let before = source.logical_lines(0..line_range(source.text, at).start);
        let mut around = before.iter().map(|line| source.trimmed(line.clone()).start);
        return around.rfind(|line| source.indent(*line) < depth);
    }
    let mut open = Vec::new();
    for (n, byte) in source.bare.as_bytes()[..at].iter().enumerate() {
        match byte {
            b'{' => open.push(n),
            b'}' => drop(open.pop()),
            _ => {}
        }
    }
    open.last().copied()
}

/// Whether no test would stand above a name that it needs when the file is loaded.
fn can_turn(source: &Source<'_>, units: &[Unit], group: &[usize]) -> bool {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return false };
    let between = &source.bare[units[*first].at.start..units[*last].at.end];
    let declares = pattern!(
        r"(?m)^[ \t]*(?:(?:const|let|var|def|class|function)\s+)?([A-Za-z_$][\w$]*)\s*(?:=[^=>]|\(|:)"
    );
    let inner = |at: usize| group.iter().any(|n| units[*n].at.contains(&at));
    let start = units[*first].at.start;
    let mut names = declares.captures_iter(between).filter_map(|found| found.get(1));
    let whole = source.language == Language::JavaScript;
    group.len() > 1
        && !names.any(|name| {
            let outside = !inner(start + name.start());
            let uses = |n: &usize| {
                has_word(if whole { &units[*n].text } else { &units[*n].head }, name.as_str())
            };
            outside && name.as_str() != "describe" && group.iter().any(uses)
        })
}

/// Whether the tests of a file say, or seem, to build on each other.
fn keeps_order(source: &Source<'_>, all: &[Case]) -> bool {
    let ordered = pattern!(
        r#"(?x)\bmark\.(?:order|dependency|run|incremental)\b|\.serial\b|\bserial\b|\bscope\s*=\s*["'](?:module|session|class|package)
        |\b(?:setUpClass|setup_class|setup_module|setUpModule|beforeAll|TestMain|OnceLock|OnceCell|LazyLock|lazy_static|static\s+mut)\b
        |\bbefore\(|\bglobal\s+\w|\bnonlocal\s+\w|\bos\.(?:environ\[|chdir|Setenv|Chdir)|\bprocess\.(?:env\.\w+\s*=[^=]|chdir)
        |\bset_(?:var|current_dir)\("#
    );
    if ordered.is_match(&source.code()) {
        return true;
    }
    // Something that is made once, outside of the tests, can be changed by each of them.
    let shared = match source.language {
        Language::Python => {
            pattern!(r"(?m)^(?:    )?([A-Za-z_]\w*)\s*(?::[^=\n]*)?=\s*(?:[\w.]+\(|\[|\{)")
        }
        Language::JavaScript => pattern!(
            r"(?m)^\s*(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?:=\s*(?:await\s+|new\s+)?(?:[\w$.]+\(|\[|\{)|;|=\s*(?:0|null|undefined|'|\x22))"
        ),
        Language::Go => pattern!(r"(?m)^var\s+(\w+)\b"),
        _ => pattern!(r"(?m)^\s*static\s+(\w+)\b"),
    };
    let inside = |at: usize| all.iter().any(|case| case.body.contains(&at));
    let mut names = shared.captures_iter(&source.bare).filter_map(|found| found.get(1));
    names.any(|name| {
        !inside(name.start()) && all.iter().any(|case| changes(source, case, name.as_str()))
    })
}

/// Whether a test changes something by this name, or calls something of it that may.
fn changes(source: &Source<'_>, case: &Case, name: &str) -> bool {
    let body = &source.bare[case.body.clone()];
    let used = |at: usize| {
        let rest = &body[at + name.len()..];
        let whole = !body[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'))
            && !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'));
        let taken =
            pattern!(r"^\s*(?:\.\s*\w+\s*\(|(?:\.\w+|\[[^\]]*\])*\s*(?:[-+*/|&]?=[^=>]|\+\+|--))");
        whole && taken.is_match(rest)
    };
    body.match_indices(name).any(|(at, _)| used(at))
}

/// Other names for tests that runners sort: the last one comes first.
fn renamed(source: &Source<'_>, all: &[Case]) -> BTreeMap<usize, String> {
    let sorts = |case: &Case| match source.language {
        Language::Rust => true,
        Language::Python => source.bare.contains("TestCase") && source.indent(case.start) > 0,
        _ => false,
    };
    let mut sorted: Vec<&Case> = all.iter().filter(|case| sorts(case)).collect();
    sorted.sort_by(|one, other| other.name.cmp(&one.name));
    let once = |case: &Case| words(source.text, &case.name) == 1;
    if sorted.len() < 2 || !sorted.iter().all(|case| once(case)) {
        return BTreeMap::new();
    }
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap_or_default());
    let name = |(n, case): (usize, &&Case)| {
        let prefix = format!("{}{}", letter(n / 26), letter(n));
        let rest = case.name.strip_prefix("test_").unwrap_or(&case.name);
        let name = match source.language {
            Language::Python => format!("test_{prefix}_{rest}"),
            _ => format!("{prefix}_{}", case.name),
        };
        (case.start, name)
    };
    sorted.iter().enumerate().map(name).collect()
}

/// How often a word occurs.
fn words(text: &str, word: &str) -> usize {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole =
        |at: usize| !text[..at].ends_with(letter) && !text[at + word.len()..].starts_with(letter);
    text.match_indices(word).filter(|(at, _)| is_whole(*at)).count()
}
