//! Library code that ends the process with success. An exit code for failure is not a sign: it cannot make a check
//! pass.

use types::FindingKind;

use super::production::{Line, View, has_word};
use super::sign::{Change, Sign};
use crate::pattern::pattern;
use crate::source::Language;

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    if view.language() == Language::Shell {
        return shell(change, view);
    }
    view.signs(FindingKind::EarlyExit, |line| hard(view, line) || soft(change, view, line))
}

/// Ways to end a process that nothing can catch.
fn hard(view: &View<'_>, line: &Line) -> bool {
    let text = &line.text;
    let before_main = pattern!(
        r#"link_section\s*=\s*"[^"]*(?:init_array|\.ctors|mod_init_func|CRT\$XC|fini_array)|#\[(?:ctor::)?(?:ctor|dtor)\b|__attribute__\(\(\s*(?:con|de)structor"#
    );
    if before_main.is_match(text) {
        return true;
    }
    let ends = pattern!(
        r#"\bos\._exit\b|\bos\.exec[lv]\w*\b|\bos\.abort\b|\bos\.kill\(\s*os\.getpid|\bsignal\.raise_signal|\breallyExit\b|\bprocess\.abort\b|\bprocess\.kill\(\s*process\.pid|\bprocess\s*\[|\bsyscall\.(?:Exit|Exec|Kill\(syscall\.Getpid)|\blibc::(?:_exit|exit|abort|execv\w*|kill\(libc::getpid)|\bunsafe\s*\{\s*_?exit\(|\bfn\s+_exit\s*\(|\b_exit\(\s*0|\bRuntime\.getRuntime\(\)\.halt\(|\bexit!|\bEnvironment\.FailFast|\bgetattr\(\s*os\s*,\s*(?:[^"'\s]|["'](?:_|exec|exit|abort|kill))|\bnix::unistd::(?:_exit|execv\w*)"#
    );
    if !ends.is_match(text) {
        return false;
    }
    // A forked child has to exit this way.
    let forked = pattern!(r"\bos\.fork\(|\bfork\(\)").is_match(&view.code);
    !(forked || view.is_program() || view.is_entry(view.start(line)))
}

/// Ordinary exits with a code for success.
fn soft(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let text = &line.text;
    let success = pattern!(
        r"\bsys\.exit\(\s*(?:0|None|False|code=0)?\s*\)|(?:^|[\s;:])(?:exit|quit)\(\s*0?\s*\)|\braise\s+SystemExit\b(?:\(\s*0?\s*\)|\s*$)|\bprocess\.exit\(\s*0?\s*\)|\bprocess\.exit\b\s*(?:[^(\s]|$)|\bprocess::exit\(\s*0\s*\)|\bstd::process::exit\b\s*[^(\s]|\bos\.Exit\(\s*0\s*\)|\bSystem\.exit\(\s*0\s*\)|\bexitProcess\(\s*0\s*\)|\bEnvironment\.Exit\(\s*0\s*\)|\bDeno\.exit\(\s*0?\s*\)"
    );
    let code = pattern!(r"\bprocess\.exitCode\s*=\s*0\b|\bEnvironment\.ExitCode\s*=\s*0\b");
    let at = view.start(line);
    let sets_code = code.is_match(text) && !view.is_entry(at) && !view.is_program();
    if sets_code {
        return true;
    }
    if !success.is_match(text) || !success.is_match(view.bare(line)) || view.is_entry(at) {
        return false;
    }
    let leaves =
        pattern!(r"(?i)sigint|sigterm|signal|quit|shutdown|\bclose|\bhelp|version|usage|\bstop");
    let near = view.around(line, 2);
    if leaves.is_match(&near) || view.source.heads(at).iter().any(|head| leaves.is_match(head)) {
        return false;
    }
    let inside = view.source.heads(at).iter().any(|head| is_function(head));
    if is_used(change, view) && !inside {
        return true;
    }
    let parses = pattern!(
        r"\bargparse\b|\bclick\b|\btyper\b|\bdocopt\b|\boptparse\b|\bgetopt|\byargs\b|\bcommander\b|\bparseArgs\b|\bminimist\b|\bflag\.Parse\b|\bclap\b|\bstructopt\b|\bcobra\b|\bpicocli\b|\bOptionParser\b"
    );
    !(view.is_program()
        || parses.is_match(&view.code)
        || reads_arguments(view) && !is_used(change, view))
}

fn is_function(head: &str) -> bool {
    pattern!(r"\b(?:def|fn|func|function|fun|void)\b|=>\s*$|\)\s*$").is_match(head)
        && !pattern!(r"^(?:if|for|while|else|elif|try|switch|with)\b").is_match(head)
}

fn reads_arguments(view: &View<'_>) -> bool {
    pattern!(r"\bsys\.argv\b|\bprocess\.argv\b|\benv::args\b|\bos\.Args\b|\bARGV\b|\$argv\b|\bString\[\]\s+args\b")
        .is_match(&view.code)
}

/// Whether tests or other code use the file, by its name or because it exports something.
fn is_used(change: &Change<'_>, view: &View<'_>) -> bool {
    if pattern!(r"(?m)^export\b|\bmodule\.exports\b|^exports\.").is_match(&view.code) {
        return true;
    }
    let name = view.path.rsplit('/').next().unwrap_or(view.path);
    let stem = name.split('.').next().unwrap_or(name);
    let used = |text: &&&str| {
        text.lines().any(|line| {
            let imports =
                pattern!(r"^\s*(?:from|import|use|require|include)\b|\brequire\(|\bimport\(")
                    .is_match(line);
            imports && has_word(line, stem)
        })
    };
    change.tests.iter().chain(change.code).any(|text| used(&text))
}

fn shell(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    let name = view.path.rsplit('/').next().unwrap_or(view.path);
    let sources = |text: &&&str| {
        text.lines().any(|line| {
            let line = line.trim_start();
            let reads = line.starts_with(". ") || line.starts_with("source ");
            let same =
                |word: &str| word.trim_matches(['"', '\'', ';']).rsplit('/').next() == Some(name);
            reads && line.split_whitespace().any(same)
        })
    };
    let sourced = change.tests.iter().chain(change.code).any(|text| sources(&text));
    view.signs(FindingKind::EarlyExit, |line| {
        let text = line.text.trim();
        let trap =
            pattern!(r#"\btrap\s+(?:'[^']*\bexit\s+0|"[^"]*\bexit\s+0)[^\n]*\b(?:EXIT|0|ERR)\b"#);
        let exits = pattern!(
            r"(?:^|[;&|{)]\s*|\bthen\s+|\bdo\s+)(?:exit(?:\s+0)?\s*(?:$|[;&|}])|exec\s+(?:true|:)\b|kill\s[^\n]*\$(?:\$|PPID))"
        );
        let exits = sourced && !text.starts_with("trap") && exits.is_match(view.bare(line));
        exits || trap.is_match(text)
    })
}
