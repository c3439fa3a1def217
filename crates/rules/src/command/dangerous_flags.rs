//! Dangerous arguments: those by which a program that only reads writes or runs something after all. A rule that
//! allows a program by its name does not allow these, unless it names them. The table is `dangerous_flags.txt`.
//!
//! Small languages in arguments (sed scripts, awk programs, settings of git) are only checked for being certainly
//! read-only; anything that is not understood counts as dangerous.

use super::flags::Flag;
use super::programs::is_interpreter;
use super::word::Word;

const TABLE: &str = include_str!("dangerous_flags.txt");

struct DangerousFlags {
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

fn of(program: &str) -> Option<DangerousFlags> {
    let name = ALSO.iter().find(|(also, _)| *also == program).map_or(program, |(_, name)| name);
    TABLE.lines().find_map(|line| {
        let (program, rest) = line.split_at_checked(name.len())?;
        let options = rest.strip_prefix(": ").filter(|_| program == name)?;
        Some(DangerousFlags { program, options })
    })
}

/// The dangerous argument of this program, if there is one that the rule does not name.
pub(super) fn find(program: &str, arguments: &[Word], named: &[Flag]) -> Option<String> {
    let flags = of(program)?;
    let mut plain = 0;
    let mut options = true;
    for word in arguments {
        let text = word.shown();
        options &= text != "--";
        if word.may_be_an_option() && !flags.takes_anything() {
            // Its value may be dangerous.
            return Some(text);
        }
        if options && text.starts_with('-') && text.len() > 1 {
            if flags.is_dangerous(&text, named) {
                return Some(text);
            }
        } else {
            plain += usize::from(text != "--");
            if flags.written_from().is_some_and(|from| plain > from) {
                return Some(text);
            }
        }
    }
    // Arguments in languages of their own.
    match flags.program {
        "sed" => sed(arguments),
        "awk" => awk(arguments),
        "git" => git(arguments, named),
        // An archive on another machine is fetched by another program.
        "tar" => arguments.iter().map(Word::shown).find(|text| text.contains(':')),
        "make" => arguments
            .iter()
            .map(Word::shown)
            .find(|text| text.contains('=') && !text.starts_with('-')),
        _ => None,
    }
}

impl DangerousFlags {
    fn options(&self) -> impl Iterator<Item = &'static str> {
        self.options.split_whitespace()
    }

    /// Whether words that are unknown before it runs are harmless.
    fn takes_anything(&self) -> bool {
        self.options().any(|option| option == "@any")
    }

    /// The first plain word that names a file to write.
    fn written_from(&self) -> Option<usize> {
        self.options().find_map(|option| option.strip_prefix('@')?.parse().ok())
    }

    fn is_dangerous(&self, text: &str, named: &[Flag]) -> bool {
        let option = text.split_once('=').map_or(text, |(option, _)| option);
        let is_long = |long: &str| {
            // Programs accept abbreviated options.
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

/// Commands in the arguments of a program that it would run.
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
            found.extend(words.peek().and_then(|setting| git_setting(setting)));
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
    let is_awk = of(program).is_some_and(|flags| flags.program == "awk");
    if is_awk || is_interpreter(program) {
        found.extend(arguments.iter().flat_map(|word| system_calls(&word.shown())));
    }
    found
}

/// The argument of sed that may make it write or run something, if there is one.
fn sed(arguments: &[Word]) -> Option<String> {
    const PLAIN: [&str; 9] = [
        "--quiet",
        "--silent",
        "--regexp-extended",
        "--null-data",
        "--zero-terminated",
        "--posix",
        "--sandbox",
        "--unbuffered",
        "--debug",
    ];
    let (mut scripts, mut files) = (Vec::new(), Vec::new());
    let mut options = true;
    let mut words = arguments.iter().map(Word::shown);
    while let Some(word) = words.next() {
        if word == "--" {
            options = false;
        } else if !options || !word.starts_with('-') || word.len() == 1 {
            files.push(word);
        } else if let Some(script) = word.strip_prefix("--expression=") {
            scripts.push(script.to_owned());
        } else if word.starts_with("--") {
            if !PLAIN.contains(&word.as_str()) {
                return Some(word);
            }
        } else {
            // The script of `e` is the rest of the bundle or the next word.
            let letters = word.chars().skip(1).take_while(|c| "nErzu".contains(*c)).count();
            match word.get(letters + 1..) {
                Some("") => {}
                Some("e") => scripts.extend(words.next()),
                Some(rest) if rest.starts_with('e') => scripts.push(rest[1..].to_owned()),
                _ => return Some(word),
            }
        }
    }
    if scripts.is_empty() {
        scripts.extend(files.into_iter().next());
    }
    scripts.into_iter().find(|script| !only_reads(script))
}

/// Whether every command of a sed script only prints, skips or replaces.
fn only_reads(script: &str) -> bool {
    let text: Vec<char> = script.chars().collect();
    let mut at = 0;
    while let Some(c) = text.get(at).copied() {
        at += 1;
        match c {
            ' ' | '\t' | '\n' | ';' | ',' | '!' | '~' | '+' | '$' | '0'..='9' | '{' | '}' => {}
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'q' | 'Q' | '='
            | 'l' => {}
            '/' => match past(&text, at, '/') {
                Some(end) => at = end + usize::from(matches!(text.get(end), Some('I'))),
                None => return false,
            },
            's' | 'y' => {
                let Some(mark) =
                    text.get(at).copied().filter(|c| !c.is_alphanumeric() && *c != '\\')
                else {
                    return false;
                };
                let Some(end) =
                    past(&text, at + 1, mark).and_then(|middle| past(&text, middle, mark))
                else {
                    return false;
                };
                at = end;
                while text.get(at).is_some_and(|c| "gpiI0123456789".contains(*c)) {
                    at += 1;
                }
            }
            _ => return false,
        }
    }
    true
}

/// The position after the next unescaped mark. Brackets may hide a mark, so a script with brackets counts as not
/// understood.
fn past(text: &[char], from: usize, mark: char) -> Option<usize> {
    let mut at = from;
    loop {
        match text.get(at)? {
            '\\' => at += 2,
            c if *c == mark => return Some(at + 1),
            '\n' | '[' => return None,
            _ => at += 1,
        }
    }
}

/// The awk program that may write or run something, if there is one.
fn awk(arguments: &[Word]) -> Option<String> {
    let odd = ["system", "getline", "@", "|", ">", "close", "fflush", "ARGV", "ENVIRON", "/inet"];
    arguments.iter().map(Word::shown).find(|text| odd.iter().any(|word| text.contains(word)))
}

/// The commands that a program in another language passes to a shell as literals.
fn system_calls(program: &str) -> Vec<String> {
    const CALLS: [&str; 8] =
        ["system", "popen", "execSync", "exec", "getoutput", "check_output", "call", "run"];
    let text = |call: &str| {
        let call = call.trim_start().strip_prefix('(')?.trim_start();
        let mark = call.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
        let call = &call[1..];
        Some(call[..call.find(mark)?].to_owned())
    };
    let calls = CALLS.iter().flat_map(|name| program.split(name).skip(1).take(16));
    calls.filter_map(text).collect()
}

/// An argument that makes git run something, apart from its long options. The meaning of a letter depends on its
/// position: before the subcommand nearly every option changes what git runs, after it few do.
fn git(arguments: &[Word], named: &[Flag]) -> Option<String> {
    const BEFORE: [&str; 4] = ["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"];
    const LOOKS: [&str; 7] = ["log", "diff", "show", "status", "blame", "add", "commit"];
    const RUNS: [&str; 9] = [
        "foreach",
        "run",
        "filter-branch",
        "daemon",
        "difftool",
        "mergetool",
        "hook",
        "shell",
        "instaweb",
    ];
    let words: Vec<String> = arguments.iter().map(Word::shown).collect();
    let verb = words.iter().position(|word| !word.starts_with('-')).unwrap_or(words.len());
    let is_named = |word: &String| named.iter().any(|flag| flag.is_in(word, false));
    let before =
        words.iter().take(verb).find(|word| !BEFORE.contains(&word.as_str()) && !is_named(word));
    let looks = words.get(verb).is_some_and(|verb| LOOKS.contains(&verb.as_str()));
    let letters: &[char] = if looks { &['O'] } else { &['O', 'x', 'u'] };
    let after = words.iter().skip(verb).find(|word| {
        word.starts_with('-')
            && !word.starts_with("--")
            && word.contains(letters)
            && !is_named(word)
    });
    let transport = words.iter().find(|word| word.contains("ext::") || word.contains("fd::"));
    let runs = words.iter().skip(verb).take(2).find(|word| RUNS.contains(&word.as_str()));
    before.or(after).or(transport).or(runs).cloned()
}

/// The command in a setting such as `alias.x=!cmd` or `core.pager=cmd`.
fn git_setting(setting: &str) -> Option<String> {
    const RUN: [&str; 14] = [
        "askpass",
        "clean",
        "cmd",
        "command",
        "driver",
        "editor",
        "external",
        "fsmonitor",
        "helper",
        "pager",
        "process",
        "program",
        "smudge",
        "textconv",
    ];
    let (key, value) = setting.split_once('=')?;
    let last = key.rsplit('.').next().unwrap_or(key).to_lowercase();
    if let Some(command) = value.strip_prefix('!') {
        return Some(command.to_owned());
    }
    RUN.iter().any(|name| last.ends_with(name)).then(|| value.to_owned())
}
