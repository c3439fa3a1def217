//! Samples for the tests of every crate: the presets as policies, a request, a brief, calls. Plain data, made from
//! `types` alone, so that any crate above can use it; no test logic.

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "what cannot be made ends the test"
)]

use serde_json::{Value, json};
use types::{
    Access, AgentCall, Arguments, Brief, Call, CallFacts, CommitId, Inspection, Policy, Repeat,
    Request, Spawn,
};

const CREW: &str = concat!(
    include_str!("../../../policies/requests.toml"),
    include_str!("../../../policies/crew.toml")
);

/// The preset, with prompts as named in the file, without baseline and trials, to keep logs short (`proving` has them),
/// and with small limits that end the run.
pub fn crew() -> Policy {
    let mut policy = plain(proving());
    policy.budget = types::RunBudget {
        tokens: Some(2_000_000),
        time_ms: Some(types::Millis::seconds(7_200)),
        ..types::RunBudget::default()
    };
    for (role, tokens) in [("planner", 200_000), ("coder", 400_000), ("debugger", 400_000)] {
        let role = policy.roles.get_mut(&types::RoleId::fixed(role)).expect("a role of the crew");
        role.budget.tokens = Some(tokens);
    }
    policy
}

/// The unchanged preset, with prompts as named in the file.
pub fn proving() -> Policy {
    toml::from_str(CREW).expect("the preset is a policy")
}

fn plain(mut policy: Policy) -> Policy {
    policy.verify = types::VerifyPolicy { baseline: false, trials: false, ..Default::default() };
    policy
}

/// A preset that extends the crew, as the runtime would read it.
pub fn preset(text: &str) -> Policy {
    let mut whole: toml::Table = toml::from_str(CREW).expect("a table");
    let file: toml::Table = toml::from_str(text).expect("a table");
    let routes = file.get("routes").cloned();
    for (key, value) in file {
        match (key.as_str(), whole.get_mut(&key), value) {
            ("extends" | "routes", ..) => {}
            (
                "limits" | "tools" | "budget",
                Some(toml::Value::Table(old)),
                toml::Value::Table(new),
            ) => {
                old.extend(new);
            }
            (_, _, value) => {
                whole.insert(key, value);
            }
        }
    }
    let mut policy: Policy = whole.try_into().expect("a policy");
    for rule in &mut policy.routing {
        let category = rule.category.map(types::Category::as_str).unwrap_or_default();
        let to = routes.as_ref().and_then(|routes| routes.get(category)?.as_str()?.parse().ok());
        rule.to = to.or(rule.to.take());
    }
    policy
}

/// The preset `strict`.
#[must_use]
pub fn strict() -> Policy {
    plain(preset(include_str!("../../../policies/strict.toml")))
}

/// The preset `audited`.
#[must_use]
pub fn audited() -> Policy {
    plain(preset(include_str!("../../../policies/audited.toml")))
}

/// A request to a model that does not exist.
#[must_use]
pub fn request(text: &str) -> Request {
    Request::new(text, "fake/model".parse().expect("a model"))
}

/// A brief for a task that may write to `src/`.
pub fn brief(attempt: &str) -> Brief {
    Brief {
        run: "r_test".parse().expect("a run"),
        attempt: attempt.parse().expect("an attempt"),
        role: types::RoleId::fixed("coder"),
        model: "fake/model".parse().expect("a model"),
        system: "You are a coder.".to_owned(),
        task: "Write src/a.rs".to_owned(),
        images: vec![],
        tools: ["read_file", "write_file", "shell", "submit"].map(str::to_owned).to_vec(),
        tool_specs: vec![],
        isolation: types::IsolationLevel::Full,
        scope: types::Scope(vec!["src/".parse().expect("an artifact")]),
        start: CommitId("base".to_owned()),
        assignment: types::Assignment::default(),
        budget: types::Budget::default(),
        max_turns: 5,
        max_output_tokens: 1_000,
        output_chars: 100,
        ending: types::Ending::Submission,
        effort: None,
        window: None,
        reply: None,
        shows: vec![],
        files: vec![],
        price: None,
        folder: None,
        policy: None,
        forked: None,
        output: None,
        instruction: None,
        server: None,
    }
}

/// `read_file a.rs`, `write_file src/a.rs`, `shell make`, `submit`, `broken`, or any other name with a path to read.
pub fn call(text: &str, index: u32) -> (Call, Inspection) {
    let (tool, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let path = || rest.parse().expect("a path");
    let facts = |access, repeat| CallFacts {
        access,
        paths: vec![],
        command: None,
        folder: None,
        repeat,
        tool: None,
        agent: None,
        hosts: vec![],
    };
    let inspection = match tool {
        "broken" => Inspection::Invalid("the arguments are not JSON".to_owned()),
        "submit" => Inspection::Would(facts(Access::Submit, Repeat::Safe)),
        "ask_user" => Inspection::Would(CallFacts {
            command: Some(rest.to_owned()),
            ..facts(Access::Ask, Repeat::Safe)
        }),
        "spawn_agent" | "send_input" | "wait" | "close_agent" => Inspection::Would(CallFacts {
            agent: Some(agent_call(tool, rest)),
            ..facts(Access::Agent, Repeat::Safe)
        }),
        "shell" => Inspection::Would(CallFacts {
            command: Some(rest.to_owned()),
            ..facts(Access::Execute, Repeat::Unknown)
        }),
        "write_file" => Inspection::Would(CallFacts {
            paths: vec![path()],
            ..facts(Access::Write, Repeat::Safe)
        }),
        _ => Inspection::Would(CallFacts {
            paths: vec![path()],
            ..facts(Access::Read, Repeat::Safe)
        }),
    };
    let (tool, arguments) = match tool {
        "broken" => ("read_file", Arguments::Broken("{\"path\": ".to_owned())),
        "submit" => ("submit", Arguments::Json(json!({"summary": rest}))),
        _ => (tool, Arguments::Json(Value::from(rest))),
    };
    (Call { wire_id: format!("w{index}"), tool: tool.to_owned(), arguments }, inspection)
}

/// `spawn_agent look around`, `send_input 2 and then`, `wait 2`, `close_agent 2`
fn agent_call(tool: &str, rest: &str) -> AgentCall {
    let number = |text: &str| text.parse().expect("the number of an agent");
    match tool {
        "spawn_agent" => AgentCall::Spawn(Box::new(Spawn {
            task: rest.to_owned(),
            model: None,
            scope: None,
            max_turns: None,
            change: None,
        })),
        "send_input" => {
            let (agent, text) = rest.split_once(' ').expect("an agent and a text");
            AgentCall::SendInput { agent: number(agent), text: text.to_owned() }
        }
        "wait" => AgentCall::Wait { agents: rest.split_whitespace().map(number).collect() },
        _ => AgentCall::Close { agent: number(rest) },
    }
}
