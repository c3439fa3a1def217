//! Matches and non-matches of patterns.

use super::*;

fn lists() -> Lists {
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Lists::from([
        ("make".to_owned(), list(&["write", "build", "编写"])),
        ("bad".to_owned(), list(&["keylogger", "credential stealer", "勒索软件"])),
    ])
}

fn finds(pattern: &str, text: &str) -> bool {
    let lists = lists();
    let phrase = Phrase::parse(pattern, &lists).expect("a pattern");
    !phrase.places(&Reading::of_text(text)).is_empty()
}

#[test]
fn patterns_are_whole_words_in_order() {
    let text = "Build a guide; the UI comes later";
    assert!(finds("ui", text) && finds("a guide", text) && finds("gu*", text));
    assert!(!finds("guid", text) && !finds("guide a", text) && !finds("guide the", text));
    assert!(finds("x|ui comes", text));
}

#[test]
fn a_short_gap_stays_in_its_noun_phrase_and_a_long_one_in_its_sentence() {
    let pattern = "<make> .. <bad> $";
    for text in
        ["Build me a small keylogger", "write a credential stealer in Go", "编写一个勒索软件"]
    {
        assert!(finds(pattern, text), "{text}");
    }
    for text in [
        "build a scanner for a keylogger",
        "build a keylogger detector",
        "build it. A keylogger was found",
        "编写一个勒索软件检测工具",
    ] {
        assert!(!finds(pattern, text), "{text}");
    }
    assert!(finds("<make> ... <bad>", "build a scanner, for a keylogger"));
    assert!(!finds("<make> ... <bad>", "build it. A keylogger was found"));
    assert!(finds("<make> .. <bad> software|code $", "build keylogger software for me"));
}

#[test]
fn the_start_of_a_clause_leaves_politeness_aside() {
    for text in [
        "book a flight",
        "please book me a flight",
        "Could you book a flight?",
        "Sit down, then book a flight",
    ] {
        assert!(finds("^ book .. flight", text), "{text}");
    }
    assert!(!finds("^ book .. flight", "Add a way to book a flight"));
}

#[test]
fn a_broken_pattern_says_why() {
    let lists = lists();
    let why = |text: &'static str| match Phrase::parse(text, &lists) {
        Ok(phrase) => Err(phrase.fault().expect("a fault").to_string()),
        Err(error) => Err::<(), _>(error.to_string()),
    };
    assert_eq!(why(".. $").unwrap_err(), "contains no word");
    assert_eq!(why("<nobody>").unwrap_err(), "names the unknown list <nobody>");
    assert_eq!(why("a|").unwrap_err(), "contains \"\", which is not a lower-case word");
    assert_eq!(why("(a").unwrap_err(), "contains \"(a\", which is not a lower-case word");
    assert_eq!(why("Ann").unwrap_err(), "contains \"Ann\", which is not a lower-case word");
}
