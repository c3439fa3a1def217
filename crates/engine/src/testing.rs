//! Shared test support of the engine: the crew's policy, a request, and a bench that works like the loop. Inputs and
//! events are short lines, so that tests are text in, text out.

mod dice;
pub(crate) mod drive;
pub(crate) mod noise;
mod render;
mod script;
pub(crate) mod talk;
pub(crate) mod world;

use std::sync::Arc;

use types::{
    Begin, Check, CommitId, Digest, Effect, EffectId, Envelope, Event, Input, Policy, Request,
    RunId, Survey, Timestamp,
};

use crate::{InFlight, Machine, Run};

pub(crate) use dice::Dice;
pub(crate) use render::render;
pub(crate) use samples::{audited, brief, crew, proving, request, strict};
pub(crate) use script::{handed_in, isolation, plan, submission};

/// A repository with one check of its own.
pub(crate) fn survey() -> Survey {
    Survey {
        repository: "repo".to_owned(),
        base: CommitId("base".to_owned()),
        checks: vec![check("tests", "make test")],
        ..Survey::default()
    }
}

pub(crate) fn check(name: &str, command: &str) -> Check {
    Check::new(name, command)
}

pub(crate) fn begin(request: Request, survey: Survey) -> Input {
    let run = "r_test".parse().expect("a run id");
    Input::Begin(Box::new(Begin { run, request, survey, policy: Digest::ZERO, price: None }))
}

/// Handles one input like the loop: decides, then decides due events until there are none.
pub(crate) fn settle(machine: &mut impl Machine, input: &Input, now: Timestamp) -> Vec<Event> {
    let mut all = Vec::new();
    let mut input = input.clone();
    for _ in 0..1_000 {
        let events = machine.decide(&input, now);
        if events.is_empty() && input == Input::Due {
            return all;
        }
        events.iter().for_each(|event| machine.apply(event, now));
        all.extend(events);
        input = Input::Due;
    }
    panic!("there is always something due; the last was {:?}", all.last());
}

/// A log after serializing and reading it back.
pub(crate) fn reread(log: &[(Event, Timestamp)]) -> Vec<(Event, Timestamp)> {
    let read = |(event, at): &(Event, Timestamp)| {
        let text = serde_json::to_string(event).expect("an event can be written");
        (serde_json::from_str(&text).expect("an event can be read"), *at)
    };
    log.iter().map(read).collect()
}

pub(crate) fn fold<M: Machine>(mut machine: M, log: &[(Event, Timestamp)]) -> M {
    log.iter().for_each(|(event, at)| machine.apply(event, *at));
    machine
}

/// A machine with its log and its clock.
#[derive(Debug, Clone)]
pub(crate) struct Bench<M> {
    pub(crate) machine: M,
    pub(crate) log: Vec<(Event, Timestamp)>,
    pub(crate) now: Timestamp,
    /// Whether the sandbox probe succeeds as soon as it is requested.
    pub(crate) walled: bool,
    /// The content of files that commands name, which are inspected as soon as requested.
    pub(crate) scripts: Option<&'static str>,
}

impl<M: Machine> Bench<M> {
    pub(crate) fn of(machine: M) -> Self {
        let (log, now) = (Vec::new(), Timestamp::from_millis(1_000_000));
        Self { machine, log, now, walled: true, scripts: Some("first") }
    }

    pub(crate) fn send(&mut self, input: &Input) -> Vec<Event> {
        let mut events = settle(&mut self.machine, input, self.now);
        self.log.extend(events.iter().map(|event| (event.clone(), self.now)));
        if self.walled && self.machine.awaits(&EffectId::Probe) {
            let held = Input::Outcome(EffectId::Probe, types::Outcome::Probed(isolation("full")));
            let probed = |event: &Event| matches!(event, Event::SandboxProbed { .. });
            events.extend(self.send(&held).into_iter().filter(|event| !probed(event)));
        }
        let looks = self.asked().into_iter().find_map(|effect| match effect {
            Effect::Look { call, words } => Some((call, words)),
            _ => None,
        });
        if let (Some((call, words)), Some(text)) = (looks, self.scripts) {
            let found = types::Outcome::Looked(talk::looked(&words, text));
            events.extend(self.send(&Input::Outcome(EffectId::Look(call), found)));
        }
        events
    }

    /// Sends the lines as inputs, and returns the resulting events.
    pub(crate) fn tell(&mut self, lines: &str) -> String {
        let mut events = Vec::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let input = script::input(line, &self.asked());
            if let Input::Outcome(id @ EffectId::Timer(_), _) = &input {
                self.wait_for(id);
            }
            events.extend(self.send(&input));
        }
        render(&events)
    }

    /// Its log as it would be stored, without the hash chain.
    pub(crate) fn lines(&self) -> Vec<Envelope> {
        let line = |((event, at), seq): (&(Event, Timestamp), u64)| Envelope {
            v: Envelope::VERSION,
            seq,
            at: *at,
            run: RunId::fixed("r_test"),
            attempt: None,
            by: event.by(),
            prev: Digest::ZERO,
            event: event.clone(),
        };
        self.log.iter().zip(1..).map(line).collect()
    }

    /// All effects that are pending or in flight.
    pub(crate) fn asked(&self) -> Vec<Effect> {
        self.machine.pending(&InFlight::new())
    }

    fn wait_for(&mut self, timer: &EffectId) {
        let wait = self.asked().into_iter().find(|effect| effect.id() == *timer);
        if let Some(Effect::Wait { until, .. }) = wait {
            self.now = self.now.max(until);
        }
    }
}

/// The first message to an attempt with a JSON contract.
pub(crate) fn told(bench: &Bench<Run>, attempt: &str) -> serde_json::Value {
    let brief = bench.asked().into_iter().find_map(|effect| match effect {
        types::Effect::RunAttempt { brief, .. } if brief.attempt.to_string() == attempt => {
            Some(brief)
        }
        _ => None,
    });
    serde_json::from_str(&brief.expect("it is under way").task).expect("one JSON object")
}

/// A run of the crew before its first event.
pub(crate) fn new_run() -> Bench<Run> {
    run_with(crew())
}

pub(crate) fn run_with(policy: Policy) -> Bench<Run> {
    Bench::of(Run::new("r_test".parse().expect("a run id"), Arc::new(policy)))
}

/// A run whose plan is adopted and whose first tasks have started.
pub(crate) fn planned(tasks: &str) -> Bench<Run> {
    planned_with(crew(), tasks)
}

pub(crate) fn planned_with(policy: Policy, tasks: &str) -> Bench<Run> {
    let mut bench = run_with(policy);
    let events = bench.tell(&format!("begin Build a CLI\nplan.1 plans {tasks}"));
    assert!(events.contains("plan.adopted"), "{events}");
    bench
}

/// Compares line by line, ignoring indentation.
#[track_caller]
pub(crate) fn same(actual: &str, expected: &str) {
    let plain = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    let (actual, expected) = (plain(actual), plain(expected));
    assert!(actual == expected, "expected:\n{expected}\n\ncame:\n{actual}\n");
}

/// Only the lines with one of these prefixes.
pub(crate) fn only(text: &str, beginnings: &[&str]) -> String {
    let wanted = |line: &&str| beginnings.iter().any(|beginning| line.starts_with(beginning));
    text.lines().filter(wanted).collect::<Vec<_>>().join("\n")
}
