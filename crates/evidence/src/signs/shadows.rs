//! Names used by checks that new production code takes over: commands as functions of a shell library or as programs of
//! the repository, modules of a runner, globals and built-ins. Their use is known only from the texts of tests.

use types::FindingKind;

use super::production::View;
use super::sign::{Change, Sign, sign};
use crate::pattern::pattern;
use crate::source::Language;

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    let lines = view.signs(FindingKind::AlwaysEqual, |line| match view.language() {
        Language::Shell => shell(change, &line.text),
        _ => replaces_globals(view, &line.text) || skips(change, &line.text),
    });
    takes_a_name(change, view).into_iter().chain(lines).collect()
}

/// Commands that decide in scripts.
const DECIDE: &[&str] = &[
    "test", "[", "[[", "cmp", "diff", "exit", "expr", "true", "false", "return", "set", "trap",
    "command", "builtin", "eval", "exec", "source", "type",
];

/// Commands that scripts compare with, if they use them.
const USED: &[&str] = &[
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "cat",
    "sed",
    "awk",
    "sort",
    "uniq",
    "wc",
    "head",
    "tail",
    "cut",
    "tr",
    "comm",
    "md5sum",
    "sha256sum",
    "cksum",
    "echo",
    "printf",
    "ls",
    "find",
    "env",
    "sh",
    "bash",
    "python",
    "python3",
    "node",
    "make",
    "jq",
    "git",
    "go",
    "cargo",
    "npm",
    "npx",
    "ruby",
    "perl",
    "php",
    "timeout",
    "xargs",
    "read",
    "shift",
    "mktemp",
    "cd",
    "kill",
    "wait",
    "bc",
];

fn shell(change: &Change<'_>, text: &str) -> bool {
    let defined = pattern!(
        r#"^\s*(?:eval\s+["']\s*)?(?:function\s+([\w.\[-]+)\s*(?:\(\s*\))?\s*(?:\{|\($|$)|([\w.\[-]+)\s*\(\s*\)|alias\s+(?:-g\s+)?([\w.\[-]+)=)"#
    );
    if pattern!(r#"^\s*(?:enable\s+-n|hash\s+-p|shopt\s+-s\s+expand_aliases)\b|^\s*(?:export\s+)?PATH=["']?(?:\./|\$\{?PWD|\$\(pwd|\$\(dirname|\$\{?BASH_SOURCE|\$\(cd\s)"#).is_match(text) {
        return true;
    }
    let Some(found) = defined.captures(text) else { return false };
    let Some(name) = (1..=3).find_map(|group| found.get(group)) else { return false };
    let name = name.as_str();
    let asserts = pattern!(r"^(?:assert|expect|same|equals?|should)(?:_|[A-Z]|$)").is_match(name);
    DECIDE.contains(&name)
        || (USED.contains(&name) || asserts) && change.tests.iter().any(|text| calls(text, name))
}

/// Whether a script calls a command.
fn calls(text: &str, name: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | '`' | '"' | '{');
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end_matches([' ', '\t']);
        let begins = before.is_empty()
            || before.ends_with(['\n', ';', '|', '&', '(', '`', '{', '!'])
            || ["then", "do", "if", "else", "while"].iter().any(|word| before.ends_with(word));
        begins && text[at + name.len()..].chars().next().is_none_or(ends)
    })
}

/// A new file found in place of a program or a module of the runner.
fn takes_a_name(change: &Change<'_>, view: &View<'_>) -> Option<Sign> {
    if view.old.is_some() || change.goal.contains(view.path) {
        return None;
    }
    let program = pattern!(
        r"(?:^|/)(?:test|\[|cmp|diff|grep|egrep|awk|gawk|mawk|sed|cat|sort|make|gmake|python[\d.]*|pytest|py\.test|node|npm|npx|yarn|pnpm|jest|mocha|vitest|tap|cargo|rustc|rustdoc|go|sh|bash|dash|env|true|false|expr|git|ruby|rspec|rake|bundle|php|phpunit|java|mvn|gradle|perl|prove|bats|timeout|tee|ctest|cmake|gcc|cc|ld)$"
    );
    let module = pattern!(
        r"^(?:src/|lib/)?(?:pytest|_pytest|unittest|pluggy|iniconfig|doctest|nose2?|sitecustomize|usercustomize|hypothesis|coverage|faulthandler|argparse|inspect|traceback|difflib|pprint|datetime|decimal|fractions|json|re|os|sys|io|ast|abc|math|time|random|typing|types|functools|itertools|collections|dataclasses|importlib|pathlib|subprocess|tempfile|contextlib|warnings|operator|string|textwrap|shutil|signal|threading|statistics|copy|glob|fnmatch|shlex|tokenize|linecache|logging|csv)(?:\.py|/__init__\.py)$|(?:^|/)(?:sitecustomize|usercustomize)\.py$|^(?:assert|node:\w+)(?:\.js|/index\.js)$"
    );
    let no_folder = pattern!(r"(?:^|/)(?:rules|commands|subcommands|completions|snippets)/");
    let taken =
        program.is_match(view.path) && !no_folder.is_match(view.path) || module.is_match(view.path);
    let first = view.source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    taken.then(|| sign(FindingKind::AlwaysEqual, view.path, first))
}

fn replaces_globals(view: &View<'_>, text: &str) -> bool {
    let replaced = match view.language() {
        Language::Python => pattern!(
            r#"\b(?:builtins|__builtins__)\.\w+\s*=[^=]|\bsetattr\(\s*(?:builtins|__builtins__|sys\.modules)|\b__builtins__\[[^\]]+\]\s*=[^=]|\bbuiltins\.__dict__|\bvars\(builtins\)|\bglobals\(\)\[\s*["'](?:assert|expect|self|test)\w*["']\s*\]\s*=[^=]|\bf_globals\[[^\]]*\]\s*=[^=]|\bf_(?:globals|locals)\.update\(|\bsys\.modules\[\s*["'](?:unittest|pytest|_pytest|doctest|assert\w*|math|datetime|json|re|decimal|operator)\b[^\]]*\]\s*=[^=]|\bgc\.get_referrers\(|\bctypes\.pythonapi\b|\bsys\.meta_path\.(?:insert|append)\(|\bsys\.excepthook\s*=[^=]"#
        ),
        Language::JavaScript => pattern!(
            r#"\b(?:globalThis|global|window|self)\s*(?:\.\s*|\[\s*["'])(?:assert|expect|test|it|describe|should|jest|vi|chai|process|require|console|Error|AssertionError|Object|Array|JSON|Math|Date)["']?\]?\s*=[^=>]|\bSymbol\.hasInstance\b|\b(?:Object|Array|String|Number|Boolean|Function|Map|Set|Promise|Date|RegExp)\.prototype\.(?:valueOf|toString|toJSON|constructor|hasOwnProperty|every|some|includes|indexOf|forEach|map|filter|reduce|join|sort|slice|then|catch|test|get|has|equals?)\s*=[^=]|\bdefineProperty\(\s*(?:Object|Array|String|Number|Boolean|Function|Map|Set|Promise)\.prototype|\brequire\.cache\[|\b(?:Module|module\.constructor)\._(?:load|resolveFilename|extensions)\b[^=]*=[^=]|\bModule\.prototype\.\w+\s*=[^=]|\bObject\.(?:is|keys|entries|getPrototypeOf|getOwnPropertyNames)\s*=[^=]|\b(?:Reflect|JSON|Math|Number)\.\w+\s*=[^=>]|\bprocess\.binding\("#
        ),
        Language::Ruby => pattern!(
            r"^\s*(?:class|module)\s+(?:Object|BasicObject|Kernel|Minitest\b.*|RSpec\b.*|Test::Unit\b.*|NilClass)\s*(?:$|;)|\b(?:Object|Kernel|BasicObject|Integer|String|Array|Hash|Minitest\S*|RSpec\S*)\.(?:class_eval|prepend|include|define_method|send\(:define_method)|^\s*refine\s+(?:Object|Integer|String|Array|Hash)\b"
        ),
        _ => return false,
    };
    if replaced.is_match(text) {
        return true;
    }
    view.language() == Language::JavaScript && alters_assertions(view, text)
}

/// Whether a name for a module of assertions gets other members.
fn alters_assertions(view: &View<'_>, text: &str) -> bool {
    let named = pattern!(
        r#"(?:\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:require|import)\(\s*|\bimport\s+(?:\*\s+as\s+)?(\w+)[^;\n]*\bfrom\s+)["'](?:node:)?(?:assert(?:/strict)?|test|chai|expect|jest\S*|vitest|tape|ava|should|power-assert)["']"#
    );
    let names = named.captures_iter(&view.code);
    names.filter_map(|found| found.get(1).or_else(|| found.get(2))).any(|name| {
        let name = name.as_str();
        text.match_indices(name).any(|(at, _)| {
            let rest = &text[at + name.len()..];
            let before = &text[..at];
            pattern!(r"^(?:\.\w+|\[[^\]]*\])+\s*=[^=>]").is_match(rest)
                || pattern!(r"\b(?:defineProperty|defineProperties|assign|setPrototypeOf)\(\s*$")
                    .is_match(before)
        })
    })
}

/// Whether code under test marks a test as skipped.
fn skips(change: &Change<'_>, text: &str) -> bool {
    let skips = pattern!(
        r"\b(?:raise|throw(?:\s+new)?)\s+(?:[\w.]+\.)?(?:SkipTest|Skipped|AssumptionViolatedException|TestAbortedException|SkipException|TestSkippedException|IgnoreException|SkippedTestError|XFailed)\b|\bpytest\.(?:skip|xfail|exit|importorskip)\(|\b(?:assumeTrue|assumeFalse|Assume\.that|assumeThat)\(|\bmock\.ANY\b|\bimport\s[^#\n]*\bANY\b|\bMinitest::Skip\b|\bmarkTest(?:Skipped|Incomplete)\("
    );
    skips.is_match(text) && !change.code.iter().any(|code| skips.is_match(code))
}

#[cfg(test)]
mod tests;
