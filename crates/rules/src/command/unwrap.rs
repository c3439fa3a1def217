//! Commands in the words of other commands: those that `env`, `xargs`, `find -exec`, `sh -c`, `eval` and the like would
//! start. Each becomes a part of its own.
//!
//! Words that a command gets only at run time (the input of `xargs`, the results of `find`) are guessed where they are
//! likely, so that rules that forbid see them. None of them is certain, so rules that allow do not match them.

use types::CommandRisk;

use super::dangerous_flags;
use super::grammar::read_script;
use super::part::{Direction, Part};
use super::programs::{Given, given, is_shell};
use super::source::{Found, MOST_DEPTH, MOST_PARTS, is_name};
use super::word::{Piece, Word};
use super::wrappers::{Form, Wrapper, wrapper};

/// Maximum number of words guessed for one command.
const MOST_APPENDED: usize = 64;

/// Unwraps all parts, including those that it finds on the way.
pub(super) fn all(found: &mut Found) {
    let mut place = 0;
    while let Some(part) = found.parts.get(place).cloned() {
        place += 1;
        if found.parts.len() >= MOST_PARTS || part.depth >= MOST_DEPTH {
            if let Some(part) = found.parts.get_mut(place - 1) {
                part.unclear = Some("it is nested too deeply or contains too many commands");
                part.risks.insert(CommandRisk::Opaque);
            }
            continue;
        }
        let before = found.parts.len();
        let is_wrapper = one(found, &part);
        if found.parts.len() > before {
            found.subshell(before);
        }
        for inner in found.parts.iter_mut().skip(before) {
            inner.shells.extend(&part.shells);
            inner.started_by = Some(place - 1);
            inner.origin = part.origin;
            inner.upstream.extend(part.upstream.iter().cloned());
            inner.background |= part.background;
            inner.functions.extend(part.functions.iter().cloned());
            if inner.inside.is_empty() {
                inner.inside = part.inside.clone();
            }
        }
        if let Some(outer) = found.parts.get_mut(place - 1) {
            outer.is_wrapper = is_wrapper;
        }
    }
}

/// Adds the commands that this part would start; true if starting them is all that it does.
fn one(found: &mut Found, part: &Part) -> bool {
    let Some(name) = part.name() else { return false };
    if let Some(wrapper) = wrapper(&name) {
        return wrapped(found, part, wrapper);
    }
    if is_shell(&name) {
        return shell(found, part);
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
            find_exec(found, part, arguments);
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
fn script(found: &mut Found, part: &Part, words: &[Word]) {
    if words.is_empty() {
        return;
    }
    let likely: Option<Vec<String>> = words.iter().map(Word::likely).collect();
    if !words.iter().all(|word| word.known().is_some()) {
        let shown: Vec<String> = words.iter().map(Word::shown).collect();
        let unclear = Part::unclear("it is assembled only at run time", shown.join(" "));
        found.parts.push(Part { depth: part.depth + 1, ..unclear });
    }
    if let Some(likely) = likely {
        text(found, part, &likely.join(" "));
    }
}

/// Reads a text as a script.
fn text(found: &mut Found, part: &Part, text: &str) {
    read_script(found, text, part.depth + 1);
}

/// Adds the words as a command.
fn start(found: &mut Found, part: &Part, words: Vec<Word>, assigns: Vec<(String, Word)>) {
    if !words.is_empty() || !assigns.is_empty() {
        let depth = part.depth + 1;
        found.parts.push(Part { words, assigns, depth, ..Part::default() });
    }
}

fn wrapped(found: &mut Found, part: &Part, wrapper: Wrapper) -> bool {
    let mut words = part.words.get(1..).unwrap_or_default();
    let (mut assigns, mut skip) = (Vec::new(), wrapper.skip);
    while let Some((word, rest)) = words.split_first() {
        let text = word.likely().unwrap_or_default();
        if wrapper.name == "command" && text.starts_with('-') && text.to_lowercase().contains('v') {
            // It only prints where a program is.
            return true;
        }
        if wrapper.name == "env" && split_string(found, part, &text, rest) {
            return true;
        }
        let is_script =
            |text: &str| text == "-c" || text == "--command" || text.starts_with("--command=");
        if wrapper.form == Form::ScriptOrWords && is_script(&text) {
            let glued = text.split_once('=').map(|(_, value)| Word::of(value));
            script(found, part, glued.as_slice());
            script(found, part, rest.get(..1).filter(|_| glued.is_none()).unwrap_or_default());
            return !wrapper.judged;
        }
        if text == "--" {
            words = rest;
            continue;
        }
        // A dash alone is `env -i`.
        let option = text.len() > 1 || wrapper.form == Form::Environment;
        if text.starts_with('-') && option {
            words = rest.get(usize::from(takes_next(&wrapper, &text))..).unwrap_or_default();
            continue;
        }
        let variable = text.split_once('=').filter(|(name, _)| is_name(name));
        if let (Form::Environment, Some((name, value))) = (wrapper.form, variable) {
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
    match wrapper.form {
        Form::Script => script(found, part, words),
        Form::Appends if !words.is_empty() => {
            let mark = placeholder(&part.words);
            let mut words: Vec<Word> = words.iter().map(|word| fill(word, &mark)).collect();
            words.extend(appended(found, part));
            start(found, part, words, assigns);
        }
        Form::Appends => {}
        _ => start(found, part, words.to_vec(), assigns),
    }
    !wrapper.judged
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
fn takes_next(wrapper: &Wrapper, option: &str) -> bool {
    if option.starts_with("--") {
        return wrapper.long.contains(&option);
    }
    let letters: Vec<char> = option.chars().skip(1).collect();
    letters
        .iter()
        .position(|c| wrapper.short.contains(*c))
        .is_some_and(|at| at + 1 == letters.len())
}

/// `-exec … ;` of find, `-x …` of fd. The results replace `{}`.
fn find_exec(found: &mut Found, part: &Part, arguments: &[Word]) {
    const STARTS: [&str; 8] =
        ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
    let root = arguments.first().filter(|word| !word.shown().starts_with('-')).map(guessed);
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
            true => root.clone().unwrap_or_else(|| unknown(word)),
            false => word.clone(),
        });
        let filled = filled.collect();
        start(found, part, filled, vec![]);
    }
}

/// Adds the commands of a shell's script or input; true if running them is all that it does.
fn shell(found: &mut Found, part: &Part) -> bool {
    let (given, odd) = given(&part.words);
    match given {
        Given::Text(word) => {
            script(found, part, std::slice::from_ref(word));
            !odd
        }
        Given::File => false,
        Given::Input => {
            let Some(document) = document(part) else { return false };
            let Some(body) = found.documents.get(document).cloned() else { return false };
            script(found, part, &[body]);
            !odd
        }
    }
}

/// The number of the here-document that is its input: the last redirection of an input wins.
fn document(part: &Part) -> Option<usize> {
    let inputs = part.redirections.iter().rev();
    let last = inputs
        .map(|redirection| redirection.direction)
        .find(|direction| matches!(direction, Direction::Reads | Direction::Document(_)));
    match last {
        Some(Direction::Document(number)) => Some(number),
        _ => None,
    }
}

/// The word as a guess.
fn guessed(word: &Word) -> Word {
    Word(vec![Piece::Guess(word.shown())])
}

/// The word as unknown.
fn unknown(word: &Word) -> Word {
    Word(vec![Piece::Unknown { text: word.shown(), splits: false }])
}

/// The placeholder of `xargs`, by default `{}`.
fn placeholder(words: &[Word]) -> String {
    let texts: Vec<String> = words.iter().map(Word::shown).collect();
    let place = texts.iter().position(|text| text.starts_with("-I"));
    let mark = place.and_then(|place| match texts.get(place)?.strip_prefix("-I") {
        Some("") => texts.get(place + 1).cloned(),
        glued => glued.map(str::to_owned),
    });
    mark.filter(|mark| !mark.is_empty()).unwrap_or_else(|| "{}".to_owned())
}

/// A word with its placeholder filled in.
fn fill(word: &Word, mark: &str) -> Word {
    if word.shown().contains(mark) { unknown(word) } else { word.clone() }
}

/// The words that may come from the commands before it: the output of `echo`, the folders of `find`, and unknown ones.
fn appended(found: &Found, part: &Part) -> Vec<Word> {
    let before =
        part.upstream.iter().flat_map(|range| found.parts.get(range.clone()).unwrap_or_default());
    let prints = before.filter(|part| {
        matches!(part.name().as_deref(), Some("echo" | "printf" | "find" | "ls" | "fd"))
    });
    let words = prints.flat_map(|part| part.words.iter().skip(1)).take(MOST_APPENDED).map(guessed);
    words.chain([Word::unknown("…".to_owned())]).collect()
}
