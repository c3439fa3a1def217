//! `shell`: runs a command line in the workspace. The exit code is the last line that the model sees, and a
//! command with a non-zero exit code is a failed call.

use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Ended, ExecResult, Metadata, Millis, Repeat};

use crate::typed::{Reply, Typed};
use crate::{ToolContext, printed, schema, tame};

const DEFAULT_TIMEOUT: Millis = Millis::seconds(10);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shell {
    /// The command line for the shell.
    #[schemars(length(min = 1))]
    command: String,
    /// Milliseconds; 600000 at most, unless the policy says otherwise.
    #[schemars(range(min = 1))]
    timeout_ms: Option<u64>,
    /// The folder to run it in, relative to the workspace (the default).
    cwd: Option<String>,
    /// Hosts to reach that are not granted, or "registries" for package registries; a person is asked.
    #[serde(default)]
    hosts: Vec<String>,
    /// What it is for, in a few words, for whoever reads along.
    #[serde(rename = "description")]
    _description: Option<String>,
}

impl Typed for Shell {
    const NAME: &'static str = "shell";
    const DESCRIPTION: &'static str = "Runs a command line in the workspace and shows its output and \
        exit code. There is no terminal and no input; processes left in the background are ended with the command.";

    fn facts(&self) -> Result<CallFacts, String> {
        if self.command.contains('\0') {
            return Err("the command has a zero byte in it".to_owned());
        }
        let folder = schema::folder(self.cwd.as_deref())?;
        sandbox::Hosts::parse(&self.hosts).map_err(|error| error.to_string())?;
        Ok(CallFacts {
            command: Some(self.command.clone()),
            folder: Some(folder).filter(|folder| !folder.is_root()),
            hosts: self.hosts.clone(),
            ..CallFacts::new(Access::Execute, Repeat::Unknown)
        })
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let usual = place.policy.command_timeout_ms.unwrap_or(DEFAULT_TIMEOUT);
        let timeout = self.timeout_ms.map_or(usual, Millis);
        let folder = schema::folder(self.cwd.as_deref())?;
        let named = printed::named(&self.command, &folder, place);
        let request = place.command(self.command, folder, timeout);
        let timeout = request.timeout;
        let result = place.env.exec(request, place.stop).await?;
        printed::note(place, &named, &result.output).await;
        let hint = (place.asks_for_hosts && !result.passed() && lacks_network(&result.output))
            .then_some(
                "[the sandbox has no network for this: name the hosts that it needs in `hosts`]\n",
            );
        show(&result, timeout, hint.unwrap_or_default())
    }
}

/// Whether a command seems to have failed for lack of network access.
fn lacks_network(output: &str) -> bool {
    const SIGNS: [&str; 8] = [
        "could not resolve",
        "couldn't resolve",
        "temporary failure in name resolution",
        "name or service not known",
        "enotfound",
        "eai_again",
        "network is unreachable",
        "not among the hosts",
    ];
    let lower = output.to_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign))
}

fn show(result: &ExecResult, timeout: Millis, hint: &str) -> Result<Reply, Reply> {
    let passed = result.passed();
    let mut text = tame::plain_lines(&result.output);
    text.push_str(hint);
    text.push_str(&match result.ended {
        Ended::Exited(code) => format!("[exit code {code}]"),
        Ended::Signalled(signal) => format!("[ended by signal {signal}]"),
        Ended::TimedOut => format!(
            "[timed out after {} ms and was ended; give a larger timeout_ms if it needs longer]",
            timeout.0
        ),
        Ended::Stopped => "[stopped before it ended]".to_owned(),
    });
    let bytes = (result.output.len() as u64).saturating_add(result.dropped);
    let reply = Reply::from(text).knowing(Metadata::ended(result.ended, result.elapsed, bytes));
    let reply = Reply { not_held: result.dropped, ..reply };
    if passed { Ok(reply) } else { Err(reply) }
}
