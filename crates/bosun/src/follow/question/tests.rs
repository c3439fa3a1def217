//! Questions below the live view.

use serde_json::{Value, json};

use super::*;
use crate::follow::rows::tests::view;

fn asked(id: u32, task: &str, text: &str) -> Value {
    let choices = json!([
        { "id": "again", "says": "judge it again" },
        { "id": "retry", "says": "do it again", "words": true },
        { "id": "stop", "says": "end the run" },
    ]);
    let terms = json!({ "kind": "escalation", "severity": "high", "choices": choices,
        "default": "retry" });
    json!({ "id": id, "text": text, "attempt": format!("{task}.1"), "asked":
        Timestamp::from_millis(0), "terms": terms })
}

fn drawn(view: &RunView, width: usize, most: usize) -> Vec<String> {
    let group = first(view, &[]).expect("it is asked");
    let lines = lines(view, &group, Timestamp::from_millis(0), width, most);
    assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:#?}");
    assert!(lines.len() <= most, "{lines:#?}");
    lines.iter().map(ToString::to_string).collect()
}

#[test]
fn the_suggested_answer_stands_first_with_the_number_that_it_has_everywhere() {
    let view = view(json!([]), json!([asked(0, "T1", "No-go.\x1b[2J What now?")]));
    for width in [40, 80, 120, 200] {
        let lines = drawn(&view, width, 12);
        assert!(lines[0].starts_with("? T1 asks (escalation, high)"), "{lines:#?}");
        assert!(lines[1].contains("No-go.␛[2J What now?"), "{lines:#?}");
        assert!(lines[2].starts_with("    2 retry [words] (suggested)"), "{lines:#?}");
        assert!(lines[3].starts_with("    1 again"), "{lines:#?}");
        assert!(lines[4].starts_with("    3 stop"), "{lines:#?}");
    }
}

#[test]
fn equal_questions_are_one_and_answers_on_their_way_are_not_asked_for_again() {
    let questions =
        json!([asked(0, "T1", "May I?"), asked(1, "T2", "May I?"), asked(2, "T3", "Or?")]);
    let view = view(json!([]), questions);
    let group = first(&view, &[]).expect("it is asked");
    assert_eq!(group.ids, [0, 1]);
    let lines = drawn(&view, 80, 12);
    assert!(lines[0].starts_with("? T1, T2 ask the same"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("1 question after this one")), "{lines:#?}");
    assert_eq!(first(&view, &[0, 1]).expect("the other one").ids, [2]);
    assert_eq!(first(&view, &[0, 1, 2]), None);
}

#[test]
fn evidence_gives_way_to_the_choices() {
    let mut question = asked(0, "T1", "It fails.");
    let said: Vec<String> = (0..20).map(|n| format!("line {n}")).collect();
    let fault = types::Fault::new(types::FaultClass::CheckFailed, "verify.check", "it failed");
    question["terms"]["package"] = json!({
        "attempt": "T1.1", "input": "", "documents": [], "output": "", "changes": [],
        "fault": fault, "evidence": said.join("\n"),
    });
    let view = view(json!([]), json!([question]));
    let roomy = drawn(&view, 80, 20);
    assert!(roomy.iter().any(|line| line.contains("│ line 19")), "{roomy:#?}");
    assert!(!roomy.iter().any(|line| line.contains("│ line 14")), "{roomy:#?}");
    let tight = drawn(&view, 80, 6);
    assert!(tight.iter().any(|line| line.contains("3 stop")), "{tight:#?}");
    assert_eq!(tight.iter().filter(|line| line.contains('│')).count(), 1, "{tight:#?}");
}
