//! A simulated model: plans, files, reviews and submissions as required of each role, tool calls of all kinds, and
//! every way in which a provider fails. Its usage never exceeds the reservation.

use serde_json::{Value, json};
use types::{
    Access, AgentCall, Arguments, Block, Brief, Call, CallFacts, Contract, Fault, FaultClass,
    Inspection, Millis, ModelReply, ModelRequest, PriceCap, Repeat, Replied, Retry, Spawn,
    StopReason, Usage, Used,
};

use super::dice::Dice;

/// The request to the model, and its failure rate.
pub(super) struct Asked<'a> {
    pub(super) brief: &'a Brief,
    pub(super) request: &'a ModelRequest,
    pub(super) rough: u64,
    pub(super) price: Option<PriceCap>,
}

impl Asked<'_> {
    /// The reply or the fault, and the name of the fault for the counts.
    pub(super) fn answer(
        &self,
        dice: &mut Dice,
    ) -> (Result<Box<Replied>, Fault>, Option<&'static str>) {
        if dice.chance(self.rough) {
            return self.fails(dice);
        }
        let (blocks, inspections) = match &self.brief.reply {
            Some(rule) => (vec![Block::text(self.by_contract(rule.contract, dice))], vec![]),
            None => self.calls(dice),
        };
        let stop = if inspections.is_empty() { StopReason::End } else { StopReason::Calls };
        (Ok(self.replied(dice, blocks, inspections, stop)), None)
    }

    fn replied(
        &self,
        dice: &mut Dice,
        blocks: Vec<Block>,
        inspections: Vec<Inspection>,
        stop: StopReason,
    ) -> Box<Replied> {
        let usage = self.usage(dice);
        let cost = self.price.map(|price| price.of(usage.input, usage.output));
        let reply = ModelReply::new(blocks, stop, usage, cost);
        Box::new(Replied { reply, inspections, exact: vec![] })
    }

    /// Ordinary text: a token for every few bytes, at most the reservation.
    fn usage(&self, dice: &mut Dice) -> Usage {
        // Only the last messages are measured: serializing all of them on every turn would dominate the cost.
        let messages = &self.request.messages;
        let last = messages.iter().rev().take(3).map(|one| json!(one).to_string().len());
        let bytes = last.sum::<usize>() + messages.len() * 16;
        let output = dice.below(self.request.max_output.min(9_000) + 1);
        Usage { input: bytes as u64 / 8, output, ..Usage::default() }
    }

    fn fails(&self, dice: &mut Dice) -> (Result<Box<Replied>, Fault>, Option<&'static str>) {
        let after = Retry::After(Millis(dice.between(10, 400_000)));
        let retry = dice.pick(&[Retry::Now, after]);
        let fault = |class, code: &str| Fault::new(class, code, "simulated");
        let (fault, name) = match dice.below(8) {
            0 => (fault(FaultClass::Transient, "model.overloaded").retry(retry), "model away"),
            1 => {
                let mut fault =
                    fault(FaultClass::Transient, "model.broken_stream").retry(Retry::Now);
                let (usage, cost, estimated) = (self.usage(dice), None, true);
                fault.used = Some(Box::new(Used { usage, cost, estimated }));
                (fault, "reply broke off")
            }
            2 => (fault(FaultClass::Structural, "model.malformed"), "reply malformed"),
            3 => (fault(FaultClass::Person, "model.unauthorized"), "model refuses the key"),
            4 => {
                let said =
                    self.replied(dice, vec![Block::text("I can")], vec![], StopReason::Length);
                return (Ok(said), Some("reply cut by length"));
            }
            5 => {
                let said =
                    self.replied(dice, vec![Block::text("No.")], vec![], StopReason::Filtered);
                return (Ok(said), Some("reply filtered"));
            }
            6 => {
                let said =
                    self.replied(dice, vec![Block::text("Sure! {\"x\":")], vec![], StopReason::End);
                return (Ok(said), Some("reply is garbage"));
            }
            _ => {
                let said = self.replied(dice, vec![], vec![], StopReason::End);
                return (Ok(said), Some("reply is empty"));
            }
        };
        (Err(fault), Some(name))
    }

    /// One to three calls, with a submission more and more likely.
    fn calls(&self, dice: &mut Dice) -> (Vec<Block>, Vec<Inspection>) {
        let turn = u64::from(self.request.origin.turn);
        let names: Vec<&str> = self.request.tools.iter().map(|tool| tool.name.as_str()).collect();
        let says_done = if names.contains(&"submit") { 3 } else { 30 };
        if names.is_empty() || dice.chance(says_done) {
            return (vec![Block::text("I am done.")], vec![]);
        }
        let mut made = Vec::new();
        let submits = names.contains(&"submit") && dice.chance(20 + turn * 8);
        for _ in 0..dice.between(u64::from(!submits), 3) {
            let tool = if dice.chance(3) { "teleport" } else { dice.pick(&names) };
            if tool != "submit" {
                made.push(self.call(tool, dice));
            }
        }
        if submits {
            made.push(self.call("submit", dice));
        }
        let (blocks, inspections) = made
            .into_iter()
            .zip(0..)
            .map(|((tool, arguments, inspection), index)| {
                let wire_id = format!("w{turn}.{index}");
                (Block::call(Call { wire_id, tool, arguments }), inspection)
            })
            .unzip();
        (blocks, inspections)
    }

    fn call(&self, tool: &str, dice: &mut Dice) -> (String, Arguments, Inspection) {
        if dice.chance(3) {
            let wrong = Inspection::Invalid("the arguments are not JSON".to_owned());
            return (tool.to_owned(), Arguments::Broken("{\"path\": ".to_owned()), wrong);
        }
        let path = self.path(dice);
        let mut arguments = json!({ "path": path });
        let mut facts = match tool {
            "submit" => {
                arguments = self.submission(dice);
                CallFacts::new(Access::Submit, Repeat::Safe)
            }
            "shell" => {
                let command = dice.pick(&COMMANDS);
                arguments = json!({ "command": command });
                let facts = CallFacts::new(Access::Execute, Repeat::Unknown);
                CallFacts { command: Some(command.to_owned()), ..facts }
            }
            "ask_user" => {
                arguments = json!({ "question": "Which one?" });
                let facts = CallFacts::new(Access::Ask, Repeat::Safe);
                CallFacts { command: Some("Which one?".to_owned()), ..facts }
            }
            "spawn_agent" | "send_input" | "wait" | "close_agent" => {
                let facts = CallFacts::new(Access::Agent, Repeat::Safe);
                CallFacts { agent: Some(agent(tool, dice)), ..facts }
            }
            "write_file" => CallFacts::new(Access::Write, Repeat::Safe),
            "edit_file" | "delete_file" | "move_file" => {
                CallFacts::new(Access::Write, Repeat::Unknown)
            }
            _ => CallFacts::new(Access::Read, Repeat::Safe),
        };
        if matches!(facts.access, Access::Read | Access::Write) {
            facts.paths = path.parse().into_iter().collect();
        }
        (tool.to_owned(), Arguments::Json(arguments), Inspection::Would(facts))
    }

    /// A path that the task may write, or sometimes one that it may not.
    fn path(&self, dice: &mut Dice) -> String {
        if self.brief.role.as_str() == "tester" && dice.chance(80) {
            return "tests/test_new.rs".to_owned();
        }
        let own = self.brief.scope.0.first().map(|artifact| artifact.path.as_str().to_owned());
        match own.filter(|path| !path.is_empty() && path != ".") {
            Some(own) if dice.chance(90) => own,
            _ => dice.pick(&["src/a.rs", "src/b.rs", "Makefile", ".env", "docs/x.md"]).to_owned(),
        }
    }

    fn submission(&self, dice: &mut Dice) -> Value {
        match self.brief.role.as_str() {
            "planner" => plan(dice, true),
            _ => json!({ "summary": "done" }),
        }
    }

    /// The reply of a role with a JSON contract.
    fn by_contract(&self, contract: Contract, dice: &mut Dice) -> String {
        let told: Value = serde_json::from_str(&self.brief.task).unwrap_or(Value::Null);
        let task = told["task_id"].as_str().unwrap_or("T1");
        let spec = &told["intent_spec"];
        let spec_id = spec["spec_id"].as_str().unwrap_or("SPEC-001");
        let passes = dice.chance(85);
        match contract {
            Contract::Plan => plan(dice, false),
            Contract::Edits => json!({ "edits": [{ "path": self.path(dice), "content": "x\n" }] }),
            Contract::Report => {
                // The order of the keys matters.
                return format!(r#"{{"task_id":"{task}","passed":{passes},"report":"said"}}"#);
            }
            Contract::IntentSpec => json!({
                "spec_id": "SPEC-001", "task_id": task, "objective": "Say hello.",
                "requirements": [{ "id": "REQ-001", "description": "It says hello", "verification": "a line" }],
                "constraints": [{ "id": "CON-001", "description": "No dependency" }],
                "out_of_scope": ["Others"], "context_refs": [],
                "assumptions": [{ "id": "ASM-001", "statement": "English", "source": "operator_input" }],
            }),
            Contract::Advice if passes => json!({ "verdict": "go", "reason": "clear" }),
            Contract::Advice => json!({ "verdict": "ask", "reason": "unclear", "questions": ["Which?"] }),
            Contract::DevOutput => json!({
                "task_id": task, "spec_id": spec_id, "status": "completed",
                "artifacts": [{ "path": self.path(dice), "content": "x\n", "type": "source" }],
            }),
            Contract::Verdict => {
                let status = if passes { "pass" } else { "fail" };
                let judged = |list: &Value, key: &str| -> Value {
                    let each = list.as_array().into_iter().flatten();
                    let each = each.map(|one| json!({ key: one["id"], "status": status, "evidence": "src/a.rs:1" }));
                    each.collect()
                };
                json!({
                    "task_id": task, "spec_id": spec_id, "verdict": status,
                    "requirement_results": judged(&spec["requirements"], "requirement_id"),
                    "constraint_results": judged(&spec["constraints"], "constraint_id"),
                })
            }
        }
        .to_string()
    }
}

const COMMANDS: [&str; 7] = [
    "make test",
    "ls -la",
    "git push",
    "rm -rf /",
    "cargo build",
    "curl https://example.com",
    "git status",
];

fn agent(tool: &str, dice: &mut Dice) -> AgentCall {
    let number = u32::try_from(dice.between(1, 4)).unwrap_or(1);
    match tool {
        "spawn_agent" => AgentCall::Spawn(Box::new(Spawn {
            task: "look around".to_owned(),
            model: None,
            scope: None,
            max_turns: dice.chance(30).then_some(2),
            change: None,
        })),
        "send_input" => AgentCall::SendInput { agent: number, text: "go on".to_owned() },
        "wait" => AgentCall::Wait { agents: vec![number] },
        _ => AgentCall::Close { agent: number },
    }
}

/// Up to five tasks, each of which may depend on earlier ones; sometimes an invalid plan.
fn plan(dice: &mut Dice, open: bool) -> Value {
    if dice.chance(6) {
        return json!({ "plan_id": "plan_0001", "tasks": [] });
    }
    let tasks: Vec<Value> = (1..=dice.between(1, 5))
        .map(|number| {
            let place = dice.pick(&["src/a.rs", "src/b.rs", "greeting.txt", "src/c.rs", "docs/x.md"]);
            let mut task = json!({ "id": format!("T{number}"), "title": format!("Do {number}"), "artifacts": [place] });
            if open {
                let needs = (1..number).filter(|_| dice.chance(30)).map(|before| format!("T{before}"));
                task["depends_on"] = needs.collect::<Vec<_>>().into();
                if dice.chance(30) {
                    task["checks"] = json!([{ "name": "own", "command": "make own" }]);
                }
                if dice.chance(30) {
                    task["estimate_tokens"] = dice.between(2_000, 60_000).into();
                }
            } else {
                (task["rationale"], task["acceptance"]) = ("wanted".into(), "it is there".into());
            }
            task
        })
        .collect();
    if open { json!({ "tasks": tasks }) } else { json!({ "plan_id": "plan_0001", "tasks": tasks }) }
}
