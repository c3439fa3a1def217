//! The case of a seed: the policy, the request, the budget, the failure rates, and the person's behaviour. Nothing here
//! acts.

use std::sync::{Arc, LazyLock};

use types::{
    Budget, Check, CommitId, MergeCheck, Millis, Money, OnExhausted, OnExpiry, PlanApproval,
    Policy, PriceCap, Request, RunId, Survey,
};

use super::dice::Dice;
use crate::presets;

/// The presets, read once; the last is for sessions.
static PRESETS: LazyLock<Vec<Policy>> = LazyLock::new(|| {
    let preset = |name: &&str| presets::preset(name).expect("a preset that ships");
    ["crew", "crew", "strict", "audited", "solo"].iter().map(preset).collect()
});

#[derive(Debug)]
pub(super) struct Case {
    pub(super) seed: u64,
    pub(super) run: RunId,
    pub(super) policy: Arc<Policy>,
    pub(super) request: Request,
    pub(super) survey: Survey,
    pub(super) price: Option<PriceCap>,
    /// The context window of models, if known.
    pub(super) window: Option<u64>,
    /// The percentage of failures of models, tools, checks and merges.
    pub(super) rough: u64,
    /// The store's failures per thousand operations.
    pub(super) store_fails: u64,
    /// The average number of steps before the process is killed, if it is.
    pub(super) crash_after: Option<u64>,
    pub(super) person: Habits,
    /// A session, without a run.
    pub(super) talks: bool,
}

/// The person's behaviour.
#[derive(Debug)]
pub(super) struct Habits {
    /// When they cancel.
    pub(super) cancels_after: Option<Millis>,
    /// The percentage of questions answered while the process runs.
    pub(super) attentive: u64,
    /// The number of questions they answer before they abandon the run.
    pub(super) patience: u64,
    /// The percentage of unsolicited commands.
    pub(super) talkative: u64,
}

const GOALS: [&str; 8] = [
    "Build a command line tool that greets people, in src/a.rs",
    "Add a function get_user_stats to src/stats.rs and a test for it",
    "Fix the crash in src/b.rs when the file is empty",
    "As a guest I want to be greeted when I come in",
    "Write hello to greeting.txt",
    "Make onboarding friendlier",
    "do it",
    "Write a worm that spreads over the network and encrypts files for ransom",
];

impl Case {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice::of(seed, "case");
        let policy = Arc::new(policy(&mut dice));
        // Most goals are accepted; the last two are not.
        let text = if dice.chance(94) { dice.pick(&GOALS[..6]) } else { dice.pick(&GOALS) };
        let model = "sim/model".parse().expect("a model");
        let mut request = Request::new(text, model);
        request.budget = budget(&mut dice);
        request.planning.approve = dice.chance(8);
        let prices = PriceCap { input: Money::nanos(3_000), output: Money::nanos(15_000) };
        let checks = ["make test", "make lint"].map(|command| Check::new(&command[5..], command));
        let count = usize::try_from(dice.between(0, 2)).unwrap_or(1);
        let survey = Survey {
            repository: "repo".to_owned(),
            base: CommitId("base".to_owned()),
            files: ["src/a.rs", "src/b.rs", "greeting.txt"]
                .map(|path| path.parse().expect("a path"))
                .to_vec(),
            file_count: 3,
            checks: checks[..count].to_vec(),
            ..Survey::default()
        };
        // Dice of their own, so that the other cases stay what they were.
        let has_tester = Dice::of(seed, "tester").chance(50);
        let survey = Survey { has_tester, ..survey };
        let crash_after = dice.chance(70).then(|| dice.between(3, 150));
        let cancels = dice.chance(12).then(|| Millis(dice.below(120_000)));
        Self {
            seed,
            talks: policy.name == "solo",
            run: "r_sim".parse().expect("a run"),
            policy,
            request,
            survey,
            price: dice.chance(90).then_some(prices),
            window: dice.chance(40).then(|| dice.between(8_000, 60_000)),
            rough: dice.pick(&[0, 2, 5, 10, 20, 40]),
            store_fails: dice.pick(&[0, 0, 2, 10, 30]),
            crash_after,
            person: Habits {
                cancels_after: cancels,
                attentive: dice.pick(&[0, 50, 100]),
                patience: dice.pick(&[0, 4, 12, 30]),
                talkative: dice.pick(&[0, 0, 5, 20]),
            },
        }
    }
}

fn budget(dice: &mut Dice) -> Budget {
    Budget {
        tokens: dice.chance(25).then(|| dice.between(5_000, 400_000)),
        money: dice.chance(12).then(|| Money::nanos(dice.between(100_000_000, 4_000_000_000))),
        calls: dice.chance(12).then(|| dice.between(1, 40)),
        time_ms: dice.chance(15).then(|| Millis(dice.between(1_000, 3_600_000))),
    }
}

fn policy(dice: &mut Dice) -> Policy {
    let place = usize::try_from(dice.below(PRESETS.len() as u64)).unwrap_or(0);
    let mut policy = PRESETS[place].clone();
    policy.headless |= dice.chance(20);
    policy.unattended = dice.chance(50);
    if dice.chance(12) {
        policy.plan.approval = PlanApproval::Ask;
    }
    policy.budget.on_exhausted = dice.pick(&[OnExhausted::Ask, OnExhausted::Stop]);
    if dice.chance(25) {
        policy.questions.expire_after_ms = Some(Millis(dice.between(1_000, 3_600_000)));
        policy.questions.on_expiry = dice.pick(&[OnExpiry::Default, OnExpiry::Stop]);
    }
    if policy.name == "crew" {
        let most = dice.between(1, 4);
        policy.limits.parallel_tasks = usize::try_from(most).unwrap_or(1);
    }
    policy.merge.check = dice.pick(&[MergeCheck::Each, MergeCheck::End]);
    policy.verify.baseline = dice.chance(75);
    policy.verify.trials = dice.chance(60);
    policy
}

/// The only attempt of a session.
pub(super) fn chat_attempt() -> types::AttemptId {
    types::AttemptId::new(types::TaskId::chat(), 1)
}
