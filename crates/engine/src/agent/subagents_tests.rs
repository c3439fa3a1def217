//! Sub-agents and the context window, step by step, with a simulated model.

use types::{Budget, CallOutcome, Effect, Input, Message, Outcome, Part, SessionState};

use super::Attempt;
use super::session_tests::{open_brief, opened, policy};
use super::tests::results;
use crate::testing::talk::{said, the_turn};
use crate::testing::{Bench, only, render, same};

fn open() -> Bench<Attempt> {
    opened(policy(), open_brief())
}

/// The text of the last results.
fn last_results(bench: &Bench<Attempt>) -> String {
    let last = bench.machine.history().iter().rev().find_map(|message| match &**message {
        Message::Results { results } => Some(format!("{results:?}")),
        _ => None,
    });
    last.expect("results")
}

/// A36, A38, A41, A83: several at once, each with its own history; waiting returns their last messages.
#[test]
fn agents_work_at_the_same_time_and_the_parent_gets_their_last_words() {
    let mut bench = open();
    bench.tell("submit go");
    same(
        &bench.tell("model calls spawn_agent look at a + spawn_agent look at b"),
        "model.replied t1
         tool.started s1.t1.c0 spawn_agent permit.agents
         session.started s2 by s1.t1.c0
         tool.finished s1.t1.c0 ok
         tool.started s1.t1.c1 spawn_agent permit.agents
         session.started s3 by s1.t1.c1
         tool.finished s1.t1.c1 ok
         model.asked t2
         model.asked s2.t1
         model.asked s3.t1",
    );
    let asked = bench.asked();
    let models = asked.iter().filter(|effect| matches!(effect, Effect::AskModel { .. }));
    assert_eq!(models.count(), 3);
    bench.tell("model calls wait");
    same(
        &bench.tell("agent 3 calls read_file b"),
        "model.replied s3.t1\ntool.started s3.t1.c0 read_file permit.read",
    );
    same(&bench.tell("agent 2 says A is fine."), "model.replied s2.t1");
    bench.tell("tool c0 ok");
    same(
        &bench.tell("agent 3 says B is broken."),
        "model.replied s3.t2\ntool.finished s1.t2.c0 ok\nmodel.asked t3",
    );
    let told = last_results(&bench);
    for words in ["A is fine.", "B is broken.", "turnsUsed\\\": 2", "success\\\": true"] {
        assert!(told.contains(words), "{words} in {told}");
    }
    assert_eq!(bench.machine.view().expect("a view").agents.len(), 2);
    results(&bench.machine);
}

/// A38: input to an agent makes it continue, and steers it while it works.
#[test]
fn an_agent_can_be_told_more() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls spawn_agent look\nagent 2 says done");
    same(
        &only(&bench.tell("model calls send_input 2 once more"), &["session", "model.asked s2"]),
        "session.told s2 Submit once more\nmodel.asked s2.t2",
    );
    same(
        &only(&bench.tell("model calls send_input 2 and c"), &["session"]),
        "session.told s2 Steer and c",
    );
}

/// An agent uses its parent's model and tools, or the named model with that model's tools.
#[test]
fn an_agent_uses_its_parents_model_or_the_one_that_was_named() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls spawn_agent look");
    let outcome = said("calls spawn_agent look elsewhere");
    let Outcome::Model(Ok(mut replied)) = outcome else { panic!("a reply") };
    let types::Inspection::Would(facts) = &mut replied.inspections[0] else { panic!("facts") };
    let Some(types::AgentCall::Spawn(spawn)) = &mut facts.agent else { panic!("a spawn") };
    spawn.change = Some(types::SessionChange {
        model: Some("other/one".parse().expect("a model")),
        tools: Some(vec!["read_file".to_owned()]),
        ..types::SessionChange::default()
    });
    let turn = the_turn(&bench.asked());
    bench.send(&Input::Outcome(turn, Outcome::Model(Ok(replied))));
    let asked: Vec<(u32, String)> = bench
        .asked()
        .iter()
        .filter_map(|effect| match effect {
            Effect::AskModel { request } => {
                Some((request.origin.session.0, request.model.to_string()))
            }
            _ => None,
        })
        .collect();
    assert!(asked.contains(&(2, "fake/model".to_owned())), "{asked:?}");
    assert!(asked.contains(&(3, "other/one".to_owned())), "{asked:?}");
    same(
        &only(&bench.tell("agent 3 calls write_file src/a.rs"), &["tool"]),
        "tool.refused s3.t1.c0 write_file refused, permit.not_the_roles_tool",
    );
}

/// A role's contract is for its own reply; replies of its agents are returned, and nothing is written for them.
#[test]
fn an_agent_is_not_held_to_its_parents_contract() {
    let rule =
        types::ReplyRule { contract: types::Contract::Edits, reading: types::Strictness::Strict };
    let path: types::WorkPath = "src/a.rs".parse().expect("a path");
    let files = vec![types::Document { path: path.clone(), text: "a".to_owned() }];
    let brief = types::Brief { reply: Some(rule), shows: vec![path], files, ..open_brief() };
    let mut bench = opened(policy(), brief);
    bench.tell("submit go\nmodel calls spawn_agent look");
    let edits = r#"{"edits":[{"path":"src/a.rs","content":"x"}]}"#;
    same(&bench.tell(&format!("agent 2 says {edits}")), "model.replied s2.t1");
    let given = bench.log.iter().find_map(|(event, _)| match event {
        types::Event::SessionStarted { brief, parent: Some(_), .. } => Some(brief),
        _ => None,
    });
    assert!(given.is_some_and(|brief| brief.shows.is_empty() && brief.files.is_empty()));
}

/// A39: a closed agent ends, regardless of its activity.
#[test]
fn an_agent_can_be_closed_while_it_works() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls spawn_agent look\nagent 2 calls shell make");
    same(
        &only(&bench.tell("model calls close_agent 2"), &["session", "tool.finished"]),
        "session.ended s2 closed\ntool.finished s1.t2.c0 ok",
    );
    let running = bench.asked().into_iter().any(|e| matches!(e, Effect::RunTool { .. }));
    assert!(!running, "its command is not wanted any more");
    same(
        &only(&bench.tell("model calls send_input 2 hello + close_agent 9"), &["tool"]),
        "tool.refused s1.t3.c0 send_input error, session.no_such_agent
         tool.refused s1.t3.c1 close_agent error, session.no_such_agent",
    );
}

/// C60, A40: agents of agents are refused beyond the depth that the policy allows.
#[test]
fn an_agent_may_not_start_agents_beyond_the_depth() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls spawn_agent look");
    same(
        &only(&bench.tell("agent 2 calls spawn_agent deeper"), &["tool"]),
        "tool.refused s2.t1.c0 spawn_agent error, session.agent_limit",
    );
    let mut policy = policy();
    policy.session.max_agents = 1;
    let mut bench = opened(policy, open_brief());
    bench.tell("submit go\nmodel calls spawn_agent one");
    same(
        &only(&bench.tell("model calls spawn_agent two"), &["tool"]),
        "tool.refused s1.t2.c0 spawn_agent error, session.agent_limit",
    );
}

/// An agent's scope is never wider than its parent's; the refusal is recorded.
#[test]
fn an_agent_may_not_write_where_its_parent_may_not() {
    let scope = types::Scope(vec!["src/".parse().expect("a place")]);
    let mut bench = opened(policy(), types::Brief { scope, ..open_brief() });
    bench.tell("submit go");
    let Outcome::Model(Ok(mut replied)) = said("calls spawn_agent look") else { panic!("a reply") };
    let types::Inspection::Would(facts) = &mut replied.inspections[0] else { panic!("facts") };
    let Some(types::AgentCall::Spawn(spawn)) = &mut facts.agent else { panic!("a spawn") };
    spawn.scope = Some(types::Scope(vec![types::Artifact::everything()]));
    let turn = the_turn(&bench.asked());
    let events = bench.send(&Input::Outcome(turn, Outcome::Model(Ok(replied))));
    same(
        &only(&crate::testing::render(&events), &["tool", "session"]),
        "tool.refused s1.t1.c0 spawn_agent error, session.agent_limit",
    );
}

/// A83: waiting ends because every agent does: here by timeout.
#[test]
fn an_agent_that_never_ends_is_ended_by_the_clock() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls spawn_agent forever\nmodel calls wait");
    bench.now = bench.now.after(policy().session.agent_time_ms);
    same(
        &bench.tell("time 2"),
        "session.ended s2 failed\ntool.finished s1.t2.c0 ok\nmodel.asked t3",
    );
    assert!(last_results(&bench).contains("success\\\": false"));
}

#[test]
fn an_agent_spends_only_its_share_and_that_of_its_parent() {
    let budget = Budget { tokens: Some(100_000), ..Budget::default() };
    let mut bench = opened(policy(), types::Brief { budget, ..open_brief() });
    bench.tell("submit go\nmodel calls spawn_agent look");
    let share = bench.log.iter().find_map(|(event, _)| match event {
        types::Event::SessionStarted { brief, parent: Some(_), .. } => brief.budget.tokens,
        _ => None,
    });
    assert!(share.is_some_and(|tokens| tokens <= 25_000), "{share:?}");
    bench.tell("agent 2 says done");
    let spent = bench.machine.view().expect("a view").spent;
    assert_eq!((spent.tokens, spent.calls), (240, 2));
}

#[test]
fn an_interrupt_and_the_end_reach_the_agents_too() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls spawn_agent look\nmodel calls wait");
    same(
        &bench.tell("interrupt"),
        "session.paused s2 session.interrupted by person:ann
         session.paused s1 session.interrupted by person:ann",
    );
    assert!(bench.asked().is_empty() && bench.machine.state() == SessionState::Idle);
    assert_eq!(results(&bench.machine).last().map(|r| r.1), Some(CallOutcome::Unknown));
    same(&bench.tell("cancel"), "session.ended s2 closed\nsession.ended closed");
}

fn narrow(window: u64) -> Bench<Attempt> {
    let brief = types::Brief { window: Some(window), ..open_brief() };
    opened(policy(), brief)
}

/// Reads a file with content of this length.
fn reads(bench: &mut Bench<Attempt>, file: &str, chars: usize) -> String {
    let turn = the_turn(&bench.asked());
    let Outcome::Model(Ok(mut replied)) = said(&format!("calls read_file {file}")) else {
        panic!("a reply")
    };
    // A provider without counts: usage is estimated.
    replied.reply.usage = types::Usage::default();
    let events = bench.send(&Input::Outcome(turn, Outcome::Model(Ok(replied))));
    let mut said = render(&events);
    let id = bench.asked().into_iter().find(|e| matches!(e, Effect::RunTool { .. }));
    let output = types::ToolOutput::ok("x".repeat(chars));
    let input = Input::Outcome(id.expect("a call").id(), Outcome::Tool(output));
    said.push('\n');
    said += &render(&bench.send(&input));
    said
}

/// A59: at 80 % there is one warning.
#[test]
fn a_window_that_fills_up_is_warned_of_once() {
    let mut bench = narrow(1_000);
    bench.tell("submit go");
    let said = reads(&mut bench, "a", 3_200);
    same(&only(&said, &["session"]), "session.warned s1 context.warn");
    let said = bench.tell("model says ok\nsubmit more");
    assert!(!said.contains("session.warned"), "{said}");
}

/// Old outputs are dropped first, then summarised; the goal, the files and the last rounds stay.
#[test]
fn room_is_made_by_trimming_and_then_by_a_summary() {
    let mut bench = narrow(2_000);
    bench.tell("submit find the bug in a");
    let mut said = String::new();
    for file in ["a", "b", "c", "d", "e", "f"] {
        if said.contains("for a summary") {
            break;
        }
        said += &reads(&mut bench, file, 2_000);
        said.push('\n');
    }
    let kinds = only(&said, &["session.compacted", "model.asked t5", "model.asked t6"]);
    assert!(kinds.contains("session.compacted s1 trimmed context.compact"), "{said}");
    assert!(said.contains("for a summary"), "{said}");
    let asked = bench.asked();
    let Some(Effect::AskModel { request }) = asked.first() else { panic!("it is asked") };
    assert_eq!(request.options.tool_choice, types::ToolChoice::None);
    same(
        &only(&bench.tell("model says Decided: it is in b."), &["session.compacted"]),
        "session.compacted s1 summarised context.summarised",
    );
    let history = bench.machine.history();
    let Message::User { parts } = &*history[0] else { panic!("the summary comes first") };
    let Part::Text { text } = &parts[0] else { panic!("a text") };
    for words in ["find the bug in a", "Decided: it is in b."] {
        assert!(text.contains(words), "{text}");
    }
    assert!(matches!(&*history[1], Message::Assistant { .. }));
    results(&bench.machine);
}

/// A58: a request too long for the model is fixed once by compaction, without a summary.
#[test]
fn a_model_that_takes_less_than_we_thought_is_sent_less_once() {
    let mut bench = open();
    bench.tell("submit go");
    for file in ["a", "b", "c", "d", "e"] {
        reads(&mut bench, file, 90);
    }
    let before = bench.machine.history().len();
    same(
        &bench.tell("model is_told model.context_too_long"),
        "model.failed t6\nsession.compacted s1 dropped context.too_long\nmodel.asked t7",
    );
    assert!(bench.machine.history().len() < before);
    same(
        &bench.tell("model is_told model.context_too_long"),
        "model.failed t7\nsession.paused s1 session.model_failed by engine",
    );
    results(&bench.machine);
    let mut policy = policy();
    policy.session.compact = false;
    let mut bench = opened(policy, open_brief());
    bench.tell("submit go");
    same(
        &bench.tell("model is_told model.context_too_long"),
        "model.failed t1\nsession.paused s1 session.model_failed by engine",
    );
}

#[test]
fn room_can_be_made_by_hand_while_nothing_goes_on() {
    let mut bench = open();
    bench.tell("submit go");
    for file in ["a", "b", "c", "d", "e"] {
        reads(&mut bench, file, 50);
    }
    bench.tell("model says done");
    same(&bench.tell("compact"), "model.asked t7 for a summary");
    same(
        &bench.tell("model says All is well."),
        "model.replied t7\nsession.compacted s1 summarised context.summarised",
    );
    assert_eq!(bench.machine.state(), SessionState::Idle);
    same(
        &bench.tell("compact\nmodel fails"),
        "model.asked t8 for a summary\nmodel.failed t8\nsession.compacted s1 dropped context.no_summary",
    );
    assert_eq!(bench.machine.state(), SessionState::Idle);
    results(&bench.machine);
}
