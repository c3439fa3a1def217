//! Generated files, patches and edits: the results equal those of an edit by hand.

use proptest::prelude::*;

use super::*;

/// A file of numbered lines with its own kind of line ending; the numbers make every line unique.
fn file() -> impl Strategy<Value = (Vec<String>, &'static str, bool)> {
    let words = prop::collection::vec("[a-c \t{}é]{0,6}", 1..12);
    (words, prop_oneof![Just("\n"), Just("\r\n")], any::<bool>()).prop_map(
        |(words, ending, last)| {
            let lines = words.iter().enumerate().map(|(at, word)| format!("{at}:{word}|"));
            (lines.collect(), ending, last)
        },
    )
}

fn written(lines: &[String], ending: &str, last: bool) -> String {
    let mut text = lines.join(ending);
    if last && !lines.is_empty() {
        text.push_str(ending);
    }
    text
}

fn apply(content: &str, patch: &str) -> Result<Vec<u8>, String> {
    let path: WorkPath = "f".parse().expect("a path");
    let env = Memory::new(BTreeMap::from([(path.clone(), content.as_bytes().to_vec())]), 0);
    let (seen, stop) = (FileReadTracker::unguarded(), CancellationToken::new());
    let place = ToolContext::new(&env, &seen, &stop);
    let done = ApplyPatch::of(patch).act(&place).now_or_never();
    done.expect("it waits for nobody").map_err(|reply| reply.text)?;
    env.into_files().remove(&path).ok_or_else(|| "the file is gone".to_owned())
}

proptest! {
    /// A74, A77: a patch for the right place gives the right bytes, whatever the file's endings.
    #[test]
    fn a_patch_gives_exactly_what_it_says(
        (lines, ending, last) in file(),
        at in 0_usize..12,
        removed in 1_usize..4,
        added in prop::collection::vec("[x-z]{0,4}", 0..3),
        around in 0_usize..4,
    ) {
        let from = at.min(lines.len() - 1);
        let to = (from + removed).min(lines.len());
        prop_assume!(!(added.is_empty() && to - from == lines.len()));
        let mut patch = "*** Begin Patch\n*** Update File: f\n@@\n".to_owned();
        for line in &lines[from.saturating_sub(around)..from] {
            patch.push_str(&format!(" {line}\n"));
        }
        lines[from..to].iter().for_each(|line| patch.push_str(&format!("-{line}\n")));
        added.iter().for_each(|line| patch.push_str(&format!("+{line}\n")));
        for line in lines[to..].iter().take(around) {
            patch.push_str(&format!(" {line}\n"));
        }
        patch.push_str("*** End Patch");
        let mut expected = lines.clone();
        expected.splice(from..to, added);
        let before = written(&lines, ending, last);
        // A file of one line without an ending does not say which ending it would have.
        let ending = if lines.len() == 1 && !last { "\n" } else { ending };
        let after = apply(&before, &patch).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        prop_assert_eq!(after, Ok(written(&expected, ending, last)));
    }

    /// A74, A75: an edit replaces the one place and no other byte.
    #[test]
    fn an_edit_replaces_one_place(before in "[ab\r\n\t]{0,20}", old in "[ab\n]{1,4}", new in "[abx\n]{0,4}") {
        edit(&[before.as_bytes(), b"\0", old.as_bytes(), b"\0", new.as_bytes()].concat());
    }

    #[test]
    fn no_bytes_break_the_patch(failing in 0_u8..4, content in "[ab\n]{0,12}", patch in prop::collection::vec(
        prop_oneof![
            Just("*** Begin Patch"), Just("*** End Patch"), Just("*** Update File: f"), Just("*** Add File: n"),
            Just("*** Delete File: g/h"), Just("*** Move to: m"), Just("*** End of File"), Just("@@"), Just("@@ a"),
            Just(" a"), Just("-a"), Just("+b"), Just("-b"), Just(" one"), Just("-two"), Just(""), Just("*** Add File: ../x"),
        ], 0..12)) {
        let text = format!("*** Begin Patch\n{}\n*** End Patch", patch.join("\n"));
        self::patch(&[&[failing], content.as_bytes(), b"\0", text.as_bytes()].concat());
    }
}
