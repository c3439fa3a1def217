//! Side doors: arguments by which programs that only look at things write or run something after all. The table
//! is `dangerous_flags.txt`. A rule that allows a program by its name does not allow these, unless it names them.

use super::pattern::Flag;
use super::{Word, inline, shells};

const TABLE: &str = include_str!("doors.txt");

struct Doors {
    program: &'static str,
    options: &'static str,
}

/// Other names of programs in the table.
const ALSO: [(&str, &str); 8] = [
    ("gawk", "awk"),
    ("mawk", "awk"),
    ("nawk", "awk"),
    ("gsed", "sed"),
    ("gtar", "tar"),
    ("bsdtar", "tar"),
    ("gmake", "make"),
    ("gfind", "find"),
];

fn of(program: &str) -> Option<Doors> {
    let name = ALSO.iter().find(|(also, _)| *also == program).map_or(program, |(_, name)| name);
    TABLE.lines().find_map(|line| {
        let (program, rest) = line.split_at_checked(name.len())?;
        let options = rest.strip_prefix(": ").filter(|_| program == name)?;
        Some(Doors { program, options })
    })
}

/// The word that opens a side door of this program, if one does that was not named.
pub(super) fn opened(program: &str, arguments: &[Word], named: &[Flag]) -> Option<String> {
    let dangerous_flags = of(program)?;
    let mut plain = 0;
    let mut options = true;
    for word in arguments {
        let text = word.shown();
        options &= text != "--";
        if word.may_be_an_option() && !dangerous_flags.takes_anything() {
            // What it turns out to be may be one of the doors.
            return Some(text);
        }
        if options && text.starts_with('-') && text.len() > 1 {
            if dangerous_flags.open(&text, named) {
                return Some(text);
            }
        } else {
            plain += usize::from(text != "--");
            if dangerous_flags.written_from().is_some_and(|from| plain > from) {
                return Some(text);
            }
        }
    }
    // Words that are programs in small languages of their own.
    match dangerous_flags.program {
        "sed" => inline::sed(arguments),
        "awk" => inline::awk(arguments),
        "git" => inline::git(arguments, named),
        // An archive on another machine is fetched by another program.
        "tar" => arguments.iter().map(Word::shown).find(|text| text.contains(':')),
        "make" => arguments
            .iter()
            .map(Word::shown)
            .find(|text| text.contains('=') && !text.starts_with('-')),
        _ => None,
    }
}

impl Doors {
    fn options(&self) -> impl Iterator<Item = &'static str> {
        self.options.split_whitespace()
    }

    /// Whether words that nobody knows yet cannot open anything.
    fn takes_anything(&self) -> bool {
        self.options().any(|option| option == "@any")
    }

    /// From which plain word on they name files that are written.
    fn written_from(&self) -> Option<usize> {
        self.options().find_map(|option| option.strip_prefix('@')?.parse().ok())
    }

    fn open(&self, text: &str, named: &[Flag]) -> bool {
        let option = text.split_once('=').map_or(text, |(option, _)| option);
        let is_long = |long: &str| {
            // A shortened option is as good as a whole one.
            long.len() > 2
                && (long == option
                    || long.starts_with("--") && long.starts_with(option) && option.len() > 2)
        };
        if let Some(long) = self.options().find(|long| is_long(long)) {
            return !named.iter().any(|flag| flag.is_long(long));
        }
        let one_dash = |long: &str| long.len() > 2 && !long.starts_with("--");
        if text.starts_with("--") || self.options().any(one_dash) {
            return false;
        }
        let short = |letter: char| {
            self.options().any(|option| option.len() == 2 && option.ends_with(letter))
        };
        let mut letters = text.chars().skip(1).filter(|letter| short(*letter));
        letters.any(|letter| !named.iter().any(|flag| flag.is_short(letter)))
    }
}

/// Commands that the arguments of a program tell it to run.
pub(super) fn commands(program: &str, arguments: &[Word]) -> Vec<String> {
    const RUN: &[(&str, &str)] = &[
        ("tar", "--to-command"),
        ("tar", "--checkpoint-action"),
        ("tar", "--use-compress-program"),
        ("tar", "--info-script"),
        ("tar", "-I"),
        ("tar", "-F"),
        ("sort", "--compress-program"),
        ("rg", "--pre"),
        ("git", "--exec"),
        ("git", "--upload-pack"),
        ("git", "--receive-pack"),
        ("git", "--extcmd"),
        ("git", "-u"),
        ("git", "-x"),
        ("git", "-O"),
        ("git", "--open-files-in-pager"),
        ("rsync", "--rsh"),
        ("rsync", "-e"),
    ];
    let mut found = Vec::new();
    let mut words = arguments.iter().map(|word| word.likely().unwrap_or_default()).peekable();
    while let Some(word) = words.next() {
        if program == "git" && word == "-c" {
            found.extend(words.peek().and_then(|setting| inline::git_setting(setting)));
        }
        for (_, option) in RUN.iter().filter(|(name, _)| *name == program) {
            let Some(rest) = word.strip_prefix(option) else { continue };
            let value = match rest.strip_prefix('=') {
                Some(value) => Some(value.to_owned()),
                None if rest.is_empty() => words.peek().cloned(),
                None => (!option.starts_with("--")).then(|| rest.to_owned()),
            };
            found.extend(value.map(|value| value.trim_start_matches("exec=").to_owned()));
        }
    }
    let is_awk = of(program).is_some_and(|dangerous_flags| dangerous_flags.program == "awk");
    if is_awk || shells::is_interpreter(program) {
        found.extend(arguments.iter().flat_map(|word| inline::system_calls(&word.shown())));
    }
    found
}
