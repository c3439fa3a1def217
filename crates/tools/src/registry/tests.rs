//! The standard tools through the registry, as the loop uses them, in a real workspace.

use async_trait::async_trait;
use sandbox::LocalEnvironment;
use serde_json::json;
use types::{Access, CallFacts, Repeat};

use super::*;

fn workspace() -> (tempfile::TempDir, LocalEnvironment) {
    let dir = tempfile::tempdir().expect("a folder");
    let env = LocalEnvironment::open(dir.path()).expect("a workspace");
    (dir, env)
}

async fn run(env: &LocalEnvironment, tool: &str, arguments: Value) -> ToolOutput {
    Registry::standard().run(tool, &arguments, env, &CancellationToken::new()).await
}

fn inspect(tool: &str, arguments: Arguments) -> Inspection {
    let call = Call { wire_id: "x".to_owned(), tool: tool.to_owned(), arguments };
    Registry::standard().inspect(&call)
}

fn complaint(inspection: Inspection) -> String {
    match inspection {
        Inspection::Invalid(complaint) => complaint,
        Inspection::Would(facts) => panic!("no complaint but {facts:?}"),
    }
}

/// A tool that is broken.
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
            repeat: Repeat::Safe,
        })
    }
    async fn run(&self, _: &Value, _: &dyn Environment, _: &CancellationToken) -> ToolOutput {
        panic!("on purpose")
    }
}

#[test]
fn the_standard_tools_are_all_there_with_closed_schemas() {
    let registry = Registry::standard();
    let names: Vec<&str> = registry.names().collect();
    assert_eq!(names, ["read_file", "shell", "submit", "write_file"]);
    for name in names.into_iter().filter(|name| *name != "submit") {
        let spec = registry.get(name).expect("a tool").spec();
        assert_eq!(spec.schema["additionalProperties"], json!(false), "{name}");
        assert!(!spec.description.is_empty());
    }
}

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

#[test]
fn an_inspection_says_what_a_call_would_touch() {
    let facts = |tool, arguments| match inspect(tool, Arguments::Json(arguments)) {
        Inspection::Would(facts) => facts,
        Inspection::Invalid(complaint) => panic!("{complaint}"),
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

#[tokio::test]
async fn a_missing_a_binary_and_a_protected_file_are_errors_for_the_model() {
    let (dir, env) = workspace();
    let output = run(&env, "read_file", json!({"path": "nope"})).await;
    assert_eq!(output, ToolOutput::error("nope does not exist"));
    std::fs::write(dir.path().join("bin"), b"\x7fELF\0\0").expect("a file");
    let output = run(&env, "read_file", json!({"path": "bin"})).await;
    assert!(!output.success && output.text.contains("binary file of 6 bytes"), "{output:?}");
    let output = run(&env, "write_file", json!({"path": ".git/config", "content": ""})).await;
    assert!(!output.success && output.text.contains("protected"), "{output:?}");
}

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

#[tokio::test]
async fn a_tool_that_breaks_down_is_an_error_and_the_loop_goes_on() {
    let (_dir, env) = workspace();
    let mut registry = Registry::empty();
    registry.register(Breaks::named("breaks")).expect("a tool");
    let output = registry.run("breaks", &json!({}), &env, &CancellationToken::new()).await;
    assert!(!output.success && output.text.contains("broke down"), "{output:?}");
}
