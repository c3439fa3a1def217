//! Mentions in a text, recognised by form alone: files, names in code, endpoints, errors, versions, blanks. A form that
//! could also be prose (`Next.js`, `and/or`, `GitHub`) counts as prose.

use std::collections::BTreeSet;

use types::Mention;

use super::names::{
    BRANDS, DOMAINS, ENDINGS, ERRNOS, FILE_NAMES, FOLDERS, NOT_FILES, SUFFIXES, listed,
};
use super::word::Word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// A web address.
    Link,
    Mention(Mention),
}

pub(super) fn form(chunk: &str) -> Form {
    let bare = chunk.trim_matches(|c: char| ",;:!?\"'()[]{}<>*“”„«»".contains(c));
    let bare = bare.trim_end_matches(['.', '…']);
    if bare.contains("://")
        || bare.starts_with("www.")
        || (bare.contains('@') && bare.contains('.'))
    {
        return Form::Link;
    }
    let of = |is: bool, mention: Mention| is.then_some(Form::Mention(mention));
    of(is_error(bare), Mention::Error)
        .or_else(|| of(is_endpoint(bare), Mention::Endpoint))
        .or_else(|| of(is_file(bare), Mention::File))
        .or_else(|| of(is_version(bare), Mention::Version))
        .or_else(|| of(is_call(chunk) || is_name(bare), Mention::Code))
        .unwrap_or(Form::Plain)
}

fn is_file(text: &str) -> bool {
    // `src/a.rs:12:3` is a place in a file.
    let text = text.split(':').next().unwrap_or(text).trim_end_matches('.');
    if listed(FILE_NAMES, text) {
        return true;
    }
    let (folder, name) = text.rsplit_once('/').unwrap_or(("", text));
    let ending = name.rsplit_once('.').map(|(stem, ending)| (stem, ending.to_lowercase()));
    let known = ending.as_ref().is_some_and(|(_, ending)| listed(ENDINGS, ending.as_str()));
    if !text.contains('/') {
        let hidden = name.strip_prefix('.').is_some_and(|rest| {
            rest.len() > 2 && rest.chars().all(|c| c.is_ascii_lowercase() || c == '.')
        });
        let stem = ending.map(|(stem, _)| stem).unwrap_or_default();
        let plain = stem.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
        let is_product = || listed(NOT_FILES, &text.to_lowercase());
        return hidden
            || (known && plain && stem.chars().any(char::is_alphabetic) && !is_product());
    }
    if !text.chars().all(|c| c.is_alphanumeric() || "/._-*@".contains(c)) {
        return false;
    }
    let first = folder.split('/').find(|part| !matches!(*part, "" | "." | "..")).unwrap_or(name);
    known || text.starts_with("./") || text.starts_with("../") || listed(FOLDERS, first)
}

fn is_endpoint(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else { return false };
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '{' || c == ':')
        && rest.chars().all(|c| c.is_ascii_alphanumeric() || "_-{}:/.?=&*<>".contains(c))
        && rest.len() >= 2
}

fn is_version(text: &str) -> bool {
    let text = text.trim_start_matches(['v', 'V', '^', '~', '=']);
    let mut parts = text.split('.');
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    text.contains('.')
        && parts.next().is_some_and(number)
        && parts.all(|part| number(part) || part == "x")
}

/// `render()`, `parse(x`, but not `file(s)`.
fn is_call(chunk: &str) -> bool {
    let Some((name, inside)) = chunk.split_once('(') else { return false };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.:!".contains(c);
    name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(plain)
        && (inside.starts_with(')') || is_name(name))
}

/// `get_user`, `PaymentQueue`, `getUser`, `io::Error`, `users.email`, `--json`, `a1b2c3d`.
fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some(flag) = text.strip_prefix("--") {
        return flag.len() >= 2 && flag.starts_with(|c: char| c.is_ascii_alphabetic());
    }
    if text.contains("::") || text.contains("->") {
        return text.chars().any(|c| c.is_ascii_alphabetic());
    }
    if let Some((left, right)) = text.split_once('.') {
        let part = |part: &str| part.len() >= 2 && part.chars().all(word);
        // `java.util.List`, `Windows.Detection.Keylogger`.
        if text.matches('.').count() >= 2 && text.split('.').all(part) {
            return !listed(DOMAINS, text.rsplit('.').next().unwrap_or(text));
        }
        let right = right.split('.').next_back().unwrap_or(right);
        let lower = right.starts_with(|c: char| c.is_ascii_lowercase());
        let is_product = listed(DOMAINS, right)
            || listed(NOT_FILES, &text.to_lowercase())
            || left.chars().all(|c| c.is_ascii_digit());
        return part(left) && part(right) && lower && !is_product;
    }
    if !text.chars().all(word) {
        return false;
    }
    let snake =
        text.trim_matches('_').contains('_') && text.chars().any(|c| c.is_ascii_alphabetic());
    snake || is_camel(text) || is_commit(text)
}

fn is_camel(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let hump = |pair: &[char]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let first = letters.windows(2).position(hump);
    let humps = letters.windows(2).filter(|pair| hump(pair)).count();
    // The lists are long, and nearly every word of a text comes here.
    let is_product = || listed(BRANDS, &text.to_lowercase());
    // `MailerLite` may be a product; `PaymentQueue`, `HttpClientPool` and `getUser` are not.
    let of_code = || {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            || humps >= 2
            || SUFFIXES.split(' ').any(|suffix| text.ends_with(suffix))
    };
    letters.len() >= 6 && first.is_some_and(|at| at >= 1) && of_code() && !is_product()
}

fn is_commit(text: &str) -> bool {
    let hex = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    (7..=40).contains(&text.len())
        && text.chars().all(hex)
        && text.chars().filter(char::is_ascii_digit).count() >= 2
        && text.chars().any(|c| c.is_ascii_alphabetic())
}

fn is_error(text: &str) -> bool {
    let text = text.strip_prefix("error[").unwrap_or(text);
    let last = text.rsplit(['.', ':']).find(|part| !part.is_empty()).unwrap_or(text);
    let named = ["Error", "Exception", "Panic"].iter().any(|end| {
        last.strip_suffix(end).is_some_and(|rest| {
            rest.len() >= 2
                && rest.starts_with(|c: char| c.is_ascii_uppercase())
                && rest.chars().all(|c| c.is_ascii_alphanumeric())
        })
    });
    let code = ["E", "C", "CS", "TS", "LNK", "ORA-", "PGRST", "SQLSTATE"].iter().any(|start| {
        text.strip_prefix(start).is_some_and(|number| {
            (3..=5).contains(&number.len()) && number.chars().all(|c| c.is_ascii_digit())
        })
    });
    let advisory = text.starts_with("CVE-") && text.len() > 8;
    named || code || advisory || listed(ERRNOS, text)
}

pub(super) fn is_trace(text: &str) -> bool {
    let frame = |line: &str| {
        let line = line.trim_start();
        let place = line.rsplit(':').next().map(|end| end.trim_end_matches(')'));
        let numbered =
            place.is_some_and(|end| !end.is_empty() && end.chars().all(|c| c.is_ascii_digit()));
        line.starts_with("at ") && line.contains(':') && numbered
    };
    ["Traceback (most recent call last)", "panicked at", "Exception in thread", "goroutine 1 ["]
        .iter()
        .any(|sign| text.contains(sign))
        || (text.contains("File \"") && text.contains(", line "))
        || text.lines().any(frame)
}

/// Whether a quotation after these words is program output.
pub(super) fn reports<'a>(mut last: impl Iterator<Item = &'a str>) -> bool {
    const REPORTS: &str = "with throws throwing error errors says saying prints message exception logs raises get gets getting \
        fails panics shows";
    last.any(|word| listed(REPORTS, word))
}

pub(super) fn sounds_like_an_error(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "error",
        "failed",
        "cannot",
        "exception",
        "undefined",
        "denied",
        "not found",
        "panicked",
        "no such",
        "unexpected",
        "invalid",
        "refused",
        "timed out",
        "out of memory",
        "overflow",
    ];
    let text = text.to_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// `returns 500`, `HTTP 404`, `a 502 error`.
pub(super) fn status_codes(words: &[Word], mentions: &mut BTreeSet<Mention>) {
    const BESIDE: &str = "http status error errors returns return returning code gives throws response responds responding with \
        instead";
    for (place, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let status = text.len() == 3
            && text.starts_with(['4', '5'])
            && text.chars().all(|c| c.is_ascii_digit());
        let near = &words[place.saturating_sub(2)..(place + 2).min(words.len())];
        if status && near.iter().any(|word| listed(BESIDE, word.text.as_str())) {
            mentions.insert(Mention::Error);
        }
    }
}

/// Whether a request is a list without anything in it.
pub(super) fn is_a_bare_list(text: &str) -> bool {
    let bullet = |line: &str| matches!(line.trim(), "-" | "*" | "•" | "1." | "2." | "3.");
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(bullet)
}

/// Whether a placeholder was left to fill in, in a piece of prose of a text.
pub(super) fn has_a_blank(prose: &str, text: &str) -> bool {
    const WORDS: &[&str] = &["tbd", "tba", "xxx", "???", "____", "___", "[todo]", "<todo>"];
    let chunk = |chunk: &str| {
        let chunk = chunk.trim_matches(['.', ',', ';', ':', '"']).to_lowercase();
        WORDS.contains(&chunk.as_str()) || chunk.trim_matches('?').is_empty() && chunk.len() >= 3
    };
    prose.split_whitespace().any(chunk)
        || [('<', '>'), ('[', ']')].iter().any(|pair| left_open(prose, text, *pair))
}

/// The longest placeholder, in bytes.
const LONGEST_BLANK: usize = 120;

/// `<name of the service>`, `[your key]`, `as a [role]`; not `<div>`, `[x]`, `[a-z]`, `[warning] ...`, a list in code, a
/// word that the text uses elsewhere, or a link.
fn left_open(prose: &str, text: &str, (open, close): (char, char)) -> bool {
    const ONE_WORD: &[&str] =
        &["name", "insert", "placeholder", "something", "service", "value", "url"];
    const IN_A_SENTENCE: &[&str] = &[
        "role",
        "goal",
        "benefit",
        "feature",
        "company",
        "date",
        "topic",
        "product",
        "description",
        "reason",
        "customer",
        "project",
        "component",
        "thing",
        "number",
        "todo",
    ];
    let begins = prose.len() - prose.trim_start().len();
    prose.match_indices(open).any(|(at, _)| {
        let after_a_word = open == '[' && prose[..at].ends_with(' ') && at > begins;
        let before = prose[..at].trim();
        // A colon right after a quotation is one of JSON.
        let in_code = before == ":" || before.ends_with('{');
        let near = &prose[at + 1..prose.floor_char_boundary(at + 1 + LONGEST_BLANK)];
        let Some(length) = near.find(close) else { return false };
        let inside = &prose[at + 1..at + 1 + length];
        let after = prose[at + 1 + length + 1..].chars().next();
        let words: Vec<&str> =
            inside.split([' ', '_', '-']).filter(|word| !word.is_empty()).collect();
        let plain = inside.chars().all(|c| c.is_alphabetic() || " _-".contains(c));
        let short = (2..=6).contains(&words.len())
            || words.iter().any(|word| ONE_WORD.contains(word))
            || after_a_word && words.iter().any(|word| IN_A_SENTENCE.contains(word));
        let letters = words.iter().all(|word| word.chars().count() == 1);
        let explained = words.len() == 1 && text.matches(inside).count() > 1;
        plain && short && !in_code && !letters && !explained && after != Some('(')
    })
}
