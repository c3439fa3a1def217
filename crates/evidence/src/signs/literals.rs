//! Answers made for the inputs of visible tests: pairs of an input and its expected result in new production code, code
//! that reads the tests, and inputs recognised by their digests. A single shared word is not a sign; a table with much
//! more than the tests use is a genuine table.

use std::collections::BTreeSet;
use std::ops::Range;

use types::FindingKind;

use super::production::View;
use super::sign::{Change, Sign};
use crate::pattern::pattern;
use crate::source::{Language, Source};

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    if is_example(view.path) {
        return Vec::new();
    }
    let mut found = reads_tests(change, view);
    found.extend(digests(change, view));
    found.extend(pairs(change, view));
    found
}

/// Whether a file is an example of use, like tests.
pub(super) fn is_example(path: &str) -> bool {
    pattern!(r"(?i)(?:^|/)(?:examples?|demos?|samples?|bench(?:es|marks?)?)/").is_match(path)
}

/// A literal by its value: a string without quotation marks, or a number as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Literal(String);

impl Literal {
    /// Whether it is unlikely to occur in code by chance.
    fn is_telling(&self) -> bool {
        match self.0.parse::<f64>() {
            Ok(_) => {
                let digits = self.0.trim_start_matches('-').trim_end_matches('0');
                let common = [
                    "16", "24", "31", "32", "12", "64", "60", "128", "255", "256", "365", "366",
                    "404", "1024", "3600",
                ];
                digits.len() >= 2 && !common.contains(&self.0.as_str())
            }
            Err(_) => self.0.trim().chars().count() >= 3,
        }
    }

    /// Whether it alone reveals its origin.
    fn is_strong(&self) -> bool {
        let odd = |c: char| !c.is_alphanumeric() && c != '_';
        match self.0.parse::<f64>() {
            Ok(_) => self.is_telling() && self.0.len() >= 5,
            Err(_) => self.0.chars().count() >= 6 && self.0.contains(odd),
        }
    }
}

/// The literals of a range, with their positions.
fn literals(source: &Source<'_>, range: Range<usize>) -> Vec<(usize, Literal)> {
    let inside = |span: &&Range<usize>| span.start >= range.start && span.end <= range.end;
    let strings = source.strings.iter().filter(inside);
    let mut found: Vec<(usize, Literal)> =
        strings.map(|span| (span.start, Literal(source.content(span).to_owned()))).collect();
    for number in
        pattern!(r"(?:^|[^\w.])(-?\d[\d_]*(?:\.\d+)?)").captures_iter(&source.bare[range.clone()])
    {
        if let Some(number) = number.get(1) {
            found.push((range.start + number.start(), Literal(number.as_str().replace('_', ""))));
        }
    }
    found.retain(|(_, literal)| !literal.0.is_empty());
    found.sort();
    found
}

/// The literals that occur together in one statement of a test, at least two of them.
fn groups(change: &Change<'_>, language: Language) -> Vec<Vec<Literal>> {
    let mut found = Vec::new();
    for text in change.tests {
        let source = Source::new(language, text);
        for line in lines(&source) {
            let code = &source.bare[line.clone()];
            if pattern!(r"^\s*(?:import|from|use|package|describe|it|test|source|\.|#include|def|fn|func|@|class)\b|\bcfg\(|\bfeature\s*=|\btarget_\w+\s*=").is_match(code) {
                continue;
            }
            let all: Vec<Literal> =
                literals(&source, line).into_iter().map(|(_, literal)| literal).collect();
            if (2..=8).contains(&all.len()) {
                found.push(all);
            }
        }
    }
    found
}

/// Statements in indented languages, and plain lines elsewhere.
fn lines(source: &Source<'_>) -> Vec<Range<usize>> {
    if source.language.is_indented() {
        return source.logical_lines(0..source.text.len());
    }
    let mut at = 0;
    let mut found = Vec::new();
    for line in source.text.split('\n') {
        found.push(at..at + line.len());
        at += line.len() + 1;
    }
    found
}

fn pairs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    let groups = groups(change, view.language());
    let mut matched: Vec<(usize, bool, bool)> = Vec::new();
    let (mut used, mut all) = (BTreeSet::new(), BTreeSet::new());
    for (n, line) in view.lines.iter().enumerate() {
        let here = literals(&view.source, line.at..line.at + line.text.len());
        let next = view.lines.get(n + 1).filter(|next| next.at == line.at + line.text.len() + 1);
        let below = next.map(|next| literals(&view.source, next.at..next.at + next.text.len()));
        let near: Vec<&Literal> =
            here.iter().chain(below.iter().flatten()).map(|(_, literal)| literal).collect();
        all.extend(
            here.iter()
                .filter(|(_, literal)| literal.is_telling())
                .map(|(_, literal)| literal.clone()),
        );
        for group in &groups {
            let common: Vec<&Literal> =
                group.iter().filter(|literal| near.contains(literal)).collect();
            let own = group.iter().any(|literal| here.iter().any(|(_, other)| other == literal));
            let distinct: BTreeSet<&&Literal> = common.iter().collect();
            if distinct.len() < 2 || !own || common.iter().all(|literal| change.knows(&literal.0)) {
                continue;
            }
            used.extend(common.iter().map(|literal| (*literal).clone()));
            let telling =
                common.iter().any(|literal| literal.is_telling() && !change.knows(&literal.0));
            let strong =
                common.iter().any(|literal| literal.is_strong() && !change.knows(&literal.0));
            matched.push((n, telling, strong));
        }
    }
    let telling = matched.iter().any(|(_, telling, _)| *telling);
    let strong = matched.iter().any(|(_, _, strong)| *strong);
    let distinct: BTreeSet<usize> = matched.iter().map(|(n, ..)| *n).collect();
    let known = all.iter().filter(|literal| used.contains(*literal)).count();
    let enough = strong || telling && (distinct.len() >= 2 || matched.len() >= 2);
    if !enough || known * 10 < all.len() * 6 {
        return Vec::new();
    }
    let at = distinct.into_iter().map(|n| view.lines[n].at);
    at.map(|at| view.sign(FindingKind::TestLiterals, at)).collect()
}

/// Production code that opens the tests.
fn reads_tests(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    let reads = pattern!(
        r"\binclude(?:_str|_bytes)?!\(|\bopen\(|\bread_text\(|\bread_bytes\(|\breadFile(?:Sync)?\(|\bReadFile\(|\bread_to_string\(|\bFile\.(?:read|open)\b|\bfile_get_contents\(|\bglob\w*\(|\bgetsource\(|\breaddir(?:Sync)?\(|\blistdir\(|\bcat\s|\bgrep\s|\bsed\s|\bawk\s|\bimport_module\("
    );
    let tests = pattern!(
        r#"["'](?:[^"'\n]*/)?(?:tests?|spec|__tests__|testdata)(?:/|["'])|["'/](?:test_[\w*]+\.py|[\w*]+_test\.(?:py|go|rb)|[\w*.-]+\.(?:test|spec)\.\w+)["']|\s(?:\./)?tests?/\S+"#
    );
    if view.is_program() {
        return Vec::new();
    }
    view.signs(FindingKind::TestLiterals, |line| {
        let text = &line.text;
        reads.is_match(text) && tests.is_match(text) && !change.goal.contains("tests/")
    })
}

/// Inputs recognised by their digests.
fn digests(change: &Change<'_>, view: &View<'_>) -> Option<Sign> {
    if pattern!(r"(?i)\b(?:hash|digest|checksum|crc|md5|sha\d*|etag|fingerprint|signature)")
        .is_match(change.goal)
    {
        return None;
    }
    let hashes = pattern!(
        r"(?i)\b(?:crc32|adler32|md5|sha1|sha224|sha256|sha512|blake2\w*|blake3|fnv\w*|murmur\w*|xxh\w*)\b|\bhashlib\.|\bcreateHash\(|\bDefaultHasher\b"
    );
    let imports = pattern!(r"^\s*(?:import|from|use|const\s+\w+\s*=\s*require)\b");
    let line = view
        .lines
        .iter()
        .find(|line| hashes.is_match(&line.text) && !imports.is_match(&line.text))?;
    // A digest is a key or a comparison; or the digest of a literal is taken.
    let constant = pattern!(
        r#"["'][0-9a-fA-F]{8,}["']\s*(?::|=>|\])|==\s*["'][0-9a-fA-F]{8,}|\b(?:0x[0-9a-fA-F]{6,}|\d{7,})\w*\s*(?:=>|:)|==\s*(?:0x[0-9a-fA-F]{6,}|\d{7,})|(?:crc32|adler32|md5|sha\d+)\(\s*b?["'][^"']+["']"#
    );
    let known = change.code.iter().any(|text| hashes.is_match(text));
    (constant.is_match(&view.added()) && !known)
        .then(|| view.sign(FindingKind::TestLiterals, line.at))
}
