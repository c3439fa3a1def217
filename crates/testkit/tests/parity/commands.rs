//! Rows about commands: running one, its timeout, long outputs, and concurrent calls.

use std::sync::Arc;

use async_trait::async_trait;
use runtime::tools::{Registry, Tool, ToolContext};
use serde_json::{Value, json};
use testkit::wire::Reply;
use tokio::sync::Barrier;
use types::{
    Access, CallFacts, Event, Family, Inspection, Repeat, SessionState, ToolOutput, ToolSpec,
};

use crate::stage::{Props, Stage, calls, read, shell};

/// A22, A61: row 4, a command with both its outputs and its exit code.
#[tokio::test]
async fn a_command_is_run_and_its_outcome_is_told() {
    for family in Family::ALL {
        let run = shell("echo to-out; echo to-err >&2; exit 3");
        let stage = Stage::telling(
            family,
            Props::default(),
            vec![calls(&[run]), Reply::say("It failed with 3.")],
        )
        .await;
        stage.submit("Run it.").await;
        let result = &stage.results()[0];
        assert!(result.contains("to-out") && result.contains("to-err"), "{result}");
        assert!(result.contains('3'), "{result}");
    }
}

/// A23, A24: row 5, a command that takes too long is ended, and the model is told its options.
#[tokio::test]
async fn a_command_that_takes_too_long_is_ended() {
    for family in Family::ALL {
        let slow = json!({ "command": "echo begun; sleep 600", "timeout_ms": 300 });
        let replies = vec![Reply::call("shell", slow), Reply::say("Too slow.")];
        let stage = Stage::telling(family, Props::default(), replies).await;
        assert_eq!(stage.submit("Run it.").await, SessionState::Idle, "{}", stage.name());
        let result = &stage.results()[0];
        assert!(result.contains("begun") && result.contains("300"), "{result}");
        assert!(result.contains("timeout_ms"), "{result}");
    }
}

/// The first number in a line.
fn number(line: &str) -> u64 {
    let digits = line.chars().skip_while(|c| !c.is_ascii_digit());
    digits.take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}

/// A26, A27, A28, A54, A62: row 8, the model sees the beginning and the end, the record has everything.
#[tokio::test]
async fn a_long_output_is_cut_for_the_model_and_kept_in_the_record() {
    for family in Family::ALL {
        let long = shell("seq -f 'line %05g of the log' 1 9000");
        let replies = vec![calls(&[long]), Reply::say("Long.")];
        let stage = Stage::telling(family, Props::default(), replies).await;
        stage.submit("Show the log.").await;
        let result = &stage.results()[0];
        assert!(result.contains("line 00001") && result.contains("line 09000"), "{}", stage.name());
        assert!(!result.contains("line 04500"), "{}", stage.name());
        assert!(result.chars().count() < 32_000 && result.lines().count() < 300);
        let warning = result.lines().find(|line| line.contains("[WARNING"));
        let removed = number(warning.unwrap_or_else(|| panic!("{}: no warning", stage.name())));
        let events = stage.events().await;
        let output = events.iter().find_map(|event| match event {
            Event::ToolFinished { output, .. } => Some(output),
            _ => None,
        });
        let output = output.expect("a result on record");
        let bytes = output.blob.expect("the whole of it").bytes;
        assert!(bytes > 9_000 * 20, "{}: {bytes}", stage.name());
        // The missing part is counted to the character; the warning itself is in its place.
        let marks: usize =
            result.lines().filter(|line| line.contains("[WARNING")).map(str::len).sum();
        let shown = (result.len() - marks) as u64;
        let total = removed + shown;
        assert!(total >= bytes && total <= bytes + 200, "{}: {total} of {bytes}", stage.name());
    }
}

/// A20, A62: row 8 again, for a file.
#[tokio::test]
async fn a_long_file_is_shown_in_part() {
    for family in Family::ALL {
        let text: String = (1..=5_000).map(|line| format!("{line} {}\n", "x".repeat(40))).collect();
        let props = Props { files: vec![("long.txt", text)], ..Props::default() };
        let replies = vec![calls(&[read(family, "long.txt")]), Reply::say("Long.")];
        let stage = Stage::telling(family, props, replies).await;
        stage.submit("Read it.").await;
        let result = &stage.results()[0];
        assert!(result.chars().count() < 52_000, "{}: {}", stage.name(), result.len());
        assert!(result.contains("1\t1 x") && !result.contains("\t4999 "), "{}", stage.name());
        // The missing part is counted to the character.
        let warning = result.lines().find(|line| line.contains("[WARNING"));
        let warning = warning.unwrap_or_else(|| panic!("{}: no warning", stage.name()));
        let events = stage.events().await;
        let whole = events.iter().find_map(|event| match event {
            Event::ToolFinished { output, .. } => Some(output.blob.expect("the whole").bytes),
            _ => None,
        });
        assert_eq!(number(warning), whole.expect("a result") - 50_000, "{}", stage.name());
    }
}

/// Two calls of it return only if they run concurrently.
#[derive(Debug)]
struct Meet {
    spec: ToolSpec,
    both: Barrier,
}

#[async_trait]
impl Tool for Meet {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, _: &Value) -> Inspection {
        Inspection::Would(CallFacts {
            access: Access::Read,
            paths: vec![],
            command: None,
            folder: None,
            repeat: Repeat::Safe,
            tool: None,
            agent: None,
            hosts: vec![],
        })
    }

    async fn run(&self, arguments: &Value, _: &ToolContext<'_>) -> ToolOutput {
        self.both.wait().await;
        ToolOutput::ok(format!("met {}", arguments["who"].as_str().unwrap_or_default()))
    }
}

/// A13, A19: row 9, read-only calls run concurrently, with a custom tool.
#[tokio::test]
async fn calls_are_made_at_the_same_time_and_answered_in_order() {
    for family in Family::ALL {
        let schema = json!({ "type": "object", "properties": { "who": { "type": "string" } } });
        let (name, description) = ("meet".to_owned(), "Meets.".to_owned());
        let spec = ToolSpec { name, description, schema };
        let mut registry = Registry::standard();
        registry.register(Arc::new(Meet { spec, both: Barrier::new(2) })).expect("a new tool");
        let props = Props {
            registry,
            policy: Box::new(|policy| {
                for role in policy.roles.values_mut() {
                    role.tools.push("meet".to_owned());
                }
            }),
            ..Props::default()
        };
        let both = Reply::call("meet", json!({ "who": "a" })).and("meet", json!({ "who": "b" }));
        let stage = Stage::telling(family, props, vec![both, Reply::say("Met.")]).await;
        stage.submit("Meet.").await;
        assert_eq!(stage.results(), ["met a", "met b"], "{}", stage.name());
    }
}
