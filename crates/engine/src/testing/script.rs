//! Inputs from short lines, such as `T1.1 hands in src/a.rs` or `model calls read_file a.rs + submit`. An unreadable
//! line fails the test.

use serde_json::{Value, json};
use types::{
    Asking, Attack, AttemptEnd, AttemptId, AttemptResult, Changes, CheckEnd, CheckId, Command,
    CommitId, Decision, Digest, Effect, EffectId, Ended, Fault, FaultClass, FileChange, Findings,
    Input, IsolationLevel, MergeEnd, Millis, Outcome, Proof, Sealed, Shortage, Shown, Spend,
    Subject, TaskId, TimerId, ToolOutput, Usage,
};

use super::{begin, request, survey, talk};

/// The input that a line describes; `asked` are the pending effects.
pub(crate) fn input(line: &str, asked: &[Effect]) -> Input {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    match first {
        "begin" => begin(request(rest), survey()),
        "woke" => Input::Woke { workspace: Some("M src/a.rs".to_owned()), recovered: vec![] },
        "due" => Input::Due,
        "isolation" => Input::Outcome(EffectId::Probe, Outcome::Probed(isolation(rest))),
        "cancel" => Input::Command(Command::Cancel {
            by: "ann".to_owned(),
            reason: "changed my mind".to_owned(),
        }),
        "answer" => {
            let (question, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let question = question.parse().expect("the number of a question");
            Input::Command(Command::Answer {
                by: "ann".to_owned(),
                question,
                text: text.to_owned(),
            })
        }
        "submit" | "steer" | "follow_up" => {
            let how = serde_json::from_value(first.into()).expect("a way to tell");
            let (by, text) = ("ann".to_owned(), rest.to_owned());
            Input::Command(Command::Tell { how, by, text, images: vec![] })
        }
        "interrupt" => {
            let said = Some(rest.to_owned()).filter(|said| !said.is_empty());
            Input::Command(Command::Interrupt { by: "ann".to_owned(), said })
        }
        "go_on" => Input::Command(Command::GoOn { by: "ann".to_owned() }),
        "compact" => Input::Command(Command::Compact { by: "ann".to_owned() }),
        "change" => {
            let change = serde_json::from_str(rest).expect("a change as JSON");
            Input::Command(Command::Change { change })
        }
        "time" => time_is_up(rest, asked),
        "check" => check(rest),
        "merge" => merge(rest),
        "timer" => {
            let timer = match rest.strip_suffix(" fires").expect("a timer fires") {
                "deadline" => TimerId::Deadline,
                "model" => the_wait(asked),
                question if question.parse::<u32>().is_ok() => {
                    TimerId::Question(question.parse().expect("a number"))
                }
                task => TimerId::Retry(task.parse().expect("a task")),
            };
            Input::Outcome(EffectId::Timer(timer), Outcome::Fired)
        }
        "model" => Input::Outcome(talk::the_turn(asked), talk::said(rest)),
        "agent" => {
            let (session, rest) = rest.split_once(' ').expect("an agent and what it says");
            let session = types::SessionId(session.parse().expect("the number of an agent"));
            Input::Outcome(talk::the_turn_of(session, asked), talk::said(rest))
        }
        "tool" => tool(rest, asked),
        "seal" => seal(rest),
        _ => attempt(first.parse().expect("a line begins with what it is about"), rest),
    }
}

/// The delay before a model request is repeated.
fn the_wait(asked: &[Effect]) -> TimerId {
    let waits = asked.iter().find_map(|effect| match effect {
        Effect::Wait { timer: timer @ TimerId::Model(..), .. } => Some(timer.clone()),
        _ => None,
    });
    waits.expect("the model is waited for")
}

/// The timeout of a conversation's input.
fn time_is_up(session: &str, asked: &[Effect]) -> Input {
    let session = types::SessionId(session.parse().expect("a session"));
    let input = |effect: &Effect| match effect {
        Effect::Wait { timer: timer @ TimerId::Session(id, _), .. } if *id == session => {
            Some(timer.clone())
        }
        _ => None,
    };
    let timer = asked.iter().find_map(input).expect("its time is running");
    Input::Outcome(EffectId::Timer(timer), Outcome::Fired)
}

/// `full`, `landlock` or `none`: a probe result of that level.
pub(crate) fn isolation(level: &str) -> Proof {
    let level = serde_json::from_value(level.into()).expect("a level");
    let attack = |what: &str, through: Option<&str>| Attack {
        what: what.to_owned(),
        through: through.map(str::to_owned),
    };
    let outside = attack("write outside", None);
    match level {
        IsolationLevel::Full => Proof { level, attacks: vec![outside], missing: vec![] },
        IsolationLevel::Landlock => Proof {
            level,
            attacks: vec![outside, attack("see other processes", Some("saw 7"))],
            missing: vec!["no user namespaces".to_owned()],
        },
        IsolationLevel::None => Proof::nothing("there is no Landlock"),
    }
}

/// `T1 src/a.rs; T2 src/b.rs,docs/ after T1` as a planner's submission.
pub(crate) fn plan(text: &str) -> Value {
    let task = |text: &str| {
        let (text, after) = text.split_once(" after ").unwrap_or((text, ""));
        let (id, artifacts) = text.trim().split_once(' ').expect("a task and its artifacts");
        let list = |of: &str| {
            of.split(',').map(str::trim).filter(|x| !x.is_empty()).map(Value::from).collect()
        };
        let (artifacts, after): (Vec<Value>, Vec<Value>) = (list(artifacts), list(after));
        json!({"id": id, "title": format!("Do {id}"), "artifacts": artifacts, "depends_on": after})
    };
    json!({"tasks": text.split(';').map(task).collect::<Vec<_>>()})
}

/// A submission of an attempt.
pub(crate) fn submission(attempt: &str, submission: Value) -> Input {
    ended(attempt.parse().expect("an attempt"), submitted(attempt, Changes::default(), submission))
}

/// A submission of an attempt with changed files.
pub(crate) fn handed_in(attempt: &str, files: &str, submission: Value) -> Input {
    let result = submitted(attempt, changes(files), submission);
    ended(attempt.parse().expect("an attempt"), result)
}

fn submitted(attempt: &str, changes: Changes, submission: Value) -> AttemptResult {
    AttemptResult::Submitted {
        commit: CommitId(format!("c-{attempt}")),
        changes,
        submission,
        findings: Findings::default(),
    }
}

fn attempt(attempt: AttemptId, what: &str) -> Input {
    let name = attempt.to_string();
    let result = match what.split_once(' ').unwrap_or((what, "")) {
        ("plans", tasks) => submitted(&name, Changes::default(), plan(tasks)),
        ("hands", files) => {
            let files = files.strip_prefix("in").expect("an attempt hands in");
            let result = submitted(&name, changes(files), json!({"summary": "done"}));
            with_findings(result, files)
        }
        ("fails", fault) => {
            let commit = Some(CommitId(format!("c-{name}")));
            AttemptResult::Failed { fault: self::fault(fault), commit }
        }
        ("is", "cancelled") => AttemptResult::Cancelled,
        ("asks", question) => {
            let (question, text) = question.split_once(' ').expect("a number and a text");
            let question = question.parse().expect("the number of a question");
            let decision = Decision::new(types::RuleId::fixed("mine.rule"), "because");
            let asking =
                Asking { question, text: text.to_owned(), decision, files: vec![], terms: None };
            return Input::Outcome(EffectId::Attempt(attempt), Outcome::Asked(Box::new(asking)));
        }
        ("spent", rest) => {
            let (spent, wanted) = rest.split_once(" and wants ").expect("what it wants");
            let tokens = |text: &str| text.parse::<u64>().expect("tokens");
            let spend = |tokens| Spend { tokens, calls: 1, ..Spend::default() };
            let (spent, wanted) = (spend(tokens(spent)), spend(tokens(wanted)));
            let short = Shortage { wanted, spent, what: "the next call does not fit".to_owned() };
            return Input::Outcome(EffectId::Attempt(attempt), Outcome::Short(Box::new(short)));
        }
        ("breaks", _) => {
            let fault = Fault::structural("attempt.broke", "the attempt broke down");
            return Input::Outcome(EffectId::Attempt(attempt), Outcome::Broke(fault));
        }
        _ => panic!("an attempt cannot {what:?}"),
    };
    ended(attempt, result)
}

fn ended(attempt: AttemptId, result: AttemptResult) -> Input {
    let spent = Spend { tokens: 1_000, calls: 2, ..Spend::default() };
    let usage = Usage { input: 900, output: 100, ..Usage::default() };
    let (log_head, denied) = (Digest::ZERO, vec![]);
    let end = AttemptEnd { result, spent, usage, turns: 2, log_head, denied };
    Input::Outcome(EffectId::Attempt(attempt), Outcome::Attempt(Box::new(end)))
}

/// `a +b -c !early_exit`: changed, added, deleted; findings in the first of them.
pub(super) fn changes(files: &str) -> Changes {
    let change = |word: &str| {
        let (how, path) = match word.split_at(1) {
            ("+", path) => (types::ChangeKind::Added, path),
            ("-", path) => (types::ChangeKind::Deleted, path),
            _ => (types::ChangeKind::Modified, word),
        };
        FileChange {
            path: path.parse().expect("a path"),
            added: 1,
            removed: 0,
            how,
            only_comments: false,
        }
    };
    Changes(files.split_whitespace().filter(|word| !word.starts_with('!')).map(change).collect())
}

fn with_findings(mut result: AttemptResult, files: &str) -> AttemptResult {
    if let AttemptResult::Submitted { findings, changes, .. } = &mut result {
        for kind in files.split_whitespace().filter_map(|word| word.strip_prefix('!')) {
            let kind = serde_json::from_value(kind.into()).expect("a kind of finding");
            let path = changes.0[0].path.clone();
            findings.0.push(types::Finding { kind, path, line: "the line".to_owned() });
        }
    }
    result
}

/// `structural session.no_submission`
fn fault(text: &str) -> Fault {
    let (class, code) = text.split_once(' ').expect("a class and a code");
    let class: FaultClass = serde_json::from_value(class.into()).expect("a class of faults");
    Fault::new(class, code, format!("{code} happened"))
}

/// `old:T1.1`, `new:T1.1`, `altered:T1.1`
fn trial_of(on: &str) -> Option<Subject> {
    let (trial, attempt) = on.split_once(':')?;
    let trial = match trial {
        "old" => types::Trial::BaseTests,
        "new" => types::Trial::NewTests,
        "altered" => types::Trial::Altered,
        "mutated" => types::Trial::Mutated,
        "moved" => types::Trial::Moved,
        "others_without" => types::Trial::OthersWithout,
        "others" => types::Trial::Others,
        "others_altered" => types::Trial::OthersAltered,
        _ => return None,
    };
    Some(Subject::Trial { attempt: attempt.parse().expect("an attempt"), trial })
}

/// Other facts of a check: `passed=3 failing=a,b mended=1 lost=c unnoticed=d rewrote=e lacks=f incomplete quiet untried
/// cannot offline`.
fn seen(mut end: CheckEnd, text: &str) -> CheckEnd {
    let names = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<String>>();
    let mut tests =
        types::Tests { runner: "runner".to_owned(), complete: true, ..Default::default() };
    let mut reported = false;
    for word in text.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "passed" => tests.passed = value.parse().expect("a number"),
            "failing" => {
                tests.failing = names(value);
                tests.failed = tests.failing.len() as u32;
            }
            "mended" => tests.mended = value.parse().expect("a number"),
            "lost" => tests.lost = names(value),
            "won" => tests.won = names(value),
            "listed" => {
                tests.all = Some(types::BlobRef { digest: types::Digest::ZERO, bytes: 1 });
            }
            "excused" => tests.excused = names(value),
            "incomplete" => tests.complete = false,
            "quiet" => (tests.complete, tests.quiet) = (false, true),
            "unnoticed" => end.unnoticed = names(value),
            "noticed" => end.noticed = names(value),
            "moved" => end.moved = names(value),
            "ordered" => end.ordered = names(value),
            "cold" => end.cold = true,
            "narrowed" => end.narrowed = true,
            "says" => value.clone_into(&mut end.output.text),
            "rewrote" => end.rewrote = vec![value.parse().expect("a path")],
            "untried" => end.untried = Some("nothing to try".to_owned()),
            "cannot" => end.cannot_run = Some("make is not installed".to_owned()),
            "offline" => {
                end.cannot_run = Some("cannot download: checks have no network access".to_owned());
            }
            "lacks" => {
                end.cannot_run = Some(format!("the command {value} is not found (exit 127)"));
            }
            "leftout" => end.left_out = names(value),
            other => panic!("{other} is nothing that is seen of a check"),
        }
        reported |= ["passed", "failing", "mended", "lost", "excused", "incomplete"].contains(&key);
    }
    end.tests = reported.then(|| Box::new(tests));
    end
}

/// `T1.1/0 exits 1`, `T1.1/0 took 3`, `T1.1/0 hangs`, `merged/0 breaks`
fn check(text: &str) -> Input {
    let (check, what) = text.split_once(' ').expect("a check and what it did");
    let (on, index) = check.split_once('/').expect("where the check is and its number");
    let on = match on {
        "merged" => Subject::Merged,
        "with_tests" => Subject::WithTests,
        "base" => Subject::Base,
        other if other.starts_with("without:") => {
            Subject::Without(other["without:".len()..].parse().expect("a task"))
        }
        other if trial_of(other).is_some() => trial_of(other).expect("a trial"),
        landed if landed.starts_with("landed:") => {
            Subject::Landed(landed["landed:".len()..].parse().expect("an attempt"))
        }
        attempt => Subject::Attempt(attempt.parse().expect("an attempt")),
    };
    let check = CheckId { on, index: index.parse().expect("a number") };
    let outcome = match what.split_once(' ') {
        Some(("exits", code)) => {
            let (code, more) = code.split_once(' ').unwrap_or((code, ""));
            let ended = Ended::Exited(code.parse().expect("an exit code"));
            let output = Shown { text: format!("exited with {code}"), ..Shown::default() };
            Outcome::Check(Box::new(seen(CheckEnd::new(ended, output, Millis(7)), more)))
        }
        Some(("took", time)) => {
            let elapsed = Millis::seconds(time.parse().expect("seconds"));
            let end = CheckEnd::new(Ended::Exited(0), Shown::default(), elapsed);
            Outcome::Check(Box::new(seen(end, "passed=1")))
        }
        _ if what == "hangs" => {
            let output = Shown { text: "waiting".to_owned(), ..Shown::default() };
            Outcome::Check(Box::new(CheckEnd::new(Ended::TimedOut, output, Millis(7))))
        }
        _ if what == "unsafe" => Outcome::Broke(not_safe()),
        _ => Outcome::Broke(Fault::structural("check.broke", "no such folder")),
    };
    Input::Outcome(EffectId::Check(check), outcome)
}

/// `T1 lands`, `T1 lands without src/a.rs`, `T1 conflicts`, `T1 breaks`
fn merge(text: &str) -> Input {
    let mut words = text.split_whitespace();
    let task: TaskId = words.next().expect("a task").parse().expect("a task");
    let commit = CommitId(format!("m-{task}"));
    let outcome = match words.next() {
        Some("lands") => {
            let missing = words.skip(1).map(|path| path.parse().expect("an artifact")).collect();
            Outcome::Merge(MergeEnd::Merged { commit, changes: changes("src/a.rs"), missing })
        }
        Some("conflicts") => Outcome::Merge(MergeEnd::Conflict {
            paths: vec!["src/a.rs".to_owned()],
            hunks: "<<<<<<< the branch\nold\n=======\nnew\n>>>>>>> this task".to_owned(),
        }),
        _ => Outcome::Broke(Fault::structural("merge.broke", "git is not there")),
    };
    Input::Outcome(EffectId::Merge(task), outcome)
}

/// The fault of a sandbox weaker than recorded.
fn not_safe() -> Fault {
    Fault::new(types::FaultClass::Safety, "sandbox.weaker", "the sandbox is weaker than before")
}

/// `c0 ok`, `c1 error`, `c0 breaks`, `c0 unsafe`, for a call of the current turn.
fn tool(text: &str, asked: &[Effect]) -> Input {
    let (call, what) = text.split_once(' ').expect("a call and what came of it");
    let index: u32 = call.trim_start_matches('c').parse().expect("the number of a call");
    let call = asked.iter().find_map(|effect| match effect {
        Effect::RunTool { call, .. } if call.index == index => Some(*call),
        _ => None,
    });
    let outcome = match what {
        "ok" => Outcome::Tool(ToolOutput::ok("done")),
        "error" => Outcome::Tool(ToolOutput::error("it did not work")),
        "unsafe" => Outcome::Broke(not_safe()),
        _ => Outcome::Broke(Fault::structural("tool.broke", "the tool broke down")),
    };
    Input::Outcome(EffectId::Tool(call.expect("the call has begun")), outcome)
}

fn seal(text: &str) -> Input {
    let sealed = match text {
        "ok" => Ok(Sealed {
            commit: CommitId("sealed".to_owned()),
            changes: changes("src/a.rs"),
            findings: Findings::default(),
        }),
        _ => Err(Fault::structural("seal.broke", "the disk is full")),
    };
    Input::Outcome(EffectId::Seal, Outcome::Sealed(sealed))
}
