//! Words, pauses and mentions found in texts.

use types::Mention;

use super::*;

fn mentions(text: &str) -> Vec<Mention> {
    Reading::of_text(text).mentions.into_iter().collect()
}

fn words(reading: &Reading) -> String {
    reading.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_file_is_told_from_what_only_looks_like_one() {
    for text in [
        "fix src/a.rs",
        "see `main.py`, please",
        "(lib/tide.sh)",
        "the Makefile",
        "src/auth/",
        ".gitignore",
        "x.rs:12",
    ] {
        assert!(mentions(text).contains(&Mention::File), "{text}");
    }
    for text in [
        "e.g. this",
        "version 1.5",
        "and/or",
        "the end.",
        "...",
        "Next.js and Node.js",
        "client/server",
        "24/7",
        "example.com",
    ] {
        assert_eq!(mentions(text).iter().find(|m| **m == Mention::File), None, "{text}");
    }
}

#[test]
fn names_in_code_are_told_from_brands() {
    for text in [
        "rename get_user",
        "the PaymentQueue",
        "call render() twice",
        "io::Error::kind",
        "users.email",
        "add --json",
        "revert 3fb64c9",
    ] {
        assert_eq!(mentions(text), [Mention::Code], "{text}");
    }
    for text in
        ["GitHub and YouTube", "file(s)", "TypeScript", "the APIs", "iPhone", "e.g.", "monday.com"]
    {
        assert_eq!(mentions(text), [], "{text}");
    }
}

#[test]
fn endpoints_errors_traces_versions_and_blanks_have_their_forms() {
    assert_eq!(mentions("add GET /health"), [Mention::Endpoint]);
    assert_eq!(mentions("it throws a TypeError"), [Mention::Error]);
    assert_eq!(mentions("the login returns 500 now"), [Mention::Error]);
    assert_eq!(mentions("it fails with \"cannot open display\""), [Mention::Error]);
    assert_eq!(mentions("we sold 500 books"), []);
    assert_eq!(mentions("thread panicked at the disco"), [Mention::Trace]);
    assert_eq!(mentions("upgrade serde to 1.0.200"), [Mention::Version]);
    assert_eq!(mentions("connect to <name of the service>"), [Mention::Blank]);
    assert_eq!(mentions("the colour is TBD"), [Mention::Blank]);
    assert_eq!(mentions("a <div> with [x] in it"), []);
    assert_eq!(mentions("- \n-\n"), [Mention::Blank]);
    assert_eq!(mentions("sign it as Name: [your name]"), [Mention::Blank]);
    // Notation is nothing to fill in.
    for text in [
        "sets: [abc] and ranges [a-z] match one of these characters",
        "after a line [name], keys are stored as \"name.key\"",
        "every zone becomes {\"steps\": [the steps as they are now], \"per_kg\": CENTS}",
    ] {
        assert!(!mentions(text).contains(&Mention::Blank), "{text}");
    }
    // A list of names.
    assert!(!mentions("Export\n- `a.one()`\n- `a.two()`").contains(&Mention::Blank));
}

#[test]
fn prose_has_neither_paths_nor_quotations_in_it() {
    let reading = Reading::of_text("Add a \"Book a flight\" button to src/roadmap.rs, quickly");
    assert_eq!(words(&reading), "add a book a flight button to src roadmap rs quickly");
    assert_eq!(words(&reading.prose()), "add a button to quickly");
    assert_eq!(reading.prose().words[4].pause, Pause::Clause);
}

#[test]
fn an_apostrophe_opens_no_quotation() {
    assert_eq!(
        words(&Reading::of_text("don't change Ann's and Bob's files").prose()),
        "dont change anns and bobs files"
    );
}

#[test]
fn words_that_were_hidden_are_found() {
    for text in ["k\u{200b}eylogger", "ｋｅｙｌｏｇｇｅｒ"] {
        let reading = Reading::of_text(text);
        assert!(reading.words[0].is("keylogger"), "{text}");
    }
}

#[test]
fn scripts_without_blanks_have_a_word_for_each_character() {
    assert_eq!(Reading::of_text("修复登录错误。").words.len(), 6);
}

#[test]
fn any_text_has_a_reading() {
    for text in
        ["", "```", "`", "\"", "'", "“x", "``` a", "<", "[", "[<", "/", "--", "::", ".", "é`ü`"]
    {
        let _ = Reading::of_text(text).prose();
    }
}

proptest::proptest! {
    #[test]
    fn however_marks_and_letters_are_mixed_there_is_a_reading(
        text in "[`\"'<>\\[\\]{}()a-zA-Z0-9 éß„“”«»「」勒索\n/._:-]{0,80}"
    ) {
        let reading = Reading::of_text(&text);
        assert!(reading.prose().words.len() <= reading.words.len());
    }
}

/// The cost of a text does not grow with its size, and both of its ends count.
#[test]
fn of_a_very_long_text_the_beginning_and_the_end_are_read() {
    let text = format!("Fix the parser. {} Thanks, it is in src/lib.rs", "log 请 ".repeat(300_000));
    let reading = Reading::of_text(&text);
    let words: Vec<&str> = reading.words().iter().map(|word| word.text.as_str()).collect();
    assert_eq!(words[..3], ["fix", "the", "parser"]);
    assert_eq!(words[words.len() - 3..], ["src", "lib", "rs"]);
    assert!(reading.mentions(Mention::File));
    assert!(words.len() <= FRONT + BACK, "{} words", words.len());
    assert!(reading.passed_over > 2_000_000);
    let seam = reading.words().iter().rposition(|word| word.pause == Pause::Sentence);
    assert!(seam.is_some_and(|seam| seam > 3), "the two ends are not one sentence");
}

#[test]
fn an_ordinary_text_is_read_whole() {
    let text = "word ".repeat(10_000);
    let reading = Reading::of_text(&text);
    assert_eq!((reading.words().len(), reading.passed_over), (10_000, 0));
}
