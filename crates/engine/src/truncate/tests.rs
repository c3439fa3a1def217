//! Which part of a text is left, by characters and by lines, with the words that say what is gone.

use super::*;

fn policy(text: &[(&str, OutputLimit)]) -> ToolPolicy {
    let output = text.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect();
    ToolPolicy { output, ..ToolPolicy::default() }
}

#[test]
fn a_short_text_is_left_alone() {
    let shown = head_and_tail("äöü", 3, None);
    assert_eq!((shown.text.as_str(), shown.removed), ("äöü", 0));
    assert!(!Cut::of("shell", &ToolPolicy::default(), 30_000).cuts("a\nb\n"));
}

/// A28: the halves stay, and the warning counts what is gone, by characters and not by bytes.
#[test]
fn a_long_text_loses_its_middle_by_characters_not_bytes() {
    let shown = head_and_tail("ääääbbbbbböööö", 8, None);
    assert_eq!(shown.removed, 6);
    assert!(shown.text.starts_with("ääää\n") && shown.text.ends_with("\nöööö"), "{shown:?}");
    assert!(shown.text.contains("[WARNING: ") && shown.text.contains(" 6 characters"), "{shown:?}");
}

/// A29: the end stays, and the warning comes before it.
#[test]
fn where_the_end_matters_the_beginning_goes() {
    let cut = Cut { chars: 3, lines: None, keep: Keep::Tail };
    let shown = cut.shown("abcdeöü", None);
    assert_eq!(shown.removed, 4);
    assert!(shown.text.starts_with("[WARNING: ") && shown.text.ends_with("]\n\neöü"), "{shown:?}");
    assert!(shown.text.contains("first 4 characters"), "{shown:?}");
}

/// A26, A27: characters are cut first, so that one endless line cannot slip through the count of lines.
#[test]
fn lines_are_cut_after_characters() {
    let cut = Cut { chars: 1_000, lines: Some(4), keep: Keep::HeadTail };
    let lines: String = (1..=9).map(|n| format!("{n}\n")).collect();
    assert_eq!(cut.shown(&lines, None).text, "1\n2\n[... 5 lines omitted ...]\n8\n9\n");
    assert_eq!(cut.shown(&lines, None).removed, 10);
    assert_eq!(cut.shown("1\n2\n3\n4", None).text, "1\n2\n3\n4");
    assert_eq!(cut.shown("1\n2\n3\n4\n", None).removed, 0);
    let long = format!("{}\n{lines}", "x".repeat(5_000));
    let shown = cut.shown(&long, None);
    let warned = shown.text.contains("characters were removed");
    assert!(shown.text.len() < 1_500 && (warned || shown.text.contains("omitted")), "{shown:?}");
    assert!(cut.cuts(&lines) && cut.cuts(&long));
}

/// A27, A31: every tool has limits of its own, and a policy can say otherwise, in whole or in part.
#[test]
fn each_tool_has_its_limits_and_a_policy_may_change_them() {
    let nothing = ToolPolicy::default();
    let of = |tool: &str| Cut::of(tool, &nothing, 30_000);
    for (tool, chars, lines, keep) in [
        ("read_file", 50_000, None, Keep::HeadTail),
        ("shell", 30_000, Some(256), Keep::HeadTail),
        ("grep", 20_000, Some(200), Keep::Tail),
        ("glob", 20_000, Some(500), Keep::Tail),
        ("edit_file", 10_000, None, Keep::Tail),
        ("apply_patch", 10_000, None, Keep::Tail),
        ("write_file", 1_000, None, Keep::Tail),
        ("something_else", 30_000, None, Keep::HeadTail),
    ] {
        assert_eq!(of(tool), Cut { chars, lines, keep }, "{tool}");
    }
    let said = OutputLimit { chars: Some(10), lines: Some(0), keep: None };
    let changed = policy(&[("shell", said), ("mine", said)]);
    let shell = Cut::of("shell", &changed, 30_000);
    assert_eq!(shell, Cut { chars: 10, lines: None, keep: Keep::HeadTail });
    assert_eq!(Cut::of("mine", &changed, 30_000).chars, 10);
    assert_eq!(Cut::of("grep", &changed, 30_000), of("grep"));
}

#[test]
fn nothing_at_all_may_be_kept() {
    assert_eq!(head_and_tail("abc", 0, None).removed, 3);
    assert_eq!(Cut { chars: 0, lines: None, keep: Keep::Tail }.shown("abc", None).removed, 3);
}

/// A30: one line of ten megabytes.
#[test]
fn ten_megabytes_in_one_line_are_cut() {
    let shown = head_and_tail(&"é".repeat(5_000_000), 30_000, None);
    assert_eq!(shown.removed, 4_970_000);
    let shell = Cut::of("shell", &ToolPolicy::default(), 30_000);
    assert_eq!(shell.shown(&"x".repeat(10_000_000), None).removed, 9_970_000);
}

/// M21: a report of at most 4000 characters is whole; a longer one is its first 2500, dots, and its last 1000, counted
/// in characters whatever they are made of.
#[test]
fn a_long_report_is_2500_characters_dots_and_1000() {
    for letter in ["a", "ä", "語", "🙂"] {
        let whole = letter.repeat(4_000);
        assert_eq!(report(&whole, 4_000, None).text, whole);
        let long = format!("{}{}{}", letter.repeat(2_500), "x".repeat(501), letter.repeat(1_000));
        let shown = report(&long, 4_000, None);
        let expected = format!("{}\n...\n{}", letter.repeat(2_500), letter.repeat(1_000));
        assert_eq!(shown.text, expected);
        assert_eq!((shown.text.chars().count(), shown.removed), (3_505, 501));
    }
    assert_eq!(report("", 4_000, None).text, "");
    assert_eq!(report("ab", 0, None).text, "\n...\n");
}
