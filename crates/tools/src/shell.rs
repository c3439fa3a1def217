//! `shell`: a command line, run in the workspace. Its exit code is the last line of what the model sees, and a
//! command that did not exit with 0 is a failed call.

use async_trait::async_trait;
use sandbox::Environment;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use types::{
    Access, CallFacts, Ended, ExecRequest, ExecResult, Inspection, Repeat, Span, ToolOutput,
    ToolSpec, WorkPath,
};

use crate::{Tool, schema};

const DEFAULT_TIMEOUT: Span = Span::seconds(10);
const MAX_TIMEOUT: Span = Span::seconds(600);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The command line for the shell.
    #[schemars(length(min = 1))]
    command: String,
    /// How long it may take, in milliseconds; 10000 if left out, 600000 at most.
    #[schemars(range(min = 1))]
    timeout_ms: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Shell {
    spec: ToolSpec,
}

impl Shell {
    pub(crate) fn new() -> Self {
        let description = "Runs a command line in the workspace and shows its output and exit code. \
            There is no terminal and no input; processes left in the background are ended with the command.";
        Self { spec: schema::spec::<Arguments>("shell", description) }
    }
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Value) -> Inspection {
        match schema::parse::<Arguments>(arguments) {
            Ok(args) if args.command.contains('\0') => {
                Inspection::Invalid("the command has a zero byte in it".to_owned())
            }
            Ok(args) => Inspection::Would(CallFacts {
                access: Access::Execute,
                paths: Vec::new(),
                command: Some(args.command),
                repeat: Repeat::Unknown,
            }),
            Err(complaint) => Inspection::Invalid(complaint),
        }
    }

    async fn run(
        &self,
        arguments: &Value,
        env: &dyn Environment,
        stop: &CancellationToken,
    ) -> ToolOutput {
        let args = match schema::parse::<Arguments>(arguments) {
            Ok(args) => args,
            Err(complaint) => return ToolOutput::error(complaint),
        };
        let timeout = args.timeout_ms.map_or(DEFAULT_TIMEOUT, Span::millis).min(MAX_TIMEOUT);
        let request = ExecRequest { command: args.command, folder: WorkPath::root(), timeout };
        match env.exec(request, stop).await {
            Ok(result) => show(result, timeout),
            Err(error) => ToolOutput::error(error.chain()),
        }
    }
}

fn show(result: ExecResult, timeout: Span) -> ToolOutput {
    let passed = result.passed();
    let mut text = result.output;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&match result.ended {
        Ended::Exited(code) => format!("[exit code {code}]"),
        Ended::Signalled(signal) => format!("[ended by signal {signal}]"),
        Ended::TimedOut => format!(
            "[timed out after {timeout} and was ended; give a larger timeout_ms if it needs longer]"
        ),
        Ended::Stopped => "[stopped before it ended]".to_owned(),
    });
    if passed { ToolOutput::ok(text) } else { ToolOutput::error(text) }
}
