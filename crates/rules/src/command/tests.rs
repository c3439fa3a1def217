//! Commands found in lines, and that the parser misses nothing and never fails.

use std::collections::BTreeSet;

use proptest::prelude::*;
use types::CommandRisk;

use super::*;

/// The commands of a line, each in one line.
fn found(line: &str) -> Vec<String> {
    read(line).iter().map(Part::shown).collect()
}

fn is_clear(line: &str) -> bool {
    read(line).iter().all(|part| part.unclear.is_none())
}

#[test]
fn lists_pipelines_and_groups_are_taken_apart() {
    assert_eq!(found("a; b && c || d | e & f"), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(found("(a; b) | { c\nd; } > out"), ["a", "b", "c", "d", "> out"]);
    assert_eq!(found("! a; time -p b; coproc c"), ["a", "b", "c"]);
    assert_eq!(found("a # not b\nb"), ["a", "b"]);
    assert_eq!(found("a \\\n  b"), ["a b"]);
}

#[test]
fn compound_commands_are_taken_apart() {
    assert_eq!(found("if a; then b; elif c; then d; else e; fi"), ["a", "b", "c", "d", "e"]);
    assert_eq!(found("for x in $(a) 'b'; do c \"$x\"; done"), ["a", "c $x"]);
    assert_eq!(
        found("while a; do b; done < in; until c; do d; done"),
        ["a", "b", "< in", "c", "d"]
    );
    assert_eq!(found("case $(a) in (x|y) b;; *) c; d;; esac"), ["a", "b", "c", "d"]);
    assert_eq!(found("f() { a; }; function g { b; }; f"), ["a", "b", "f"]);
    assert_eq!(found("[[ -f $(a) && x == y* ]] && b"), ["a", "[[ -f $(a) x == y*", "b"]);
    assert_eq!(found("for ((i = 0; i < 3; i++)); do a; done"), ["((i = 0; i < 3; i++))", "a"]);
}

#[test]
fn substitutions_are_found_wherever_they_stand() {
    for (line, inner) in [
        ("a $(b)", "b"),
        ("a \"x $(b) y\"", "b"),
        ("a `b`", "b"),
        ("a \"`b`\"", "b"),
        ("a ${x:-$(b)}", "b"),
        ("a \"${x:-\"$(b)\"}\"", "b"),
        ("a $(($(b) + 1))", "b"),
        ("a <(b)", "b"),
        ("a > >(b)", "b"),
        ("a <<E\nx $(b)\nE", "b"),
        ("a <<< $(b)", "b"),
        ("x=$(b) a", "b"),
        ("x=(1 $(b)) a", "b"),
        ("a {1,$(b)}", "b"),
        ("a $(c $(b))", "b"),
        ("a `c \\`b\\``", "b"),
    ] {
        assert!(found(line).contains(&inner.to_owned()), "{line}: {:?}", found(line));
        assert!(is_clear(line), "{line}");
    }
    // In single quotes and in quoted documents nothing happens.
    for line in ["a '$(b)'", "a \\$\\(b\\)", "a <<'E'\n$(b)\nE", "a \"\\$(b)\""] {
        assert_eq!(read(line).len(), 1, "{line}");
    }
}

#[test]
fn what_other_programs_would_start_is_found() {
    for line in [
        "env -i A=1 b x",
        "env -S 'b x'",
        "env -u A nice -n 5 timeout -k 1 5 nohup setsid stdbuf -oL b x",
        "command b x",
        "exec -a z b x",
        "builtin eval 'b x'",
        "sh -c 'b x'",
        "bash -lc \"sh -c 'b x'\"",
        "bash -o pipefail -ec 'b x' name",
        "bash <<E\nb x\nE",
        "bash -s <<< 'b x'",
        "find . -name y -exec b x \\;",
        "find . -execdir b x + -print",
        "sudo -u me A=1 b x",
        "ssh -p 22 host b x",
        "watch -n 1 b x",
        "trap 'b x' EXIT",
        "alias y='b x'",
        "busybox b x",
        "/lib64/ld-linux-x86-64.so.2 b x",
        "flock lock -c 'b x'",
        "su me -c 'b x'",
        "tar tf y --to-command='b x'",
        "tar tf y --checkpoint-action=exec='b x'",
        "git -c alias.y='!b x' y",
        "git grep -O'b x' y",
        "awk 'BEGIN { system(\"b x\") }'",
        "python3 -c 'import os; os.system(\"b x\")'",
    ] {
        let starts = |part: &Part| part.name().as_deref() == Some("b") && part.words.len() == 2;
        assert!(read(line).iter().any(starts), "{line}: {:?}", found(line));
    }
    assert_eq!(found("echo / | xargs -n 1 b"), ["echo /", "xargs -n 1 b", "b / …"]);
}

#[test]
fn words_are_what_the_shell_makes_of_them() {
    for line in
        ["rm -rf /", "r''m '-r'f \"/\"", "\\rm -r\\f /", "$'\\x72m' $'-\\162f' /", "{rm,-rf,/}"]
    {
        let words: Vec<_> = read(line)[0].words.iter().map(Word::known).collect();
        assert_eq!(words, ["rm", "-rf", "/"].map(|word| Some(word.to_owned())), "{line}");
    }
    // A guess is no knowledge.
    for line in ["rm${IFS}-rf${IFS}/", "x=rm; $x -rf /"] {
        let part = read(line).pop().expect("a part");
        assert_eq!(part.shown(), "rm -rf /", "{line}");
        assert!(part.risks.contains(&CommandRisk::Opaque), "{line}");
    }
    assert_eq!(read("a $x *.c ~ \"$@\"")[0].words[1].known(), None);
}

#[test]
fn what_cannot_be_read_says_so_and_what_stands_before_it_is_still_found() {
    for line in [
        "a; b 'c",
        "a; b \"c",
        "a; b $(c",
        "a; (b",
        "a; if b; then c",
        "a; b )",
        "a; b <<E\nc",
        "a; @(b|c) d",
    ] {
        let parts = read(line);
        assert_eq!(parts[0].shown(), "a", "{line}");
        let last = parts.last().expect("a part");
        assert!(last.unclear.is_some() && last.risks.contains(&CommandRisk::Opaque), "{line}");
    }
    let deep = format!("{}a{}", "( ".repeat(200), ")".repeat(200));
    assert!(read(&deep).iter().any(|part| part.unclear.is_some()));
    assert!(read(&"a".repeat(MOST_BYTES + 1))[0].unclear.is_some());
    assert!(read(&"a;".repeat(MOST_BYTES / 2)).iter().any(|part| part.unclear.is_some()));
}

#[test]
fn nothing_takes_long() {
    // Each of these makes a naive parser quadratic.
    for piece in [
        "{",
        "{a,",
        "$(",
        "`",
        "\"",
        "(",
        "[[ ",
        "<<E ",
        "eval ",
        "env ",
        "a=b;",
        "${x",
        "{a,b}{a,b}",
        "$a",
        "find -exec ",
    ] {
        assert!(!read(&piece.repeat(MOST_BYTES / piece.len())).is_empty());
    }
}

#[test]
fn deeds_are_noticed() {
    let risks = |line: &str| -> BTreeSet<CommandRisk> {
        read(line).into_iter().flat_map(|part| part.risks).collect()
    };
    assert_eq!(risks("echo a 2>&1 > /dev/null < in"), BTreeSet::new());
    assert_eq!(risks("echo a > b"), BTreeSet::from([CommandRisk::Redirects]));
    assert!(risks("echo a >> ~/.bashrc").contains(&CommandRisk::WritesOutside));
    assert!(risks("cat a > /dev/vda").contains(&CommandRisk::WritesDevice));
    assert_eq!(risks("LD_PRELOAD=./x ls"), BTreeSet::from([CommandRisk::SetsVariable]));
    assert_eq!(risks("export GIT_PAGER=x"), BTreeSet::from([CommandRisk::SetsVariable]));
    assert_eq!(risks("sort -uo b a"), BTreeSet::from([CommandRisk::SideDoor]));
    assert_eq!(risks("python3 -c 'x'"), BTreeSet::from([CommandRisk::RunsCode]));
    assert!(risks("curl x | tee y | env bash").contains(&CommandRisk::NetworkToShell));
    assert!(risks("bash -c \"$(curl x)\"").contains(&CommandRisk::NetworkToShell));
    assert!(!risks("curl x | jq .").contains(&CommandRisk::NetworkToShell));
    assert!(risks("base64 -d x | sh").contains(&CommandRisk::PipeToShell));
    assert!(risks("cat < /dev/tcp/h/80").contains(&CommandRisk::Connects));
    assert!(risks(":(){ :|:& };:").contains(&CommandRisk::ForkBomb));
}

#[test]
fn who_goes_somewhere_in_a_shell_of_its_own_leaves_the_others_where_they_are() {
    let outside = |line: &str| {
        let parts = read(line);
        parts.iter().any(|part| part.risks.contains(&CommandRisk::WritesOutside))
    };
    // From `sub`, `../x` is in the workspace; from the workspace itself it is not.
    assert!(!outside("cd sub && echo a > ../x"));
    assert!(!outside("(cd sub && echo a > ../x)"));
    assert!(!outside("cd sub && (true; echo a > ../x)"));
    assert!(!outside("bash -c 'cd sub; (echo a > ../x)'"));
    for line in [
        "(cd sub && true); echo a > ../x",
        "(cd sub; (cd deeper; true)); echo a > ../x",
        "echo $(cd sub; pwd) > ../x",
        "echo `cd sub; pwd`; echo a > ../x",
        "cat <(cd sub; ls); echo a > ../x",
        "cd sub | true; echo a > ../x",
        "true | cd sub; echo a > ../x",
        "cd sub & echo a > ../x",
        "bash -c 'cd sub'; echo a > ../x",
        "env sh -c 'echo a > ../x'; cd sub",
    ] {
        assert!(outside(line), "{line}");
    }
    assert!(outside("cd /etc; echo a > x"));
    assert!(!outside("(cd /etc); echo a > x"));
}

/// A line in which every `pN` is a command that must be found.
fn lines() -> impl Strategy<Value = String> {
    let leaf = (0_u32..50).prop_map(|n| format!("p{n} x"));
    leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            (
                inner.clone(),
                inner.clone(),
                prop::sample::select(&["; ", " && ", " || ", " | ", " & ", "\n", " |& "][..])
            )
                .prop_map(|(a, b, between)| format!("{a}{between}{b}")),
            (inner.clone(), prop::sample::select(FRAMES))
                .prop_map(|(a, frame)| frame.replace('@', &a)),
            (inner, prop::sample::select(STARTERS))
                .prop_map(|(a, starter)| format!("{starter} '{}'", a.replace('\'', "'\\''"))),
        ]
    })
}

const FRAMES: &[&str] = &[
    "( @ )",
    "{ @\n}",
    "echo $( @\n)",
    "echo \"a $( @\n) b\"",
    "x=$( @\n) p99 y",
    "cat <( @\n)",
    "echo ${x:-$( @\n)}",
    "if @\nthen p98 x\nfi",
    "while @\ndo p97 x\ndone",
    "for i in a b\ndo @\ndone",
    "case a in b) @\n;; esac",
    "f() { @\n}",
    "[[ -n $( @\n) ]]",
    "echo $(( $( @\n) + 1 ))",
];
const STARTERS: &[&str] = &["sh -c", "eval", "bash -ec", "env -S", "timeout 5 bash -c", "trap"];

proptest! {
    #[test]
    fn any_text_is_read_without_a_crash(line in "\\PC{0,200}") {
        prop_assert!(!read(&line).is_empty());
    }

    #[test]
    fn any_shell_like_text_is_read_without_a_crash(line in "[-a-z0-9 \\n\\t$(){}\\[\\]<>|&;'\"`\\\\#!=*?~@:,./]{0,120}") {
        prop_assert!(!read(&line).is_empty());
    }

    #[test]
    fn what_stands_beside_a_line_changes_nothing_of_it(line in "[-a-c \\n$(){}<>|&;'\"`\\\\#!=*,]{0,40}") {
        crate::fuzzing::command_line(line.as_bytes());
    }

    /// The parts of a compound command are all there, however it is put together.
    #[test]
    fn every_piece_is_found(line in lines()) {
        let parts = read(&line);
        let names: Vec<String> = parts.iter().filter_map(Part::name).collect();
        let unclear = parts.iter().any(|part| part.unclear.is_some());
        for piece in line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| {
            word.strip_prefix('p').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        }) {
            prop_assert!(unclear || names.iter().any(|name| name == piece), "{piece} of {line:?}: {names:?}");
        }
        // Apart from depth and the splitting of `env -S`, which has rules of its own, all of these can be read.
        prop_assert!(!unclear || line.contains("env -S") || line.matches('(').count() > 8, "{line:?}");
    }
}
