//! Accepted and rejected documents, and the round trip of written values.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{canonical, read};

fn value(text: &str) -> Value {
    read(text).expect("a document").value
}

fn wrong(text: &str) -> String {
    read(text).expect_err("not a document").to_string()
}

#[test]
fn maps_lists_and_scalars_are_read_with_their_lines() {
    let text = "title: A thing\nmeta:\n  version: 3\nlist:\n  - a: 1\n    b: 'x: y'\n  - two\n";
    let read = read(text).expect("a document");
    assert_eq!(
        read.value,
        json!({"title": "A thing", "meta": {"version": 3}, "list": [{"a": 1, "b": "x: y"}, "two"]})
    );
    assert_eq!(read.line("meta.version"), Some(3));
    assert_eq!(read.line("list.0.b"), Some(6));
    assert_eq!(read.line("list.1"), Some(7));
    assert_eq!(read.line("list.1.nothing"), Some(7), "the nearest around it");
}

#[test]
fn no_line_is_beyond_the_last() {
    for text in ["---", "a:", "a: 1\rb:", "- \r\n- "] {
        let last = if text.contains('\r') { 2 } else { 1 };
        let read = read(text).expect("YAML");
        assert!(read.lines.values().all(|line| *line <= last), "{text:?}: {:?}", read.lines);
    }
    assert!(wrong("a: [").starts_with("line 1:"), "{}", wrong("a: ["));
}

#[test]
fn json_is_taken_as_json() {
    assert_eq!(
        value("{\"a\": \"\\ud83d\\ude00\",\n\"b\": [1, 2.5, null]}"),
        json!({"a": "😀", "b": [1, 2.5, null]})
    );
    assert_eq!(value("{a: 1}"), json!({"a": 1}));
    assert!(wrong("{\"a\": 1,,}").starts_with("line 1: "));
}

#[test]
fn what_could_surprise_is_refused_with_its_line() {
    assert_eq!(wrong("a: 1\nb: 2\na: 3\n"), "line 3: a is defined twice");
    assert_eq!(wrong("m:\n  k: 1\n  k: 2\n"), "line 3: m.k is defined twice");
    assert_eq!(wrong("a: &x 1\nb: *x\n"), "line 1: anchors (&name) and tags (!name) are not taken");
    assert_eq!(wrong("a: !!str 1\n"), "line 1: anchors (&name) and tags (!name) are not taken");
    assert_eq!(wrong("? [a]\n: 1\n"), "line 1: a key is a text, not a list or a map");
    assert_eq!(wrong("--- 1\n--- 2\n"), "line 2: a second document begins; one is enough");
    assert_eq!(wrong(""), "line 1: there is nothing in it");
    let deep = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
    assert!(wrong(&deep).contains("deeper than 64"), "{}", wrong(&deep));
    assert!(wrong("a: [1\nb: 2").starts_with("line "));
}

#[test]
fn the_canonical_form_is_plain_to_read() {
    let value = json!({
        "zeta": [], "title": "A thing", "none": {}, "lines": "one\n  two\n\nthree", "ends": "a\nb\n",
        "list": ["x", {"b": true, "a": [1, {"c": "2"}]}, ["y"]], "odd": "a: b # c", "yes": "no",
    });
    let expected = "title: A thing\nends: |\n  a\n  b\nlines: |-\n  one\n    two\n\n  three\nlist:\n  - x\n  - a:\n      - 1\n      - c: \"2\"\n    b: true\n  -\n    - \"y\"\nnone: {}\nodd: \"a: b # c\"\n\"yes\": \"no\"\nzeta: []\n";
    let text = canonical(&value, &["title"]);
    assert_eq!(text, expected);
    assert_eq!(super::read(&text).expect("the same").value, value);
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,12}",
        any::<String>(),
        "[a-z:#\\-\\n \\t'\"|>&*!%@`{}\\[\\],?]{0,20}",
        Just("~".to_owned()),
        Just("true".to_owned()),
        Just("1.5".to_owned()),
        Just("a\n\nb\n".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    /// K6, K7: written values are read back unchanged, and the same content gives the same bytes.
    #[test]
    fn what_is_written_is_read_again(value in any_value()) {
        let text = canonical(&value, &[]);
        let read = super::read_yaml(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&read.value, &value, "{}", text);
        prop_assert_eq!(canonical(&read.value, &[]), text);
    }
}
