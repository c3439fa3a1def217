//! Truncation by characters and by lines, with its warnings.

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

/// A28: the halves stay, and the warning counts the removed characters, not bytes.
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
    let shown = cut.shown("abcdeöü", None, Gaps::default());
    assert_eq!(shown.removed, 4);
    assert!(shown.text.starts_with("[WARNING: ") && shown.text.ends_with("]\n\neöü"), "{shown:?}");
    assert!(shown.text.contains("first 4 characters"), "{shown:?}");
}

/// A26, A27: characters are truncated first, so that one endless line cannot evade the line limit.
#[test]
fn lines_are_cut_after_characters() {
    let cut = Cut { chars: 1_000, lines: Some(4), keep: Keep::HeadTail };
    let lines: String = (1..=9).map(|n| format!("{n}\n")).collect();
    assert_eq!(
        cut.shown(&lines, None, Gaps::default()).text,
        "1\n2\n[... 5 lines omitted ...]\n8\n9\n"
    );
    assert_eq!(cut.shown(&lines, None, Gaps::default()).removed, 10);
    assert_eq!(cut.shown("1\n2\n3\n4", None, Gaps::default()).text, "1\n2\n3\n4");
    assert_eq!(cut.shown("1\n2\n3\n4\n", None, Gaps::default()).removed, 0);
    let long = format!("{}\n{lines}", "x".repeat(5_000));
    let shown = cut.shown(&long, None, Gaps::default());
    assert!(shown.text.len() < 1_500 && shown.text.contains("characters"), "{shown:?}");
    assert!(cut.cuts(&lines) && cut.cuts(&long));
}

/// How many characters of an output are shown, without the warning.
fn output_in(shown: &Shown) -> u64 {
    let text = shown.text.as_str();
    let (from, to) = (text.find("[WARNING").expect("a warning"), text.find(" less.]\n\n"));
    let (from, to) = (from - 2, to.expect("its end") + " less.]\n\n".len());
    (text.len() - (to - from)) as u64
}

/// A28: if characters and lines are both too many, one warning stays and counts everything removed.
#[test]
fn the_warning_stays_and_counts_everything() {
    let cut = Cut { chars: 1_000, lines: Some(10), keep: Keep::HeadTail };
    let text: String = (0..1_000).map(|n| format!("{n:05}\n")).collect();
    let shown = cut.shown(&text, None, Gaps::default());
    assert_eq!(shown.text.matches("WARNING").count(), 1, "{shown:?}");
    assert_eq!(shown.removed, 6_000 - 60);
    assert!(shown.text.contains(" 5940 characters (990 lines) were removed"), "{shown:?}");
    assert!(shown.text.starts_with("00000\n00001\n"), "{shown:?}");
    assert!(shown.text.ends_with("00998\n00999\n"), "{shown:?}");
    assert_eq!(output_in(&shown) + shown.removed, 6_000);
    let end = Cut { keep: Keep::Tail, ..cut }.shown(&text, None, Gaps::default());
    assert!(end.text.contains("first 5940 characters (990 lines) were removed"), "{end:?}");
    assert!(
        end.text.ends_with(
            "]\n\n00990\n00991\n00992\n00993\n00994\n00995\n00996\n00997\n00998\n00999\n"
        )
    );
}

/// A28: bytes never held in memory count as well, and parts missing in the log are reported as missing.
#[test]
fn what_was_not_held_or_kept_is_told() {
    let cut = Cut { chars: 20, lines: None, keep: Keep::HeadTail };
    let gaps = Gaps { not_held: 500, not_kept: 300 };
    let text =
        format!("{}\n[500 bytes of output are not shown here]\n{}", "a".repeat(30), "b".repeat(30));
    let shown = cut.shown(&text, None, gaps);
    assert!(shown.text.contains(" 40 characters and 500 further bytes were removed"), "{shown:?}");
    assert!(shown.text.contains("without its last 300 bytes"), "{shown:?}");
    assert!(!shown.text.contains("whole is in the log"), "{shown:?}");
    assert_eq!(shown.removed, 540);
    let fits = Cut { chars: 1_000, ..cut }.shown(&text, None, gaps);
    assert_eq!((fits.text.as_str(), fits.removed), (text.as_str(), 500));
}

/// A27, A31: every tool has its own limits, and a policy can override them, in whole or in part.
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
    assert_eq!(
        Cut { chars: 0, lines: None, keep: Keep::Tail }.shown("abc", None, Gaps::default()).removed,
        3
    );
}

/// A30: one line of ten megabytes.
#[test]
fn ten_megabytes_in_one_line_are_cut() {
    let shown = head_and_tail(&"é".repeat(5_000_000), 30_000, None);
    assert_eq!(shown.removed, 4_970_000);
    let shell = Cut::of("shell", &ToolPolicy::default(), 30_000);
    assert_eq!(shell.shown(&"x".repeat(10_000_000), None, Gaps::default()).removed, 9_970_000);
}

/// M21: a report of at most 4000 characters is whole; a longer one is its first 2500, dots, and its last 1000, counted
/// in characters of any size.
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
