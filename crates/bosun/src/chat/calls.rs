//! A tool call on one line: title and outcome. Terse on purpose; a key shows the full output.

use ratatui::style::Style;
use serde_json::Value;
use types::{Arguments, Call, CallOutcome, Millis, Shown, count, one_line};

use super::diff;
use super::look::{BAD, DIM};

/// Maximum characters of a call's title.
const TITLE: usize = 100;
/// Durations below this are not shown.
const QUICK: Millis = Millis(500);

/// Title of a call, without its outcome: `shell cargo test`.
pub(crate) fn title(call: &Call) -> String {
    let Arguments::Json(arguments) = &call.arguments else {
        return format!("{} (arguments are not JSON)", one_line(&call.tool, 40));
    };
    let known =
        ["command", "path", "file_path", "pattern", "url", "question", "message", "task", "agent"];
    let main = known.iter().find_map(|key| arguments.get(key)).and_then(Value::as_str);
    let main = main.map(ToOwned::to_owned).or_else(|| patched(arguments));
    let main = main.or_else(|| words(arguments));
    let main = main.unwrap_or_else(|| match arguments {
        Value::Object(map) if map.is_empty() => String::new(),
        other => other.to_string(),
    });
    one_line(&format!("{} {main}", call.tool), TITLE)
}

/// Joins the words of a command given as a list.
fn words(arguments: &Value) -> Option<String> {
    let words = arguments.get("args")?.as_array()?.iter().filter_map(Value::as_str);
    Some(words.collect::<Vec<_>>().join(" "))
}

fn patched(arguments: &Value) -> Option<String> {
    let patch = arguments.get("patch")?.as_str()?;
    let files = patch.lines().filter_map(|line| line.strip_prefix("*** ")?.split_once(" File: "));
    let files: Vec<&str> = files.map(|(_, file)| file).collect();
    (!files.is_empty()).then(|| files.join(", "))
}

/// Outcome of a call in a few words, and its style.
pub(crate) fn outcome(
    call: &Call,
    outcome: CallOutcome,
    output: &Shown,
    replaced_lines: Option<u64>,
    took: Millis,
) -> (String, Style) {
    let text = output.text.trim_end();
    let said = match (outcome, ending(text)) {
        (CallOutcome::Unknown, _) => "interrupted; whether it took effect is unknown".to_owned(),
        (_, Some(ending)) => ending,
        (CallOutcome::Ok, None) => done(call, text, replaced_lines),
        (CallOutcome::Error | CallOutcome::Refused, None) => one_line(text, TITLE),
    };
    let style = if outcome == CallOutcome::Ok { DIM } else { BAD };
    (if took >= QUICK { format!("{said}  {}", seconds(took)) } else { said }, style)
}

/// Formats a duration.
pub(crate) fn seconds(span: Millis) -> String {
    match span.0 {
        0..=59_999 => format!("{}.{} s", span.0 / 1000, span.0 % 1000 / 100),
        more => format!("{} min {} s", more / 60_000, more % 60_000 / 1000),
    }
}

/// How a command ended, read from the last line of its output.
fn ending(text: &str) -> Option<String> {
    let last = text.rsplit('\n').next()?.strip_prefix('[')?.strip_suffix(']')?;
    if let Some(code) = last.strip_prefix("exit code ") {
        return Some(format!("exit {}", one_line(code, 10)));
    }
    let known = ["ended by signal", "timed out", "stopped before"];
    let word = last.split(';').next()?;
    known.iter().any(|known| last.starts_with(known)).then(|| one_line(word, 60))
}

fn done(call: &Call, text: &str, replaced_lines: Option<u64>) -> String {
    if let Some(change) = diff::of(call) {
        // The call has only the new content of a file that it replaces whole.
        if let Some(replaced) = replaced_lines {
            return format!("{} in place of {replaced}", count(change.added, "line"));
        }
        return format!("+{} -{}", change.added, change.removed);
    }
    let lines = text.lines().count();
    match call.tool.as_str() {
        "grep" | "glob" => found(lines, "match"),
        "spawn_agent" | "send_input" | "close_agent" | "wait" => "done".to_owned(),
        "list_dir" => found(lines, "entry"),
        _ if lines == 1 => one_line(text, 60),
        _ => found(lines, "line"),
    }
}

fn found(number: usize, one: &str) -> String {
    if number == 0 { "nothing".to_owned() } else { count(number, one) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(tool: &str, arguments: Value) -> Call {
        Call {
            wire_id: "1".to_owned(),
            tool: tool.to_owned(),
            arguments: Arguments::Json(arguments),
        }
    }

    fn told(call: &Call, ended: CallOutcome, text: &str, millis: u64) -> String {
        let shown = Shown { text: text.to_owned(), ..Shown::default() };
        format!("{}  {}", title(call), outcome(call, ended, &shown, None, Millis(millis)).0)
    }

    #[test]
    fn a_file_that_is_replaced_whole_says_how_many_lines_went() {
        let write = call("write_file", json!({"path": "a", "content": "1\n2\n"}));
        let said =
            |replaced| outcome(&write, CallOutcome::Ok, &Shown::default(), replaced, Millis(0));
        assert_eq!(said(Some(3)).0, "2 lines in place of 3");
        assert_eq!(said(None).0, "+2 -0", "a new file");
    }

    #[test]
    fn a_call_is_one_line_with_its_outcome() {
        let read = call("read_file", json!({"path": "src/a.rs"}));
        let text = "     1\ta\n".repeat(42);
        assert_eq!(told(&read, CallOutcome::Ok, &text, 3), "read_file src/a.rs  42 lines");
        let shell = call("shell", json!({"command": "cargo test\n--all"}));
        let text = "ok\n[exit code 0]";
        assert_eq!(
            told(&shell, CallOutcome::Ok, text, 1_230),
            "shell cargo test --all  exit 0  1.2 s"
        );
        let text = "x\n[timed out after 9 ms and was ended; give more]";
        assert_eq!(
            told(&shell, CallOutcome::Error, text, 9),
            "shell cargo test --all  timed out after 9 ms and was ended"
        );
        let grep = call("grep", json!({"pattern": "x"}));
        assert_eq!(told(&grep, CallOutcome::Ok, "a:1:x", 0), "grep x  1 match");
        let edit =
            call("edit_file", json!({"file_path": "a", "old_string": "1", "new_string": "2\n3"}));
        assert_eq!(told(&edit, CallOutcome::Ok, "replaced", 0), "edit_file a  +2 -1");
        let patch =
            call("apply_patch", json!({"patch": "*** Begin Patch\n*** Add File: b.rs\n+x"}));
        assert_eq!(told(&patch, CallOutcome::Ok, "done", 0), "apply_patch b.rs  +1 -0");
    }

    #[test]
    fn a_hostile_call_stays_on_its_line() {
        let nasty = call("sh\x1b[2Jell", json!({"command": "a\r\nb\x07"}));
        let line = told(&nasty, CallOutcome::Error, "no\x1b]0;x\x07\nmore", 0);
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}
