//! Reading scripts: the documented ones, and mistakes with their lines.

use serde_json::json;

use super::*;

fn refused(text: &str) -> (usize, String) {
    let error = Script::parse(text).expect_err("refused");
    (error.line, error.cause)
}

/// The example in this file's documentation, which users copy.
fn example() -> String {
    let source = include_str!("../script.rs");
    let lines = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_start);
    let lines = lines.skip_while(|line| *line != "```toml").skip(1);
    lines.take_while(|line| *line != "```").collect::<Vec<_>>().join("\n")
}

#[test]
fn the_documented_example_is_a_script() {
    let script = Script::parse(&example()).expect("a script");
    assert_eq!(script.attempts.len(), 2);
    assert_eq!(script.attempts[0].replies.len(), 4);
    assert_eq!(script.price_cap().output, types::Money::nanos(15_000_000_000));
    let call = &script.attempts[0].replies[0].calls[0];
    assert_eq!(call.arguments, types::Arguments::Json(json!({"content": "hi\n", "path": "a.txt"})));
    let broken = &script.attempts[0].replies[2].calls[0];
    assert_eq!(broken.arguments, types::Arguments::Broken("{broken".to_owned()));
    assert_eq!(script.attempts[1].replies[2].end, End::Cut);
}

#[test]
fn the_scripts_in_the_documentation_are_scripts() {
    let page = include_str!("../../../../docs/scripts.md");
    let blocks = page.split("```toml\n").skip(1);
    let scripts: Vec<&str> = blocks.filter_map(|block| block.split("```").next()).collect();
    assert_eq!(scripts.len(), 2);
    for script in scripts {
        Script::parse(script).unwrap_or_else(|error| panic!("{error}\n{script}"));
    }
}

#[test]
fn an_unknown_key_is_refused_with_its_line() {
    let (line, cause) = refused("[[attempt]]\nrole = \"coder\"\n[[attempt.reply]]\nsya = \"hi\"\n");
    assert_eq!(line, 4, "{cause}");
    assert!(cause.contains("sya"), "{cause}");
    let (line, cause) = refused("[[attempt]]\nrole = \"coder\"\ntaks = \"T1\"\n");
    assert_eq!(line, 3, "{cause}");
    assert!(cause.contains("taks"), "{cause}");
    assert!(refused("[[attmpt]]\n").1.contains("attmpt"));
}

#[test]
fn replies_that_make_no_sense_are_refused_with_their_line() {
    let head = "[[attempt]]\nrole = \"coder\"\n[[attempt.reply]]\n";
    for (reply, word) in [
        ("call = { tool = \"a\" }\ncalls = [{ tool = \"b\" }]\n", "not both"),
        ("cut = true\nstop = \"end\"\n", "one way"),
        ("call = { tool = \"a\", raw = \"x\", y = 1 }\n", "alone"),
        ("call = { path = \"a\" }\n", "tool"),
        ("call = { tool = \"a\", x = inf }\n", "finite"),
        ("stop = \"never\"\n", "never"),
        ("fault = { class = \"odd\", code = \"a.b\", what = \"c\" }\n", "odd"),
    ] {
        let (line, cause) = refused(&format!("{head}{reply}"));
        assert!(cause.contains(word), "{reply}: {cause}");
        assert!((3..=4).contains(&line), "{reply}: line {line}");
    }
}

#[test]
fn ids_and_counts_are_checked() {
    assert!(refused("[[attempt]]\n").1.contains("role"));
    assert!(refused("[[attempt]]\nrole = \"../x\"\n").1.contains("role id"));
    assert!(refused("[[attempt]]\nrole = \"coder\"\nn = 0\n").1.contains("nonzero"));
}

#[test]
fn an_attempt_that_can_never_be_reached_is_refused() {
    let (line, cause) =
        refused("[[attempt]]\nrole = \"coder\"\n\n[[attempt]]\nrole = \"coder\"\ntask = \"T1\"\n");
    assert_eq!(line, 4, "{cause}");
    assert!(cause.contains("line 1"), "{cause}");
    let narrow_first =
        "[[attempt]]\nrole = \"coder\"\nn = 1\n[[attempt]]\nrole = \"coder\"\ntask = \"T1\"\n";
    assert!(Script::parse(narrow_first).is_ok());
}

/// Each of the three restrictions widens on its own, and the first attempt that covers is named.
#[test]
fn an_attempt_is_covered_by_every_wider_one() {
    let fields = ["task = \"T1\"\n", "n = 1\n", "session = 2\n"];
    let attempt = |chosen: usize| {
        let given = fields.iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0);
        let given: String = given.map(|(_, field)| *field).collect();
        format!("[[attempt]]\nrole = \"coder\"\n{given}")
    };
    for (wide, narrow) in (0..8).flat_map(|wide| (0..8).map(move |narrow| (wide, narrow))) {
        let other = "[[attempt]]\nrole = \"tester\"\n";
        let text = format!("{other}{}{}", attempt(wide), attempt(narrow));
        let covered = wide & narrow == wide;
        assert_eq!(Script::parse(&text).is_err(), covered, "{text}");
        if covered {
            assert!(refused(&text).1.contains("line 3 "), "{text}");
        }
    }
}

/// Compared pairwise, and each with a count of the lines before it, these attempts took many times as long as their text.
#[test]
fn many_attempts_are_read_in_one_pass() {
    let attempt = |n: usize| format!("[[attempt]]\nrole = \"coder\"\nn = {n}\n");
    let text: String = (1..=4_000).map(attempt).collect();
    assert_eq!(Script::parse(&text).expect("a script").attempts.len(), 4_000);
    assert_eq!(refused(&(text + &attempt(4_000))).0, 12_001);
}

#[test]
fn an_empty_script_is_a_script_that_answers_nothing() {
    assert!(Script::parse("").expect("a script").attempts.is_empty());
}
