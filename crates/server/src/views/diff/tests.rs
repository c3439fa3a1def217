//! Patches as git writes them, and malformed ones.

use types::Changes;

use super::*;

fn read(patch: impl AsRef<[u8]>) -> DiffView {
    let commit = |name: &str| CommitId(name.to_owned());
    let patch = patch.as_ref().to_vec();
    diff(&RunDiff { from: commit("a"), to: commit("b"), changes: Changes::default(), patch })
}

fn text(row: &DiffRow) -> String {
    row.spans.iter().map(|span| span.text.as_str()).collect()
}

const PATCH: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 111..222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -10,3 +10,4 @@ fn main() {
 let a = 1;
-let b = \"old\";
+let b = \"new\"; // why
+let c = 2;
 }
diff --git a/new.sh b/new.sh
new file mode 100755
index 000..333
--- /dev/null
+++ b/new.sh
@@ -0,0 +1 @@
+echo hi
\\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
--- a/looks like a header
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/run b/run
old mode 100644
new mode 100755
";

#[test]
fn a_patch_is_files_hunks_and_numbered_rows() {
    let view = read(PATCH);
    let told: Vec<(&str, DiffStatus, u64, u64)> = view
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.status, file.added, file.removed))
        .collect();
    let wanted = [
        ("src/a.rs", DiffStatus::Modified, 2, 1),
        ("new.sh", DiffStatus::Added, 1, 0),
        ("gone.txt", DiffStatus::Deleted, 0, 1),
        ("new name.txt", DiffStatus::Renamed, 0, 0),
        ("logo.png", DiffStatus::Modified, 0, 0),
        ("run", DiffStatus::Modified, 0, 0),
    ];
    assert_eq!(told, wanted);
    assert_eq!((view.added, view.removed, view.left_out), (3, 2, 0));
    let rows = &view.files[0].hunks[0].rows;
    let numbers: Vec<(Option<u32>, Option<u32>)> =
        rows.iter().map(|row| (row.old, row.new)).collect();
    let wanted = [
        (Some(10), Some(10)),
        (Some(11), None),
        (None, Some(11)),
        (None, Some(12)),
        (Some(12), Some(13)),
    ];
    assert_eq!(numbers, wanted);
    assert_eq!(view.files[0].hunks[0].header, "@@ -10,3 +10,4 @@ fn main() {");
    assert!(view.files[1].hunks[0].rows[0].no_newline);
    assert_eq!(text(&view.files[2].hunks[0].rows[0]), "-- a/looks like a header");
    assert_eq!(view.files[3].old_path.as_deref(), Some("old name.txt"));
    assert!(view.files[4].binary && view.files[4].hunks.is_empty());
    assert_eq!(view.files[5].mode.as_deref(), Some("100755"));
}

#[test]
fn each_side_of_a_hunk_has_its_own_colours() {
    let view = read(
        "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n-/* old\n+// new\n let x = 1;\n-*/\n+let y;\n",
    );
    let rows = &view.files[0].hunks[0].rows;
    let first = |row: usize| rows[row].spans[0].class;
    assert_eq!((first(0), first(3)), (SpanClass::Comment, SpanClass::Comment));
    // The line in between is code in the new version, though it was a comment in the old one.
    assert_eq!((first(1), first(2)), (SpanClass::Comment, SpanClass::Keyword));
    let classes: Vec<SpanClass> = rows[2].spans.iter().map(|span| span.class).collect();
    use SpanClass::{Keyword, Number, Plain};
    assert_eq!(classes, [Keyword, Plain, Number, Plain]);
    let value = serde_json::to_value(&rows[2]).expect("JSON");
    assert_eq!(
        (value["kind"].as_str(), value["spans"][0]["class"].as_str()),
        (Some(" "), Some("k"))
    );
}

#[test]
fn names_that_git_quotes_are_read() {
    let view = read(
        "diff --git \"a/\\303\\244 \\\"x\\\".txt\" \"b/\\303\\244 \\\"x\\\".txt\"\n--- /dev/null\n+++ \"b/\\303\\244 \\\"x\\\".txt\"\n@@ -0,0 +1 @@\n+1\ndiff --git \"a/\\303\\244.png\" \"b/\\303\\244.png\"\nBinary files differ\n",
    );
    let paths: Vec<&str> = view.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["ä \"x\".txt", "ä.png"]);
}

#[test]
fn hostile_text_is_bounded_and_made_visible() {
    let rows = MOST_ROWS + 5;
    let mut patch = format!("diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -0,0 +1,{rows} @@\n");
    patch.push_str(&"+\\\"\n".repeat(rows));
    patch.push_str("diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +1,2 @@\n+");
    patch.push_str(&"x".repeat(10_000));
    patch.push_str("\n+\u{202e}evil\u{1b}[2J\n");
    let mut bytes = patch.into_bytes();
    bytes.extend(b"diff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -0,0 +1 @@\n+\xff\xfe\n");
    let view = read(bytes);
    assert_eq!((view.files[0].hunks[0].rows.len(), view.files[0].left_out), (MOST_ROWS, 5));
    assert_eq!(view.files[0].added, rows as u64);
    let long = &view.files[1].hunks[0].rows[0];
    assert_eq!((text(long).len(), long.left_out), (4_000, 6_000));
    assert_eq!(text(&view.files[1].hunks[0].rows[1]), "\u{fffd}evil\u{241b}[2J");
    assert_eq!(text(&view.files[2].hunks[0].rows[0]), "\u{fffd}\u{fffd}");
}

#[test]
fn too_many_files_are_counted() {
    let one = |n: usize| {
        format!("diff --git a/f{n} b/f{n}\n--- a/f{n}\n+++ b/f{n}\n@@ -1 +1 @@\n-a\n+b\n")
    };
    let view = read((0..MOST_FILES + 3).map(one).collect::<String>());
    assert_eq!((view.files.len(), view.left_out), (MOST_FILES, 3));
    assert_eq!(view.files.last().map(|file| file.added), Some(1), "nothing of others is counted");
}

#[test]
fn what_is_no_patch_is_skipped() {
    for text in [
        "",
        "\n",
        "hello",
        "@@ -1 +1 @@\n+x",
        "diff --git ",
        "diff --git a b",
        "diff --git \"",
        "diff --git a/x b/x\n@@ -9999999999 +1 @@\n+x",
        "diff --git a/x b/x\n@@ -1,5 +1,5 @@\n",
        "diff --git a/x b/x\n@@ -4294967295,4294967295 +4294967295,4294967295 @@\n x\n x\n",
        "diff --git a/x b/x\n+++ \"b/\\3\"\n",
        "\\ No newline",
        "diff --git a/x b/x\n\\ No newline",
    ] {
        let view = read(text);
        assert!(view.files.len() <= 1, "{text:?}");
    }
}
