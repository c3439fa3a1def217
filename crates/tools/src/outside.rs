//! Detects invalid calls that name a path outside the workspace. That is more than a mistake: agents are not permitted
//! to do it, and some policies end an agent for it. Checks arguments only; the sandbox handles symbolic links.

use serde_json::Value;
use types::{BadPath, WorkPath};

/// Arguments that name files and folders.
const PATHS: &[&str] = &["path", "files", "source", "destination", "dest", "cwd"];

/// Whether an argument points outside the workspace.
pub(crate) fn names_outside(arguments: &Value) -> bool {
    let Some(arguments) = arguments.as_object() else { return false };
    arguments.iter().any(|(name, value)| match value {
        Value::String(text) if name == "patch" => patched(text).any(leads_out),
        Value::String(text) => PATHS.contains(&name.as_str()) && leads_out(text),
        Value::Array(list) if PATHS.contains(&name.as_str()) => {
            list.iter().filter_map(Value::as_str).any(leads_out)
        }
        _ => false,
    })
}

/// Files named by a patch, even if the patch cannot be parsed.
fn patched(patch: &str) -> impl Iterator<Item = &str> {
    let marks = patch.lines().filter_map(|line| line.strip_prefix("*** "));
    marks.filter_map(|mark| mark.split_once(": ")).map(|(_, path)| path.trim())
}

fn leads_out(text: &str) -> bool {
    matches!(text.parse::<WorkPath>(), Err(BadPath::Absolute(_) | BadPath::Escapes(_)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::names_outside;

    #[test]
    fn only_paths_that_lead_out_are_outside() {
        for arguments in [
            json!({ "path": "/etc/passwd" }),
            json!({ "path": "a/../../b" }),
            json!({ "source": "a", "destination": "../a" }),
            json!({ "files": ["a", "~/b"] }),
            json!({ "command": "ls", "cwd": ".." }),
            json!({ "patch": "*** Begin Patch\n*** Delete File: ../a\n*** End Patch" }),
        ] {
            assert!(names_outside(&arguments), "{arguments}");
        }
        for arguments in [
            json!({ "path": "" }),
            json!({ "path": 5 }),
            json!({ "path": "a\u{7}" }),
            json!({ "content": "/etc/passwd", "path": "a/" }),
            json!({ "patch": "*** Begin Patch\n-/etc\n*** End Patch" }),
            json!("/etc/passwd"),
        ] {
            assert!(!names_outside(&arguments), "{arguments}");
        }
    }
}
