//! What of a change of tests a goal orders, and what it does not.

use super::*;

fn file(text: &str) -> Vec<(String, String)> {
    vec![("a.py".to_owned(), text.to_owned())]
}

fn ordered(goal: &str, before: &str, after: &str) -> Ordered {
    Ordered::new(goal, &file(before), &file(after), (&[], &[]))
}

#[test]
fn a_name_is_carried_along_and_nothing_else_with_it() {
    let goal = "Rename fee to withdrawal_fee everywhere";
    let ordered = ordered(goal, "def fee(c): pass", "def withdrawal_fee(c): pass");
    let old = "from bank import fee\n\ndef test_fee():\n    assert fee(1) == 50\n    assert fee(9) == 50\n";
    let new = old.replace("fee(", "withdrawal_fee(").replace("import fee", "import withdrawal_fee");
    let new = new.replace("test_withdrawal_fee", "test_fee");
    let carried = ordered.carried("test_a.py", old, &new).expect("it is carried");
    assert_eq!((carried.text.as_str(), carried.changes.len()), (new.as_str(), 1));
    // An expectation that changes beside it is not ordered by anybody.
    let weaker = new.replace("(9) == 50", "(9) >= 0");
    let carried = ordered.carried("test_a.py", old, &weaker).expect("it is carried");
    assert_eq!(carried.text, new);
    // A name that no goal mentions is not renamed.
    let silent = Ordered { goal: "Make it faster".to_owned(), ..ordered };
    assert_eq!(silent.carried("test_a.py", old, &new), None);
}

/// The name may be a part of the path of its module, which stays.
#[test]
fn a_name_that_is_also_its_module_s_is_carried_along() {
    let goal = "Rename the function fill to render; the file keeps its name";
    let ordered = ordered(goal, "def fill(c): pass", "def render(c): pass");
    let old = "from fill import fill\n\ndef test_a():\n    assert fill(1) == 2\n";
    let new = old.replace("import fill", "import render").replace("fill(1)", "render(1)");
    assert_eq!(ordered.carried("test_a.py", old, &new).map(|found| found.text), Some(new));
}

#[test]
fn a_value_follows_the_goal_only_as_the_goal_says_it() {
    let old = "def test_a():\n    assert timeout() == 30\n    assert retries() == 2\n";
    let to = |value: &str| old.replace("30", value);
    let of = |goal: &str, new: &str| ordered(goal, "", "").carried("test_a.py", old, new);
    let followed = of("Change the timeout from 30 to 60 seconds", &to("60"));
    let followed = followed.expect("the goal says so");
    assert_eq!((followed.text, followed.changes), (to("60"), vec!["30 → 60".to_owned()]));
    assert!(of("The timeout is 60", &to("60")).is_some());
    for (goal, new) in [
        ("Change the timeout from 60 to 30 seconds", to("60")),
        ("Make timeout() return 30, also for 60 retries", to("60")),
        ("The timeout is 600", to("60")),
        ("The timeout is 60", to("61")),
        ("The timeout is 60", old.replace("== 30", ">= 60")),
        ("The timeout is 60", old.replace("    assert timeout() == 30\n", "")),
    ] {
        assert_eq!(of(goal, &new), None, "{goal}: {new}");
    }
}

#[test]
fn what_a_goal_says_of_one_input_is_not_said_of_another() {
    let of = |goal: &str, old: &str, new: &str| {
        ordered(goal, "", "").carried("test_a.py", old, new).is_some()
    };
    let goal = "Subtractive notation: 4 is IV, 9 is IX";
    assert!(of(goal, "    assert roman(9) == 'VIIII'\n", "    assert roman(9) == 'IX'\n"));
    assert!(!of(goal, "    assert roman(11) == 'XI'\n", "    assert roman(11) == 'IX'\n"));
    let goal = "A minor bump sets the patch number to 0";
    assert!(!of(goal, "    is $(bump 1.2.3 patch) 1.2.4\n", "    is $(bump 1.2.3 patch) 1.2.0\n"));
    // The place in a list is no input.
    let goal = "The fee is 60";
    assert!(of(goal, "    assert fees()[7] == 30\n", "    assert fees()[7] == 60\n"));
}

#[test]
fn a_test_goes_with_what_the_goal_removes() {
    let ordered = ordered(
        "Remove nothing_left and its test",
        "def total(): pass\ndef nothing_left(): pass",
        "def total(): pass",
    );
    let kept = "\ndef test_total():\n    assert total() == 7\n";
    let gone = "\n\ndef test_nothing_left():\n    assert nothing_left({})\n";
    let old = format!("from a import nothing_left, total\n{kept}{gone}");
    let new = format!("from a import total\n{kept}");
    let carried = ordered.carried("test_a.py", &old, &new).expect("it is carried");
    assert_eq!(carried.text, new);
    // A test of something else stays, whatever goes beside it.
    let both = ordered.carried("test_a.py", &old, "from a import total\n");
    assert!(both.expect("the import").text.contains("def test_total"));
    assert_eq!(ordered.carried("test_a.py", &old, "").map(|carried| carried.text), None);
}

#[test]
fn an_argument_goes_but_no_comparison() {
    let ordered = ordered("Remove the option inclusive", "f(inclusive)", "f()");
    let old = "def test_a():\n    assert f(1, inclusive=True) == 3\n";
    let carried = |new: &str| ordered.carried("test_a.py", old, new).map(|found| found.text);
    let shorter = "def test_a():\n    assert f(1) == 3\n";
    assert_eq!(carried(shorter).as_deref(), Some(shorter));
    assert_eq!(carried("def test_a():\n    assert f(1)\n"), None);
}

#[test]
fn an_import_follows_the_file() {
    let paths = |path: &str| vec![path.to_owned()];
    let moved = (&paths("src/slots.js")[..], &paths("src/time/slots.js")[..]);
    let ordered = Ordered::new("Move slots.js", &[], &[], moved);
    let old = "import { a } from '../src/slots.js';\ntest('x', () => { assert(a()); });\n";
    let new = old.replace("src/", "src/time/");
    assert_eq!(ordered.carried("a.test.js", old, &new).map(|found| found.text), Some(new));
    let script = "TOC=\"sh $PWD/src/slots.js\"\n";
    let new = script.replace("src/", "src/time/");
    assert_eq!(ordered.carried("test.sh", script, &new).map(|found| found.text), Some(new));
    let other = old.replace("src/slots", "fake/slots");
    assert_eq!(ordered.carried("a.test.js", old, &other), None);
}

#[test]
fn a_file_of_code_has_the_names_that_the_goal_orders() {
    let ordered = ordered(
        "Rename fee to charge, remove nothing_left",
        "def fee(c): pass\ndef nothing_left(): pass",
        "def charge(c): pass",
    );
    let old = "from a import fee\nx = fee(1) + 2\n";
    let (text, told) = ordered.renamed_file(old, "from a import charge\nx = charge(1) + 3\n");
    assert_eq!(text, "from a import charge\nx = fee(1) + 2\n".replace("fee", "charge"));
    assert_eq!(told, ["fee → charge"]);
    assert_eq!(ordered.removed(), ["without fee", "without nothing_left"]);
    let silent = Ordered { goal: "Make it a charge".to_owned(), ..ordered };
    assert_eq!(silent.renamed_file(old, "from a import charge\n").0, old);
}

#[test]
fn another_name_is_expected_where_the_goal_puts_it_in_place_of_the_old_one() {
    let old = "def test_a():\n    with raises(TypeError):\n        parse(3)\n";
    let new = old.replace("TypeError", "ValueError");
    let of = |goal: &str| ordered(goal, "", "").carried("test_a.py", old, &new);
    for goal in [
        "parse() raises `ValueError` instead of `TypeError` for numbers",
        "Raise ValueError, not TypeError",
        "Change TypeError to ValueError",
    ] {
        let carried = of(goal).expect("the goal says so");
        assert_eq!(
            (carried.text, carried.changes),
            (new.clone(), vec!["TypeError → ValueError".to_owned()])
        );
    }
    for goal in
        ["Raise TypeError instead of ValueError", "ValueError and TypeError", "Raise ValueError"]
    {
        assert_eq!(of(goal), None, "{goal}");
    }
}

#[test]
fn a_private_name_and_the_package_s_version_change_without_a_word_of_the_goal() {
    let before = "__version__ = '1.2.0'\ndef _load(path): pass\n";
    let after = "__version__ = '1.3.0'\ndef _read(path): pass\n";
    let old = "def test_a():\n    assert _load('a') == 3\n    assert __version__ == '1.2.0'\n";
    let new = old.replace("_load", "_read").replace("1.2.0", "1.3.0");
    let carried = ordered("Make it faster", before, after).carried("test_a.py", old, &new);
    assert_eq!(carried.expect("it is carried").text, new);
    let other = old.replace("1.2.0", "1.4.0");
    assert_eq!(ordered("Make it faster", before, after).carried("test_a.py", old, &other), None);
}
