//! The change that an edit makes, in colour, derived from the arguments of the call. It is known before the call is
//! made, so a user can inspect it while deciding. Long changes are cut; the file itself has the whole change.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use types::{Arguments, Call, visible};

use super::look::{BOLD, DIM};
use super::syntax;
use super::wrap::Row;

/// Maximum rows of one edit.
const MOST: usize = 24;
/// Texts above this size in bytes are not compared.
const LARGEST: usize = 256 * 1024;

/// The change that a call makes: its rows, and the numbers of added and removed lines. `None` for calls that edit
/// nothing, and for edits above `LARGEST`.
pub(crate) fn of(call: &Call) -> Option<Change> {
    let Arguments::Json(arguments) = &call.arguments else { return None };
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let path = text("path").or_else(|| text("file_path")).unwrap_or_default();
    let mut change = Change { path: path.to_owned(), ..Change::default() };
    if let Some(patch) = text("patch") {
        patch.lines().for_each(|line| change.patch_line(line));
    } else if let (Some(old), Some(new)) = (text("old_string"), text("new_string")) {
        if old.len() + new.len() > LARGEST {
            return None;
        }
        change.compare(old, new);
    } else if call.tool.contains("write") {
        text("content")?.lines().for_each(|line| change.line('+', line));
    } else {
        return None;
    }
    change.end_file();
    Some(change)
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Change {
    pub(crate) added: usize,
    pub(crate) removed: usize,
    rows: Vec<Row>,
    left_out: usize,
    /// The current file, and its lines that have no rows yet: each with its sign, safe for a terminal.
    path: String,
    lines: Vec<(char, String)>,
}

impl Change {
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = self.rows.clone();
        if self.left_out > 0 {
            rows.push(Row::text(format!("    … {} more lines", self.left_out), DIM));
        }
        rows
    }

    fn compare(&mut self, old: &str, new: &str) {
        for change in TextDiff::from_lines(old, new).iter_all_changes() {
            let line = change.value().trim_end_matches(['\n', '\r']);
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            self.line(sign, line);
        }
    }

    fn patch_line(&mut self, line: &str) {
        if let Some(head) = line.strip_prefix("*** ") {
            let named = ["Begin Patch", "End Patch", "End of File"];
            if !named.contains(&head.trim()) {
                self.begin_file(head);
            }
            return;
        }
        let (sign, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        match sign {
            "+" => self.line('+', rest),
            "-" => self.line('-', rest),
            _ => self.line(' ', if sign == " " { rest } else { line }),
        }
    }

    /// Starts a file of a patch at a header such as `Update File: src/main.rs`.
    fn begin_file(&mut self, head: &str) {
        self.end_file();
        if let Some((_, path)) = head.split_once(": ") {
            path.trim().clone_into(&mut self.path);
        }
        if self.has_room() {
            self.rows.push(Row::text(format!("    {}", visible(head)), BOLD));
        }
    }

    fn line(&mut self, sign: char, text: &str) {
        match sign {
            '+' => self.added += 1,
            '-' => self.removed += 1,
            _ => {}
        }
        if self.has_room() {
            self.lines.push((sign, visible(text)));
        }
    }

    fn has_room(&mut self) -> bool {
        let room = self.rows.len() + self.lines.len() < MOST;
        self.left_out += usize::from(!room);
        room
    }

    /// Colours the lines of a file together: a comment may span several.
    fn end_file(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let coloured = syntax::coloured(&self.path, &lines);
        self.rows.extend(coloured.into_iter().map(|spans| Row::new(spans).hang(6).exact()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn change(tool: &str, arguments: Value) -> Option<Change> {
        let arguments = Arguments::Json(arguments);
        of(&Call { wire_id: "1".to_owned(), tool: tool.to_owned(), arguments })
    }

    fn drawn(change: &Change) -> Vec<String> {
        change.rows().iter().map(Row::content).collect()
    }

    #[test]
    fn an_edit_shows_what_goes_and_what_comes() {
        let edit =
            json!({"path": "a", "old_string": "one\ntwo\n", "new_string": "one\n2\x1b[0m\n"});
        let change = change("edit_file", edit).expect("an edit");
        assert_eq!(drawn(&change), ["      one", "    - two", "    + 2␛[0m"]);
        assert_eq!((change.added, change.removed), (1, 1));
    }

    #[test]
    fn a_patch_shows_its_files_and_lines() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n x\n-y\n+z\n*** End Patch";
        let change = change("apply_patch", json!({ "patch": patch })).expect("an edit");
        let expected = ["    Update File: a.rs", "      @@ fn a", "      x", "    - y", "    + z"];
        assert_eq!(drawn(&change), expected);
    }

    #[test]
    fn a_long_file_is_cut_and_reading_is_no_change() {
        let content = "x\n".repeat(100);
        let change_of =
            change("write_file", json!({"path": "a", "content": content})).expect("an edit");
        assert_eq!(change_of.added, 100);
        assert!(drawn(&change_of)[MOST].contains("76 more lines"));
        assert_eq!(change("read_file", json!({"path": "a"})), None);
    }

    #[test]
    fn each_file_of_a_patch_has_the_colours_of_its_language() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n-fn a\n*** Update File: a.py\n-fn a\n*** End Patch";
        let change = change("apply_patch", json!({ "patch": patch })).expect("an edit");
        let spans: Vec<usize> = change.rows().iter().map(|row| row.spans.len()).collect();
        assert_eq!(spans, [1, 3, 1, 2], "`fn` is a keyword of one of them");
    }

    #[test]
    fn colours_change_neither_the_text_nor_where_it_breaks() {
        let code = "    let a = \"b\x1b]0;c\x07\"; // d\n".repeat(2);
        let rows = |path: &str| {
            let call =
                change("write_file", json!({"path": path, "content": code})).expect("an edit");
            let broken = |row: &Row| super::super::wrap::wrap(row, 17);
            let rows = call.rows();
            rows.iter().flat_map(broken).map(|line| line.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(rows("a.rs"), rows("a.unknown"));
        assert!(rows("a.rs").iter().all(|row| !row.contains('\x1b')), "{:?}", rows("a.rs"));
    }
}
