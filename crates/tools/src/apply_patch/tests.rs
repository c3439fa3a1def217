//! Patches against texts: exact results, byte for byte, and rejections.

use super::*;

/// Applies the body of an Update section to a text.
fn patched(file: &str, body: &str) -> Result<String, String> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch\n");
    let mut sections = patch::parse(&text)?;
    let Some(Section::Update { hunks, .. }) = sections.pop() else { panic!("no update") };
    update(file.as_bytes(), &hunks).map(|done| String::from_utf8(done.bytes).expect("text"))
}

#[test]
fn changes_are_made_where_the_patch_says() {
    for (what, file, body, result) in [
        ("a line is replaced", "a\nb\nc\n", "@@\n a\n-b\n+x\n c", "a\nx\nc\n"),
        ("without a marker line", "a\nb\n", "-a\n+x", "x\nb\n"),
        ("two changes", "a\nb\nc\nd\n", "@@\n-a\n+1\n@@\n-d\n+2", "1\nb\nc\n2\n"),
        ("below a hint", "f\n x\ng\n x\n", "@@ g\n- x\n+ y", "f\n x\ng\n y\n"),
        (
            "below two hints",
            "A\n f\n  1\nB\n f\n  1\n",
            "@@ B\n@@ f\n-  1\n+  2",
            "A\n f\n  1\nB\n f\n  2\n",
        ),
        ("line numbers are not believed", "f\n1\n", "@@ -9,2 +9,2 @@ f\n-1\n+2", "f\n2\n"),
        ("at the end", "x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"),
        ("only added, at the end", "a\n", "@@\n+b", "a\nb\n"),
        ("only added, below a hint", "a\nb\n", "@@ a\n+x", "a\nx\nb\n"),
        ("everything removed", "a\n", "@@\n-a", ""),
        ("into an empty file", "", "@@\n+a", "a\n"),
        ("an empty line of context without its blank", "a\n\nb\n", "@@\n a\n\n-b\n+c", "a\n\nc\n"),
        ("an empty line too many", "a\nb\n", "@@\n-a\n+x\n", "x\nb\n"),
    ] {
        assert_eq!(patched(file, body).as_deref(), Ok(result), "{what}");
    }
}

/// A74: line endings, tabs, byte order marks and a missing last newline survive.
#[test]
fn bytes_outside_the_change_stay_as_they_are() {
    for (what, file, body, result) in [
        ("CRLF", "a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x", "a\r\nx\r\nc\r\n"),
        ("no final newline", "a\nb", "@@\n-b\n+x", "a\nx"),
        ("no final newline, line added", "a", "@@\n a\n+b", "a\nb"),
        ("a byte order mark", "\u{feff}a\n", "@@\n-a\n+b", "\u{feff}b\n"),
        ("blanks of context", "a  \n\tb\nc\n", "@@\n a\n b\n-c\n+x", "a  \n\tb\nx\n"),
    ] {
        assert_eq!(patched(file, body).as_deref(), Ok(result), "{what}");
    }
}

#[test]
fn a_change_that_does_not_fit_is_refused_with_the_nearest_line() {
    let error = patched("a\nb\n", "@@\n a\n-x\n+y").expect_err("no fit");
    assert!(error.contains("like line 1"), "{error}");
    let error = patched("a\n", "@@\n-not there\n+y").expect_err("no fit");
    assert!(error.contains("\"not there\" is not in the file"), "{error}");
    let error = patched("a\n", "@@ nowhere\n-a\n+y").expect_err("no fit");
    assert!(error.contains("nowhere"), "{error}");
    let error = patched("b\na\n", "@@\n-a\n+1\n@@\n-b\n+2").expect_err("order");
    assert!(error.contains("change 2"), "{error}");
    assert!(patched("a\n", &format!("@@\n{}", "-a\n".repeat(10))).is_err());
}

/// A77: bad markers.
#[test]
fn patches_that_are_not_understood_are_refused() {
    let whole = |body: &str| format!("*** Begin Patch\n{body}\n*** End Patch");
    for bad in [
        String::new(),
        "*** Begin Patch".to_owned(),
        "*** Begin Patch\n*** End Patch".to_owned(),
        "@@\n-a\n+b".to_owned(),
        "--- /dev/null\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n".to_owned(),
        whole("*** Update File: f"),
        whole("*** Update File: f\n@@"),
        whole("*** Update File: f\n@@ hint"),
        whole("*** Update File: f\n@@\n-a\n+b\nwhat"),
        whole("*** Bogus: f"),
        whole("*** Add File: a\nno plus"),
        whole("*** Add File: /etc/x\n+x"),
        whole("*** Add File: ../x\n+x"),
        whole("*** Add File: dir/\n+x"),
        whole("*** Update File: a\n*** Move to: ../x\n@@\n-a\n+b"),
        whole("*** Delete File: a\n*** Add File: ./a\n+x"),
    ] {
        assert!(patch::parse(&bad).is_err(), "{bad:?} was taken as a patch");
    }
}

#[test]
fn a_patch_with_other_line_ends_and_a_mark_is_the_same_patch() {
    let text = "\u{feff}*** Begin Patch\r\n*** Add File: g\r\n+x\r\n*** End Patch\r\n";
    let section = patch::parse(text).expect("a patch").pop().expect("a section");
    assert_eq!(
        section,
        Section::Add { path: "g".parse().expect("a path"), content: "x\n".to_owned() }
    );
}

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end.max(1)
    }

    fn lines(&mut self, most: usize) -> Vec<String> {
        let words = ["", "a", "b", " a", "a ", "\tb", "@@ a", "*** End Patch", "+x", "-y", "é"];
        (0..self.below(most + 1)).map(|_| words[self.below(words.len())].to_owned()).collect()
    }
}

#[test]
fn a_patch_that_names_the_whole_file_gives_exactly_the_new_file() {
    let mut dice = Dice(1);
    for round in 0..5000 {
        let (mut file, new) = (dice.lines(8), dice.lines(4));
        file.push("end".to_owned());
        let from = dice.below(file.len());
        let to = from + dice.below(file.len() - from + 1);
        let ending = ["\n", "\r\n"][dice.below(2)];
        let marked = |mark: &str, lines: &[String]| {
            lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>()
        };
        let body = [
            "@@\n".to_owned(),
            marked(" ", &file[..from]),
            marked("-", &file[from..to]),
            marked("+", &new),
            marked(" ", &file[to..]),
        ];
        let body = body.concat();
        let written = |lines: &[String]| {
            lines.iter().map(|line| format!("{line}{ending}")).collect::<String>()
        };
        let wanted = written(&[&file[..from], &new, &file[to..]].concat());
        let got = patched(&written(&file), body.strip_suffix('\n').unwrap_or(&body));
        assert_eq!(got, Ok(wanted), "round {round}: {body:?}");
    }
}

#[test]
fn no_text_makes_the_parser_or_the_matcher_break_down() {
    let mut dice = Dice(2);
    let pieces = [
        "*** Begin Patch",
        "*** End Patch",
        "*** Update File: f",
        "*** Add File: g",
        "*** Delete File: h",
        "*** Move to: i",
        "*** End of File",
        "@@",
        "@@ a",
        "@@ -1 +1 @@",
        "-a",
        "+b",
        " a",
        "",
        "a",
        "***",
        "\u{feff}",
    ];
    let mut taken = 0;
    for _ in 0..20_000 {
        let count = dice.below(10);
        let mut lines = vec!["*** Begin Patch", "*** Update File: f"];
        lines.extend((0..count).map(|_| pieces[dice.below(pieces.len())]));
        lines.push("*** End Patch");
        let Ok(sections) = patch::parse(&lines.join(["\n", "\r\n"][dice.below(2)])) else {
            continue;
        };
        for section in sections {
            if let Section::Update { hunks, .. } = section {
                // Whether the patch fits does not matter here; it must only not panic.
                taken += usize::from(update(b"a\nb\na", &hunks).is_ok());
            }
        }
    }
    assert!(taken > 100, "only {taken} patches were taken, so little was tried");
}
