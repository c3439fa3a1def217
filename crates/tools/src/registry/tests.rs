//! The standard tools through the registry, as the loop uses them, in a real workspace.

use async_trait::async_trait;
use sandbox::LocalEnvironment;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use types::{Access, CallFacts, Millis, Repeat, ToolPolicy};

use super::*;
use crate::FileReadTracker;

fn workspace() -> (tempfile::TempDir, LocalEnvironment) {
    let dir = tempfile::tempdir().expect("a folder");
    let env = LocalEnvironment::open(dir.path()).expect("a workspace");
    (dir, env)
}

/// The part of a call's output that the model sees.
async fn run(env: &LocalEnvironment, tool: &str, arguments: Value) -> ToolOutput {
    let output = run_whole(env, tool, arguments).await;
    ToolOutput { files: vec![], metadata: Box::default(), ..output }
}

async fn run_whole(env: &LocalEnvironment, tool: &str, arguments: Value) -> ToolOutput {
    let (stop, seen) = (CancellationToken::new(), FileReadTracker::unguarded());
    Registry::standard().run(tool, &arguments, &ToolContext::new(env, &seen, &stop)).await
}

fn inspect(tool: &str, arguments: Arguments) -> Inspection {
    let call = Call { wire_id: "x".to_owned(), tool: tool.to_owned(), arguments };
    Registry::standard().inspect(&call)
}

fn complaint(inspection: Inspection) -> String {
    match inspection {
        Inspection::Invalid(complaint) | Inspection::Outside(complaint) => complaint,
        Inspection::Would(facts) => panic!("no complaint but {facts:?}"),
    }
}

/// A tool that panics.
#[derive(Debug)]
struct Breaks(ToolSpec);

impl Breaks {
    fn named(name: &str) -> Arc<dyn Tool> {
        let schema = json!({"type": "object"});
        Arc::new(Self(ToolSpec { name: name.to_owned(), description: String::new(), schema }))
    }
}

#[async_trait]
impl Tool for Breaks {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    fn inspect(&self, _arguments: &Value) -> Inspection {
        Inspection::Would(CallFacts {
            access: Access::Read,
            paths: Vec::new(),
            command: None,
            folder: None,
            repeat: Repeat::Safe,
            tool: None,
            agent: None,
            hosts: vec![],
        })
    }
    async fn run(&self, _: &Value, _: &ToolContext<'_>) -> ToolOutput {
        panic!("on purpose")
    }
}

/// A13, A14: a program's own tool keeps its name and its arguments, even where a family
/// renames those of the standard tool.
#[test]
fn a_tool_of_ones_own_is_worded_by_nobody_else() {
    let mut plain = Registry::standard();
    for name in ["edit_file", "shell"] {
        plain.replace(Breaks::named(name)).expect("a schema");
    }
    for family in types::Family::ALL {
        let registry = crate::profile::adapted(&crate::ToolProfile::of(family), &plain);
        for name in ["edit_file", "shell"] {
            let spec = registry.get(name).map(|tool| tool.spec().clone());
            assert_eq!(spec.as_ref(), Some(Breaks::named(name).spec()), "{family:?}");
        }
    }
}

#[test]
fn every_schema_in_every_familys_words_is_a_schema() {
    for family in types::Family::ALL {
        let registry =
            crate::profile::adapted(&crate::ToolProfile::of(family), &Registry::standard());
        for name in registry.names() {
            let schema = &registry.get(name).expect("a tool").spec().schema;
            jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// K15, A65: names, descriptions and schemas of the standard tools.
#[test]
fn the_standard_tools_are_all_there_with_closed_schemas() {
    let registry = Registry::standard();
    let names: Vec<&str> = registry.names().collect();
    assert_eq!(
        names,
        [
            "apply_patch",
            "ask_user",
            "close_agent",
            "delete_file",
            "edit_file",
            "git",
            "git_clone",
            "git_commit",
            "git_diff",
            "glob",
            "grep",
            "list_dir",
            "move_file",
            "process",
            "read_file",
            "send_input",
            "shell",
            "spawn_agent",
            "submit",
            "wait",
            "web_fetch",
            "web_search",
            "write_file"
        ]
    );
    for name in names.into_iter().filter(|name| *name != "submit") {
        let spec = registry.get(name).expect("a tool").spec();
        assert_eq!(spec.schema["additionalProperties"], json!(false), "{name}");
        assert!(!spec.description.is_empty());
    }
}

/// K15, K16, A13, A14, A65: a duplicate name is rejected, unless the tool is meant to replace the first.
#[test]
fn a_duplicate_is_refused_a_replacement_is_not_and_a_removed_tool_is_unknown() {
    let mut registry = Registry::standard();
    let refused = registry.register(Breaks::named("shell"));
    assert!(matches!(refused, Err(Duplicate::Name { .. })));
    registry.replace(Breaks::named("shell")).expect("a replacement");
    assert_eq!(registry.get("shell").expect("a tool").spec().description, "");
    assert!(registry.unregister("shell").is_some());
    let unknown = registry.specs(&["read_file".to_owned(), "shell".to_owned()]);
    assert_eq!(unknown.expect_err("unknown").name, "shell");
}

/// K16, K17, A16, A17, A80: an invalid call is a result for the model.
#[test]
fn unknown_tools_broken_json_and_wrong_arguments_are_sentences() {
    let text = complaint(inspect("fly", Arguments::Json(json!({}))));
    assert!(text.contains("no tool named \"fly\"") && text.contains("read_file"), "{text}");
    let text = complaint(inspect("shell", Arguments::Broken("{\"comm".to_owned())));
    assert!(text.contains("not valid JSON"), "{text}");
    let text = complaint(inspect("read_file", Arguments::Json(json!({"path": 1, "x": 2}))));
    assert!(
        text.contains("validation") && text.contains("/path") && text.contains("'x'"),
        "{text}"
    );
    let text = complaint(inspect("read_file", Arguments::Json(json!({"path": "/etc/passwd"}))));
    assert!(text.contains("absolute"), "{text}");
}

/// A15: the effects of a call are derived from its arguments.
#[test]
fn an_inspection_says_what_a_call_would_touch() {
    let facts = |tool, arguments| match inspect(tool, Arguments::Json(arguments)) {
        Inspection::Would(facts) => facts,
        Inspection::Invalid(complaint) | Inspection::Outside(complaint) => panic!("{complaint}"),
    };
    let write = facts("write_file", json!({"path": "./a//b", "content": ""}));
    assert_eq!((write.access, write.repeat), (Access::Write, Repeat::Safe));
    assert_eq!(write.paths[0].as_str(), "a/b");
    let read = facts("read_file", json!({"path": "a", "limit": null}));
    assert_eq!((read.access, read.repeat), (Access::Read, Repeat::Safe));
    let shell = facts("shell", json!({"command": "ls"}));
    assert_eq!((shell.access, shell.repeat), (Access::Execute, Repeat::Unknown));
    assert_eq!(shell.command.as_deref(), Some("ls"));
    let submit = facts("submit", json!({"summary": "done", "anything": [1]}));
    assert_eq!(submit.access, Access::Submit);
}

/// A20, A21, A67: parent folders are created, line numbers directly precede a tab, a window can be read.
#[tokio::test]
async fn a_file_is_written_and_read_back_with_numbers() {
    let (_dir, env) = workspace();
    let output =
        run(&env, "write_file", json!({"path": "a/b", "content": "one\r\ntwo\nthree"})).await;
    assert_eq!(output, ToolOutput::ok("wrote 14 bytes to a/b"));
    let output = run(&env, "read_file", json!({"path": "a/b"})).await;
    assert_eq!(output.text, "     1\tone\n     2\ttwo\n     3\tthree\n");
    let output = run(&env, "read_file", json!({"path": "a/b", "offset": 2, "limit": 1})).await;
    assert_eq!(output.text, "     2\ttwo\n[lines 2 to 2 of 3]\n");
    let output = run(&env, "read_file", json!({"path": "a/b", "offset": 9})).await;
    assert_eq!(output, ToolOutput::error("a/b has 3 lines; there is no line 9"));
}

/// A18, A20: a failure is a message for the model.
#[tokio::test]
async fn a_missing_a_binary_and_a_protected_file_are_errors_for_the_model() {
    let (dir, env) = workspace();
    let output = run(&env, "read_file", json!({"path": "nope"})).await;
    assert_eq!(output, ToolOutput::error("nope does not exist"));
    std::fs::write(dir.path().join("bin"), b"\x7fELF\0\0").expect("a file");
    let output = run(&env, "read_file", json!({"path": "bin"})).await;
    assert!(!output.success && output.text.contains("ELF program, 6 bytes"), "{output:?}");
    let output = run(&env, "write_file", json!({"path": ".git/config", "content": ""})).await;
    assert!(!output.success && output.text.contains("protected"), "{output:?}");
}

/// A79: a command with a non-zero exit code is a failed call.
#[tokio::test]
async fn a_command_ends_with_its_exit_code_and_fails_when_that_is_not_zero() {
    let (_dir, env) = workspace();
    let output = run(&env, "shell", json!({"command": "printf hi"})).await;
    assert_eq!(output, ToolOutput::ok("hi\n[exit code 0]"));
    let output = run(&env, "shell", json!({"command": "exit 7"})).await;
    assert_eq!(output, ToolOutput::error("[exit code 7]"));
    let output = run(&env, "shell", json!({"command": "sleep 600", "timeout_ms": 50})).await;
    assert!(!output.success && output.text.contains("timed out after 50 ms"), "{output:?}");
}

#[tokio::test]
async fn a_long_line_is_cut_and_says_so() {
    let (_dir, env) = workspace();
    let content = "é".repeat(3000);
    run(&env, "write_file", json!({"path": "a", "content": content})).await;
    let output = run(&env, "read_file", json!({"path": "a"})).await;
    assert!(output.text.ends_with("é [2000 more bytes in this line]\n"), "{}", output.text.len());
}

/// K18, A18: a tool that panics is a failed call.
#[tokio::test]
async fn a_tool_that_breaks_down_is_an_error_and_the_loop_goes_on() {
    let (_dir, env) = workspace();
    let mut registry = Registry::default();
    registry.register(Breaks::named("breaks")).expect("a tool");
    let (stop, seen) = (CancellationToken::new(), FileReadTracker::unguarded());
    let place = ToolContext::new(&env, &seen, &stop);
    let output = registry.run("breaks", &json!({}), &place).await;
    assert!(!output.success && output.text.contains("broke down"), "{output:?}");
}

/// A77: add, delete, update and move in one patch.
#[tokio::test]
async fn a_patch_over_several_files_is_applied_whole() {
    let (dir, env) = workspace();
    for (name, text) in [("a", "1\n"), ("b", "2\n"), ("c", "3\n")] {
        std::fs::write(dir.path().join(name), text).expect("a file");
    }
    let patch = "*** Begin Patch\n*** Add File: n/d\n+4\n*** Delete File: b\n*** Update File: c\n\
        *** Move to: m/e\n@@\n-3\n+5\n*** Update File: a\n@@\n-1\n+6\n*** End Patch";
    let output = run(&env, "apply_patch", json!({"patch": patch})).await;
    assert_eq!(output, ToolOutput::ok("added n/d\ndeleted b\nmoved c to m/e\nupdated a"));
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
    assert_eq!(text("n/d").as_deref(), Some("4\n"));
    assert_eq!((text("b"), text("c")), (None, None));
    assert_eq!(text("m/e").as_deref(), Some("5\n"));
    assert_eq!(text("a").as_deref(), Some("6\n"));
}

/// A77: all or nothing.
#[tokio::test]
async fn a_patch_of_which_one_part_fails_changes_nothing() {
    let (dir, env) = workspace();
    let patches = [
        "*** Add File: created\n+x\n*** Update File: missing\n@@\n-x\n+y",
        "*** Add File: created\n+x\n*** Delete File: missing",
        "*** Add File: created\n+x\n*** Add File: .git/hooks/x\n+x",
        "*** Add File: created\n+x\n*** Add File: out/x\n+x",
    ];
    std::os::unix::fs::symlink("/tmp", dir.path().join("out")).expect("a link");
    for body in patches {
        let patch = format!("*** Begin Patch\n{body}\n*** End Patch");
        let output = run(&env, "apply_patch", json!({"patch": patch})).await;
        assert!(!output.success, "{body}: {output:?}");
        assert!(!dir.path().join("created").exists(), "{body} left something behind");
    }
}

/// A68, A69: patterns are inert, context is shown, the newest comes first.
#[tokio::test]
async fn files_are_listed_found_and_searched() {
    let (_dir, env) = workspace();
    for (path, content) in [("src/a.rs", "fn one() {}\nfn two() {}\n"), ("b.md", "one\n")] {
        run(&env, "write_file", json!({"path": path, "content": content})).await;
    }
    let output = run(&env, "list_dir", json!({"depth": 2})).await;
    assert_eq!(output.text, "b.md\t4\nsrc/\nsrc/a.rs\t24\n");
    let output = run(&env, "glob", json!({"pattern": "**/*.rs"})).await;
    assert_eq!(output.text, "src/a.rs\n");
    let output = run(&env, "grep", json!({"pattern": "one"})).await;
    assert_eq!(output.text, "b.md:1:one\nsrc/a.rs:1:fn one() {}\n");
    let output =
        run(&env, "grep", json!({"pattern": "ONE", "case_insensitive": true, "output": "files"}))
            .await;
    assert_eq!(output.text, "b.md\nsrc/a.rs\n");
    let output =
        run(&env, "grep", json!({"pattern": "two", "context": 1, "glob_filter": "*.rs"})).await;
    assert_eq!(output.text, "src/a.rs-1-fn one() {}\nsrc/a.rs:2:fn two() {}\n");
    let output = run(&env, "grep", json!({"pattern": "fn", "output": "counts"})).await;
    assert_eq!(output.text, "src/a.rs: 2\n");
    let output = run(&env, "grep", json!({"pattern": "("})).await;
    assert!(!output.success && output.text.contains("not valid"), "{output:?}");
}

/// A75: the number of matches is reported, an empty text is rejected.
#[tokio::test]
async fn an_edit_through_the_registry_names_its_mistakes() {
    let (_dir, env) = workspace();
    run(&env, "write_file", json!({"path": "f", "content": "x\nx\n"})).await;
    let edit = |old: &str| json!({"path": "f", "old_string": old, "new_string": "y"});
    let output = run(&env, "edit_file", edit("x")).await;
    assert!(!output.success && output.text.contains("2 times"), "{output:?}");
    let output = run(&env, "edit_file", edit("")).await;
    assert!(!output.success && output.text.contains("empty"), "{output:?}");
    let output = run(&env, "edit_file", edit("x\nx")).await;
    assert_eq!(output, ToolOutput::ok("replaced 1 time in f"));
    let output = run(&env, "write_file", json!({"path": "dir/", "content": "x"})).await;
    assert!(!output.success && output.text.contains("folder"), "{output:?}");
}

/// K34: a message is literal, and no hook runs.
#[tokio::test]
async fn git_is_used_with_literal_messages_and_without_hooks() {
    let (dir, env) = workspace();
    let sh = |line: &'static str| json!({"command": line});
    let setup = "git init -q src && cd src && echo a > f && printf '#!/bin/sh\\ntouch ../../PWNED' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit";
    assert!(run(&env, "shell", sh(setup)).await.success);
    let inner = LocalEnvironment::open(&dir.path().join("src")).expect("a workspace");
    let message = "fix: $(id) `id` \"q\"; rm -rf / # ok";
    let output = run(&inner, "git_commit", json!({"message": message, "all": true})).await;
    assert!(output.success && output.text.len() == 40, "{output:?}");
    let shown = run(&inner, "shell", sh("git log -1 --format=%B")).await;
    assert!(shown.text.contains(message), "{shown:?}");
    std::fs::write(dir.path().join("src/f"), "b\n").expect("a file");
    let output = run(&inner, "git_diff", json!({})).await;
    assert!(output.text.contains("-a\n+b"), "{output:?}");
    let output = run(&inner, "git_diff", json!({"ref": "--output=x"})).await;
    assert!(!output.success, "{output:?}");
    assert_eq!(run(&inner, "git_diff", json!({"staged": true})).await.text, "(no changes)");
    let output = run(&env, "git_clone", json!({"url": "src", "dest": "copy"})).await;
    assert!(output.success && dir.path().join("copy/f").exists(), "{output:?}");
    for url in ["https://localhost/x", "/etc", "../x", "ext::sh", "git@host:x"] {
        let output = run(&env, "git_clone", json!({"url": url, "dest": "other"})).await;
        assert!(!output.success, "{url}: {output:?}");
    }
    assert!(!dir.path().join("PWNED").exists());
}

/// A82: a policy's maximum timeout and variables for commands apply whatever the model says.
#[tokio::test]
async fn a_policy_sets_the_longest_time_and_the_variables_of_commands() {
    let (_dir, env) = workspace();
    let (stop, seen) = (CancellationToken::new(), FileReadTracker::unguarded());
    let policy = ToolPolicy {
        max_command_timeout_ms: Some(Millis(40)),
        variables: [("COLOUR", "red"), ("LD_PRELOAD", "/x.so")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..ToolPolicy::default()
    };
    let mut place = ToolContext::new(&env, &seen, &stop);
    place.policy = policy;
    let run = async |arguments| Registry::standard().run("shell", &arguments, &place).await;
    let late = run(json!({"command": "sleep 30", "timeout_ms": 9000})).await;
    assert!(late.text.contains("timed out after 40 ms"), "{late:?}");
    place.policy.max_command_timeout_ms = None;
    let run = async |arguments| Registry::standard().run("shell", &arguments, &place).await;
    let said = run(json!({"command": "echo \"$COLOUR:$LD_PRELOAD\""})).await;
    assert!(said.text.starts_with("red:\n"), "{said:?}");
}
