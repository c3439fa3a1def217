//! `process`: background commands such as servers: start one, list them, read its output, stop it. They end with the
//! session; later commands share their network and reach their servers. The environment decides how they run.

use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Millis, Repeat};

use crate::context::ProcessView;
use crate::typed::{Reply, Typed};
use crate::{ToolContext, schema, tame};

/// Maximum time that a call waits for output.
const LONGEST_WAIT: Millis = Millis::seconds(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Start,
    List,
    Read,
    Stop,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Process {
    action: Action,
    /// To start.
    command: Option<String>,
    /// The folder to start it in.
    cwd: Option<String>,
    /// Which one to read or stop.
    id: Option<u32>,
    /// How long to wait for output, after start or to read.
    wait_ms: Option<u64>,
}

impl Typed for Process {
    const NAME: &'static str = "process";
    const DESCRIPTION: &'static str = "Runs a command in the background, such as a server; commands after it reach it at 127.0.0.1. Ends with the session.";

    fn facts(&self) -> Result<CallFacts, String> {
        let command = match (self.action, &self.command, self.id) {
            (Action::Start, Some(command), _) if !command.trim().is_empty() => {
                Some(command.clone())
            }
            (Action::Start, ..) => return Err("say which command to start".to_owned()),
            (Action::Read | Action::Stop, _, None) => {
                return Err("say which one, by its id".to_owned());
            }
            _ => None,
        };
        if command.as_deref().is_some_and(|line| line.contains('\0')) {
            return Err("the command has a zero byte in it".to_owned());
        }
        let access = if command.is_some() { Access::Execute } else { Access::Read };
        let repeat = if self.action == Action::List { Repeat::Safe } else { Repeat::Unknown };
        let folder = schema::folder(self.cwd.as_deref())?;
        let folder = Some(folder).filter(|folder| !folder.is_root());
        Ok(CallFacts { command, folder, ..CallFacts::new(access, repeat) })
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let Some(processes) = place.processes else {
            return Err("nothing can be kept in the background here".to_owned().into());
        };
        let wait = Millis(self.wait_ms.unwrap_or(0)).min(LONGEST_WAIT);
        let folder = schema::folder(self.cwd.as_deref())?;
        let shown = match (self.action, self.command, self.id) {
            (Action::Start, Some(command), _) => {
                let mut request = place.command(command, folder, Millis::seconds(1));
                request.background = true;
                let id = processes.start(request).await?;
                format!("process {id} started\n{}", said(&processes.read(id, wait).await?))
            }
            (Action::Read, _, Some(id)) => said(&processes.read(id, wait).await?),
            (Action::Stop, _, Some(id)) => said(&processes.stop(id).await?),
            _ => match processes.list().as_slice() {
                [] => "nothing runs in the background".to_owned(),
                all => all.iter().map(said).collect(),
            },
        };
        Ok(shown.into())
    }
}

fn said(process: &ProcessView) -> String {
    let state = process.ended.as_deref().unwrap_or("running");
    let text = tame::plain_lines(&process.output);
    format!("{text}[process {}: {state}: {}]\n", process.id, types::one_line(&process.command, 80))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts(arguments: serde_json::Value) -> Result<CallFacts, String> {
        serde_json::from_value::<Process>(arguments).expect("arguments").facts()
    }

    #[test]
    fn a_start_is_judged_by_its_command_and_looking_is_reading() {
        let start = facts(json!({"action": "start", "command": "npm run dev"})).expect("a call");
        assert_eq!(
            (start.access, start.command.as_deref()),
            (Access::Execute, Some("npm run dev"))
        );
        let read = facts(json!({"action": "read", "id": 1})).expect("a call");
        assert_eq!(read.access, Access::Read);
        assert!(facts(json!({"action": "start"})).is_err());
        assert!(facts(json!({"action": "stop"})).is_err());
    }
}
