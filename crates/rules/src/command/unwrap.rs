//! Commands that stand in the words of other commands: what `env`, `xargs`, `find -exec`, `sh -c`, `eval` and their
//! like would start. Each becomes a part of its own.

use types::Deed;

use super::source::{Found, Source, is_name};
use super::wrappers::{Carrier, Form, carrier};
use super::{MOST_DEPTH, MOST_PARTS, Part, Word, dangerous_flags, feed, shells};

/// Goes through all parts, those that are found on the way too.
pub(super) fn all(found: &mut Found) {
    let mut place = 0;
    while let Some(part) = found.parts.get(place).cloned() {
        place += 1;
        if found.parts.len() >= MOST_PARTS || part.depth >= MOST_DEPTH {
            if let Some(part) = found.parts.get_mut(place - 1) {
                part.unclear = Some("it is nested too deeply");
                part.risks.insert(Deed::Opaque);
            }
            continue;
        }
        let before = found.parts.len();
        let carries = one(found, &part);
        if found.parts.len() > before {
            found.apart(before);
        }
        for inner in found.parts.iter_mut().skip(before) {
            inner.shells.extend(&part.shells);
            inner.carrier = Some(place - 1);
            inner.origin = part.origin;
            inner.upstream.extend(part.upstream.iter().cloned());
            inner.background |= part.background;
            inner.functions.extend(part.functions.iter().cloned());
            if inner.inside.is_empty() {
                inner.inside = part.inside.clone();
            }
        }
        if let Some(outer) = found.parts.get_mut(place - 1) {
            outer.carries = carries;
        }
    }
}

/// Adds what this part would start, and says whether starting it is all that it does.
fn one(found: &mut Found, part: &Part) -> bool {
    let Some(name) = part.name() else { return false };
    if let Some(carrier) = carrier(&name) {
        return carried(found, part, carrier);
    }
    if shells::is_shell(&name) {
        return shells::unwrap(found, part);
    }
    let arguments = part.words.get(1..).unwrap_or_default();
    match name.as_str() {
        "eval" => {
            let options = arguments.iter().take_while(|word| word.shown() == "--").count();
            script(found, part, arguments.get(options..).unwrap_or_default());
            true
        }
        "trap" => {
            let action = arguments.iter().find(|word| !word.shown().starts_with("--"));
            script(found, part, action.map(std::slice::from_ref).unwrap_or_default());
            false
        }
        "alias" => {
            for word in arguments {
                if let Some((_, value)) =
                    word.likely().as_deref().and_then(|text| text.split_once('='))
                {
                    text(found, part, value);
                }
            }
            false
        }
        "find" | "fd" | "fdfind" => {
            found_files(found, part, arguments);
            false
        }
        _ => {
            for value in dangerous_flags::commands(&name, arguments) {
                text(found, part, &value);
            }
            false
        }
    }
}

/// Reads words, joined by blanks, as a script.
pub(super) fn script(found: &mut Found, part: &Part, words: &[Word]) {
    if words.is_empty() {
        return;
    }
    let likely: Option<Vec<String>> = words.iter().map(Word::likely).collect();
    if !words.iter().all(|word| word.known().is_some()) {
        let shown: Vec<String> = words.iter().map(Word::shown).collect();
        let unclear = Part::unclear("it is put together only when it runs", shown.join(" "));
        found.parts.push(Part { depth: part.depth + 1, ..unclear });
    }
    if let Some(likely) = likely {
        text(found, part, &likely.join(" "));
    }
}

/// Reads a text as a script.
pub(super) fn text(found: &mut Found, part: &Part, text: &str) {
    Source::read_script(found, text, part.depth + 1);
}

/// Adds the words as a command.
fn start(found: &mut Found, part: &Part, words: Vec<Word>, assigns: Vec<(String, Word)>) {
    if !words.is_empty() || !assigns.is_empty() {
        let depth = part.depth + 1;
        found.parts.push(Part { words, assigns, depth, ..Part::default() });
    }
}

fn carried(found: &mut Found, part: &Part, carrier: Carrier) -> bool {
    let mut words = part.words.get(1..).unwrap_or_default();
    let (mut assigns, mut skip) = (Vec::new(), carrier.skip);
    while let Some((word, rest)) = words.split_first() {
        let text = word.likely().unwrap_or_default();
        if carrier.name == "command" && text.starts_with('-') && text.to_lowercase().contains('v') {
            // It only says where a program is.
            return true;
        }
        if carrier.name == "env" && split_string(found, part, &text, rest) {
            return true;
        }
        let is_script =
            |text: &str| text == "-c" || text == "--command" || text.starts_with("--command=");
        if carrier.form == Form::ScriptOrWords && is_script(&text) {
            let glued = text.split_once('=').map(|(_, value)| Word::of(value));
            script(found, part, glued.as_slice());
            script(found, part, rest.get(..1).filter(|_| glued.is_none()).unwrap_or_default());
            return !carrier.judged;
        }
        if text == "--" {
            words = rest;
            continue;
        }
        // A dash alone is `env -i`.
        let option = text.len() > 1 || carrier.form == Form::Environment;
        if text.starts_with('-') && option {
            words = rest.get(usize::from(takes_next(&carrier, &text))..).unwrap_or_default();
            continue;
        }
        let variable = text.split_once('=').filter(|(name, _)| is_name(name));
        if let (Form::Environment, Some((name, value))) = (carrier.form, variable) {
            assigns.push((name.to_owned(), Word::of(value)));
            words = rest;
            continue;
        }
        if skip == 0 {
            break;
        }
        skip -= 1;
        words = rest;
    }
    match carrier.form {
        Form::Script => script(found, part, words),
        Form::Feeds if !words.is_empty() => {
            let mark = feed::mark(&part.words);
            let mut words: Vec<Word> = words.iter().map(|word| feed::fill(word, &mark)).collect();
            words.extend(feed::fed(found, part));
            start(found, part, words, assigns);
        }
        Form::Feeds => {}
        _ => start(found, part, words.to_vec(), assigns),
    }
    !carrier.judged
}

/// `env -S 'a b c'` takes a whole command in one word.
fn split_string(found: &mut Found, part: &Part, flag: &str, rest: &[Word]) -> bool {
    let (value, rest) = if let Some(value) = flag.strip_prefix("--split-string=") {
        (Word::of(value), rest)
    } else if flag == "--split-string"
        || flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('S')
    {
        match rest.split_first() {
            Some((value, rest)) => (value.clone(), rest),
            None => return false,
        }
    } else if let Some(value) = flag.strip_prefix("-S").or_else(|| flag.strip_prefix("-vS")) {
        (Word::of(value), rest)
    } else {
        return false;
    };
    let words: Vec<Word> = std::iter::once(value).chain(rest.iter().cloned()).collect();
    script(found, part, &words);
    true
}

/// Whether an option takes the next word as its value.
fn takes_next(carrier: &Carrier, option: &str) -> bool {
    if option.starts_with("--") {
        return carrier.long.contains(&option);
    }
    let letters: Vec<char> = option.chars().skip(1).collect();
    letters
        .iter()
        .position(|c| carrier.short.contains(*c))
        .is_some_and(|at| at + 1 == letters.len())
}

/// `-exec … ;` of find, `-x …` of fd. What was found takes the place of `{}`.
fn found_files(found: &mut Found, part: &Part, arguments: &[Word]) {
    const STARTS: [&str; 8] =
        ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
    let root = arguments.first().filter(|word| !word.shown().starts_with('-')).map(feed::guess);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.likely().unwrap_or_default();
        if let Some((_, value)) =
            text.split_once('=').filter(|(flag, _)| flag.starts_with("--exec"))
        {
            self::text(found, part, value);
        }
        if !STARTS.contains(&text.as_str()) {
            continue;
        }
        let command = words.by_ref().take_while(|word| !matches!(word.shown().as_str(), ";" | "+"));
        let filled = command.map(|word| match word.shown().contains("{}") {
            true => root.clone().unwrap_or_else(|| feed::unknown(word)),
            false => word.clone(),
        });
        let filled = filled.collect();
        start(found, part, filled, vec![]);
    }
}
