//! Changes to files with secrets, which the model was shown as redacted.

use sandbox::LocalEnvironment;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::FileReadTracker;
use crate::secrets::tests::Keys;

const OLD: &str = "# settings\na = \"key-one\"\nb = \"key-two\"\nn = 1\n";

/// Output of a call, and the file's content afterwards.
async fn changed(tool: &str, arguments: Value) -> (ToolOutput, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("f");
    std::fs::write(&file, OLD).expect("a file");
    let env = LocalEnvironment::open(dir.path()).expect("a workspace");
    let (seen, stop) = (FileReadTracker::unguarded(), CancellationToken::new());
    let mut place = ToolContext::new(&env, &seen, &stop);
    place.secrets = Some(&Keys);
    let output = Registry::standard().run(tool, &arguments, &place).await;
    (output, std::fs::read_to_string(&file).expect("a file"))
}

#[tokio::test]
async fn secrets_that_were_shown_as_redacted_stay_when_the_file_is_written() {
    let content = "b = \"[redacted]\"\na = \"[redacted]\"\nn = 2\n";
    let (output, file) = changed("write_file", json!({"path": "f", "content": content})).await;
    assert!(output.success && output.text.contains("stay"), "{output:?}");
    assert_eq!(file, "b = \"key-two\"\na = \"key-one\"\nn = 2\n");
    let content = "c = \"[redacted]\"\n";
    let (output, file) = changed("write_file", json!({"path": "f", "content": content})).await;
    assert!(!output.success && output.text.contains("not clear which"), "{output:?}");
    assert_eq!(file, OLD);
}

#[tokio::test]
async fn an_edit_may_name_a_secret_by_what_was_shown() {
    let edit = |old: &str, new: &str| json!({"path": "f", "old_string": old, "new_string": new});
    let (output, file) =
        changed("edit_file", edit("b = \"[redacted]\"\nn", "c = \"[redacted]\"\nm")).await;
    assert_eq!(file, OLD.replace("b =", "c =").replace("n =", "m ="), "{output:?}");
    let (_, file) = changed("edit_file", edit("n = 1", "n = 2")).await;
    assert_eq!(file, OLD.replace("n = 1", "n = 2"));
    let (output, file) = changed("edit_file", edit("\"[redacted]\"", "\"\"")).await;
    assert!(!output.success && output.text.contains("not clear which"), "{output:?}");
    assert_eq!(file, OLD);
}

#[tokio::test]
async fn a_patch_may_show_secrets_as_redacted() {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n a = \"[redacted]\"\n-b = \"[redacted]\"\n+b = \"[redacted]\"\n\
                 +c = 3\n n = 1\n*** End Patch\n";
    let (output, file) = changed("apply_patch", json!({"patch": patch})).await;
    assert_eq!(file, OLD.replace("n =", "c = 3\nn ="), "{output:?}");
    let patch = patch.replace("+b = \"[redacted]\"", "+d = \"[redacted]\"");
    let (output, file) = changed("apply_patch", json!({"patch": patch})).await;
    assert!(!output.success && output.text.contains("not clear which"), "{output:?}");
    assert_eq!(file, OLD);
}
