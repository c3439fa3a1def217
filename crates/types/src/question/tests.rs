//! Parsing of answers to questions. Who may answer, and when, is not tested here.

use super::*;

fn terms() -> Terms {
    let choices = vec![
        Choice::new("retry", "once more").with_words(),
        Choice::new("skip", "leave it out"),
        Choice::new("stop", "end the run"),
    ];
    let about = About::Gate(Phase::Planning);
    Terms::escalation(Escalation::Unknown, Severity::High, about, choices, "stop")
}

#[test]
fn a_choice_is_known_by_its_name_its_beginning_or_its_number() {
    let chosen = |text: &str| terms().choose(text).map(|chosen| (chosen.choice, chosen.words));
    let is = |id: &str, words: &str| Ok((Some(id.to_owned()), words.to_owned()));
    assert_eq!(chosen("retry"), is("retry", ""));
    assert_eq!(chosen(" R: use tabs, not blanks "), is("retry", "use tabs, not blanks"));
    assert_eq!(chosen("2"), is("skip", ""));
    assert_eq!(chosen("sto"), is("stop", ""));
}

#[test]
fn a_check_is_no_answer_without_its_command() {
    let choices =
        vec![Choice::new("check", "run this").with_words(), Choice::new("stop", "end it")];
    let (sort, high) = (Escalation::QualityFailure, Severity::High);
    let terms = Terms::escalation(sort, high, About::Gate(Phase::Initiation), choices, "stop");
    for said in ["check", "1"] {
        let refused = terms.choose(said).expect_err("no command").to_string();
        assert!(refused.contains("because check needs a command after it"), "{refused}");
        assert!(refused.ends_with("choose one of: check COMMAND, stop"), "{refused}");
    }
    assert_eq!(terms.choose("1 make test").expect("an answer").words, "make test");
}

#[test]
fn what_is_not_a_choice_is_refused_with_those_that_there_are() {
    for text in ["s", "0", "4", "", "do as you like", "skip it, please"] {
        let refused = terms().choose(text).expect_err("it is no answer").to_string();
        assert!(refused.ends_with("choose one of: retry [words], skip, stop"), "{refused}");
    }
}

#[test]
fn what_is_said_about_the_budget_is_a_number_of_tokens() {
    let mut terms = terms();
    terms.about = Some(About::Budget);
    for (text, tokens) in [
        ("retry 20,000", Some(20_000)),
        ("retry 50k", Some(50_000)),
        ("retry 2M tokens more", Some(2_000_000)),
        ("retry", None),
    ] {
        let chosen = terms.choose(text).expect("it is an answer");
        assert_eq!(tokens_in(&chosen.words), tokens, "{text}");
    }
    for text in ["retry as you like", "retry 99999999999999m"] {
        let refused = terms.choose(text).expect_err("it is no answer").to_string();
        assert!(refused.contains("choose one of: retry [tokens or $], skip"), "{refused}");
    }
}

#[test]
fn an_open_question_takes_any_words() {
    let open = Terms::open(QuestionKind::Clarification, Severity::Medium);
    let chosen = open.choose("with tabs").expect("any words");
    assert_eq!((chosen.choice, chosen.words.as_str()), (None, "with tabs"));
}

#[test]
fn a_refused_answer_says_what_was_most_likely_meant() {
    let choices = vec![
        Choice::new("retry", "once more").with_words(),
        Choice::new("accept", "take it"),
        Choice::new("stop", "end it"),
    ];
    let (sort, high) = (Escalation::QualityFailure, Severity::High);
    let terms = Terms::escalation(sort, high, About::Budget, choices, "stop");
    let refused = |said: &str| terms.choose(said).expect_err(said).to_string();
    assert!(refused("accpet").contains(" (did you mean accept?); choose one of: "));
    assert!(refused("accept it is fine").contains(", because accept takes no words; choose"));
    assert!(refused("yes").contains("question; choose one of: "), "{}", refused("yes"));
}
