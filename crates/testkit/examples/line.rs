//! Benchmark of the coordinator, with an outside world that answers at once: scheduling a plan of ten thousand tasks to
//! its end, and the gates and the report of a run of a thousand (P55: none of it calls a model).

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]

use std::collections::BTreeSet;
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::export::{project_state, response};
use engine::{Machine as _, Run};
use serde_json::json;
use types::{
    AttemptEnd, AttemptResult, Begin, Brief, Changes, Check, CheckEnd, CommitId, Digest, Effect,
    EffectId, Ended, Envelope, Event, FileChange, Input, MergeEnd, Millis, Outcome, Policy, Proof,
    Request, RunId, Shown, Spend, Status, Survey, TaskId, TimerId, Timestamp, Usage,
};

const POLICY: &str = concat!(
    include_str!("../../../policies/requests.toml"),
    include_str!("../../../policies/crew.toml")
);
/// The time limit for each.
const MOST_GATE: Duration = Duration::from_millis(5);
const MOST_REPORT: Duration = Duration::from_millis(50);
const MOST_PLAN: Duration = Duration::from_secs(1);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let large = play(10_000)?;
    let small = play(1_000)?;
    let now = Timestamp::from_millis(2_000_000);
    let report = took(|| {
        let view = small.run.view(now);
        let object = response(&small.run, &small.lines, now);
        black_box((serde_json::to_string(&view), serde_json::to_string(&object)))
    });
    let state =
        took(|| black_box(serde_json::to_string(&project_state(&small.run, &small.lines, now))));
    let figures = [
        ("a gate, the slowest of a run of 1,000 tasks", small.gate, MOST_GATE),
        ("the report of a run of 1,000 tasks", report, MOST_REPORT),
        ("the state of a run of 1,000 tasks", state, MOST_REPORT),
        ("a plan of 10,000 tasks, scheduled to its end", large.whole, MOST_PLAN),
        ("a gate, the slowest of a run of 10,000 tasks", large.gate, MOST_GATE * 10),
    ];
    for (what, value, most) in figures {
        let verdict = if value <= most { "ok" } else { "MISSED" };
        println!("{what:<46} {value:>10.1?}  target {most:?}  {verdict}");
    }
    let events = large.lines.len();
    println!(
        "{:<46} {:>10.1?}  ({events} events)",
        "each event of the large run",
        large.whole / u32::try_from(events)?
    );
    println!("{:<46} {:>10.1?}", "its slowest answer to one input", large.slowest);
    let missed = figures.iter().any(|(_, value, most)| value > most);
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn took<T>(work: impl Fn() -> T) -> Duration {
    const ROUNDS: u32 = 5;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(work());
    }
    start.elapsed() / ROUNDS
}

/// A finished run, and the time that the engine took for it.
struct Played {
    run: Run,
    lines: Vec<Envelope>,
    whole: Duration,
    /// The longest decision about a gate.
    gate: Duration,
    slowest: Duration,
}

/// A run of this many tasks, every tenth of which depends on the one before it.
fn play(tasks: usize) -> Result<Played, Box<dyn Error>> {
    let mut policy: Policy = toml::from_str(POLICY)?;
    policy.limits.max_tasks = tasks;
    policy.budget = types::RunBudget::default();
    let id = RunId::fixed("r_bench");
    let mut played = Played {
        run: Run::new(id.clone(), Arc::new(policy)),
        lines: vec![],
        whole: Duration::ZERO,
        gate: Duration::ZERO,
        slowest: Duration::ZERO,
    };
    let check = Check::new("tests", "true");
    let request =
        Request { checks: vec![check], ..Request::new("Build a CLI", "bench/none".parse()?) };
    let survey = Survey { base: CommitId("base".to_owned()), ..Survey::default() };
    let begin = Begin { run: id, request, survey, policy: Digest::ZERO, price: None };
    played.take(&Input::Begin(Box::new(begin)));
    let mut under_way: BTreeSet<EffectId> = BTreeSet::new();
    let mut waiting = Vec::new();
    loop {
        let start = Instant::now();
        let effects = played.run.pending(&under_way);
        played.whole += start.elapsed();
        for effect in effects {
            let is_deadline = effect.id() == EffectId::Timer(TimerId::Deadline);
            under_way.insert(effect.id());
            waiting.extend((!is_deadline).then_some(effect));
        }
        let Some(effect) = waiting.pop() else { break };
        under_way.remove(&effect.id());
        let outcome = outcome(&effect, tasks)?;
        played.take(&Input::Outcome(effect.id(), outcome));
    }
    let view = played.run.view(Timestamp::default());
    if view.status != Status::Done {
        return Err(format!("the run ended as {:?}: {:?}", view.status, view.why).into());
    }
    Ok(played)
}

impl Played {
    /// Handles one input as the loop does, with timing.
    fn take(&mut self, input: &Input) {
        let at = Timestamp::from_millis(1_000_000);
        let begun = Instant::now();
        let mut input = input.clone();
        loop {
            let start = Instant::now();
            let events = self.run.decide(&input, at);
            let gate = |event: &Event| {
                matches!(event, Event::GatePassed { .. } | Event::GateBlocked { .. })
            };
            if events.iter().any(gate) {
                self.gate = self.gate.max(start.elapsed());
            }
            if events.is_empty() && input == Input::Due {
                break;
            }
            for event in events {
                self.run.apply(&event, at);
                self.lines.push(line(self.lines.len(), at, event));
            }
            input = Input::Due;
        }
        self.slowest = self.slowest.max(begun.elapsed());
        self.whole += begun.elapsed();
    }
}

fn line(before: usize, at: Timestamp, event: Event) -> Envelope {
    Envelope {
        v: Envelope::VERSION,
        seq: before as u64 + 1,
        at,
        run: RunId::fixed("r_bench"),
        attempt: None,
        by: event.by(),
        prev: Digest::ZERO,
        event,
    }
}

/// Everything succeeds at once.
fn outcome(effect: &Effect, tasks: usize) -> Result<Outcome, Box<dyn Error>> {
    Ok(match effect {
        Effect::Probe => {
            Outcome::Probed(Proof { level: types::IsolationLevel::Full, ..Proof::nothing("") })
        }
        Effect::RunAttempt { brief, .. } => attempt(brief, tasks)?,
        Effect::RunCheck { .. } => {
            let (ended, output) = (Ended::Exited(0), Shown::default());
            Outcome::Check(Box::new(CheckEnd::new(ended, output, Millis(1))))
        }
        Effect::Merge { task, artifacts, .. } => {
            let change = |path| FileChange {
                path,
                added: 1,
                removed: 0,
                how: types::ChangeKind::Modified,
                only_comments: false,
            };
            let changes = artifacts.iter().map(|artifact| change(artifact.path.clone()));
            Outcome::Merge(MergeEnd::Merged {
                commit: CommitId(format!("merged-{task}")),
                changes: Changes(changes.collect()),
                missing: vec![],
            })
        }
        _ => Outcome::Fired,
    })
}

fn attempt(brief: &Brief, tasks: usize) -> Result<Outcome, Box<dyn Error>> {
    let plans = brief.attempt.task == TaskId::plan();
    let change = |path| FileChange {
        path,
        added: 1,
        removed: 0,
        how: types::ChangeKind::Modified,
        only_comments: false,
    };
    let changes = brief.scope.0.iter().map(|artifact| change(artifact.path.clone()));
    let task = |n: usize| {
        let after =
            if n.is_multiple_of(10) && n > 0 { vec![format!("T{}", n - 1)] } else { vec![] };
        json!({ "id": format!("T{n}"), "title": format!("Piece {n}"), "artifacts": [format!("src/{n}.rs")],
            "depends_on": after })
    };
    let submission = if plans {
        json!({ "tasks": (0..tasks).map(task).collect::<Vec<_>>() })
    } else {
        json!({ "summary": "done" })
    };
    let result = AttemptResult::Submitted {
        commit: CommitId(format!("commit-{}", brief.attempt)),
        changes: if plans { Changes::default() } else { Changes(changes.collect()) },
        submission,
        findings: types::Findings::default(),
    };
    let spent = Spend { tokens: 100, calls: 1, ..Spend::default() };
    let usage = Usage { input: 80, output: 20, ..Usage::default() };
    let (log_head, denied) = (Digest::ZERO, vec![]);
    let end = AttemptEnd { result, spent, usage, turns: 1, log_head, denied };
    Ok(Outcome::Attempt(Box::new(end)))
}
