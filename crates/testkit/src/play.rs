//! Plays a scenario: a real repository, real processes, a real journal, the scripted model and a virtual clock. It can
//! be played again with a power cut at a given point, and resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use futures::StreamExt as _;
use runtime::replay::{Torn, policy_digest, recorded_logs, replayed};
use runtime::sandbox::Repo;
use runtime::store::{Journal, SqliteJournal};
use runtime::{
    Acceptance, Bosun, Config, Error, Handle, Isolation, Left, ManualClock, Mix, NewRun, Order,
    Prompts, presets,
};
use serde_json::Value;
use types::{
    Attack, Command, CommitId, Envelope, IsolationLevel, LogId, Policy, Proof, Request, RunId,
    RunView, Settling, Status, Timestamp,
};

use crate::counted::{self, Executions, NeverEnds};
use crate::cut::{Cut, Cutting};
use crate::kept::{nothing_lost, nothing_twice};
use crate::points::Point;
use crate::scenario::Scenario;
use crate::trace::{starts_like, trace_line};

/// The start time of every scenario.
const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// A run left and resumed more often than this is a bug.
const MOST_ROUNDS: usize = 20;

/// The result of playing a scenario.
#[derive(Debug)]
pub struct Played {
    pub view: RunView,
    /// All recorded lines, attempt by attempt.
    pub lines: Vec<Envelope>,
    /// The actual executions, as tool and arguments; after a cut, only those after it.
    pub executed: Vec<String>,
    /// The files on the run's branch.
    pub files: BTreeMap<String, String>,
}

impl Played {
    /// The recorded events, one line each, without times.
    #[must_use]
    pub fn trace(&self) -> String {
        let lines = self.lines.iter();
        lines.map(|line| trace_line(line.attempt.as_ref(), &line.event) + "\n").collect()
    }
}

/// Plays a scenario to its end, including its own power cut if it has one.
pub async fn play(scenario: &Scenario) -> anyhow::Result<Played> {
    Box::pin(play_on(Stage::set(scenario).await?)).await
}

/// The same below a given folder, where a stage always has the same name: repeated plays are identical.
pub async fn play_below(scenario: &Scenario, folder: &Path) -> anyhow::Result<Played> {
    let stage = tempfile::Builder::new().prefix("stage").rand_bytes(0).tempdir_in(folder)?;
    Box::pin(play_on(Stage::set_in(scenario, stage).await?)).await
}

async fn play_on(stage: Stage<'_>) -> anyhow::Result<Played> {
    let scenario = stage.scenario;
    if let Some(line) = &scenario.cut_at {
        stage.die(vec![Cut::Like(line.clone())]).await?;
    }
    let view = stage.live(stage.journal.clone()).await?;
    let torn = if scenario.cut_at.is_some() { Torn::Allowed } else { Torn::Refused };
    stage.played(view, torn).await
}

/// Plays a scenario, cuts the power at a point, resumes, and checks the invariants of any cut: nothing recorded is
/// lost, and nothing finished is repeated.
pub async fn play_and_cut(scenario: &Scenario, at: &Point) -> anyhow::Result<Played> {
    let stage = Stage::set(scenario).await?;
    let point = Cut::At(at.clone());
    let story = scenario.cut_at.clone().map(Cut::Like);
    stage.die(story.into_iter().chain([point.clone()]).collect()).await?;
    if !stage.has(at).await? {
        // The scenario's own cut.
        stage.die(vec![point]).await?;
    } else if let Some(story) = &scenario.cut_at
        && scenario.walls_after_cut.is_some()
        && !stage.story_cut().await?
    {
        // The rest of the scenario depends on its own cut.
        stage.die(vec![Cut::Like(story.clone())]).await?;
    }
    let before = stage.recorded().await?;
    stage.forget_executions();
    let view = stage.live(stage.journal.clone()).await?;
    let played = stage.played(view, Torn::Allowed).await?;
    nothing_lost(&before, &played.lines)?;
    nothing_twice(&before, &played.lines, &played.executed)?;
    Ok(played)
}

/// The environment in which a scenario is played.
pub(crate) struct Stage<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) run: RunId,
    folder: tempfile::TempDir,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) executions: Executions,
}

impl<'a> Stage<'a> {
    pub(crate) async fn set(scenario: &'a Scenario) -> anyhow::Result<Self> {
        Self::set_in(scenario, tempfile::tempdir()?).await
    }

    async fn set_in(scenario: &'a Scenario, folder: tempfile::TempDir) -> anyhow::Result<Self> {
        let repository = folder.path().join("repo");
        std::fs::create_dir(&repository)?;
        for (name, text) in &scenario.files {
            let path = repository.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&repository))?;
            std::fs::write(path, text)?;
        }
        Repo::create(&repository, "Start\n", START).await?;
        let journal = SqliteJournal::open(&folder.path().join("home/journal.db")).await?;
        Ok(Self {
            scenario,
            run: RunId::fixed("r_story"),
            folder,
            journal: Arc::new(journal),
            executions: Executions::default(),
        })
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    pub(crate) fn bosun(
        &self,
        journal: Arc<dyn Journal>,
        isolation: IsolationLevel,
    ) -> anyhow::Result<Bosun> {
        let mut setup = Config::new(journal, self.folder.path().join("home"));
        setup.clock = Arc::new(ManualClock::at(START));
        let never_ends =
            NeverEnds { like: self.scenario.never_ends.clone(), clock: setup.clock.clone() };
        setup.registry = counted::standard(&self.executions, &never_ends)?;
        setup.order = Order::Started;
        setup.isolation = Isolation::Told(told(isolation));
        Ok(Bosun::new(setup))
    }

    /// Starts or resumes the run, and drives it to its end.
    async fn live(&self, journal: Arc<dyn Journal>) -> anyhow::Result<RunView> {
        let bosun = self.bosun(journal, self.isolation().await?)?;
        let begun = !self.read(&LogId::run(self.run.clone())).await?.is_empty();
        let handle = if begun {
            Box::pin(bosun.resume(&self.run)).await
        } else {
            Box::pin(bosun.start(self.new_run(&bosun).await?)).await
        };
        let view = match handle {
            Ok(handle) => self.stay(&bosun, handle).await?,
            Err(Error::Over { .. }) => bosun.view(&self.run).await?,
            Err(error) => return Err(error.into()),
        };
        let settles = self.scenario.settle.filter(|_| view.settled.is_none());
        let by = "person".to_owned();
        Ok(match settles {
            None => view,
            Some(Settling::Discarded) => bosun.discard(&self.run, &by).await?.view,
            Some(Settling::Accepted) => {
                let how = Acceptance { by, ..Acceptance::default() };
                bosun.accept(&self.run, &how).await?.view
            }
        })
    }

    /// The current isolation level of the scenario's machine.
    async fn isolation(&self) -> anyhow::Result<IsolationLevel> {
        let isolation = self.scenario.isolation;
        Ok(match self.scenario.walls_after_cut {
            Some(then) if self.story_cut().await? => then,
            _ => isolation,
        })
    }

    /// Whether the line of the scenario's own cut is recorded.
    async fn story_cut(&self) -> anyhow::Result<bool> {
        let Some(wanted) = &self.scenario.cut_at else { return Ok(false) };
        let lines = self.recorded().await?;
        Ok(lines.iter().any(|line| starts_like(line.attempt.as_ref(), &line.event, wanted)))
    }

    /// The same until the power is cut.
    async fn die(&self, cuts: Vec<Cut>) -> anyhow::Result<()> {
        let cutting = Arc::new(Cutting::new(self.journal.clone(), cuts.clone()));
        let ended = Box::pin(self.live(cutting.clone())).await;
        ensure!(cutting.is_dead(), "the power was never cut at {cuts:?}: {ended:?}");
        Ok(())
    }

    async fn has(&self, point: &Point) -> anyhow::Result<bool> {
        Ok(self.read(&point.log).await?.len() as u64 >= point.seq)
    }

    async fn new_run(&self, bosun: &Bosun) -> anyhow::Result<NewRun> {
        let goal = &self.scenario.goal;
        let model = bosun.keep_script(&self.scenario.script()?).await?;
        let mut request = Request {
            hint: goal.hint,
            insist: goal.insist.clone(),
            registry: goal.registry.clone(),
            project_type: goal.project_type.clone(),
            attachments: goal.attachments.clone(),
            budget: goal.budget,
            checks: goal.checks.clone(),
            ..Request::new(goal.text.clone(), model)
        };
        request.planning.only = goal.only_plan;
        request.planning.approve = goal.approve_plan;
        if let Some(text) = &goal.plan {
            request.planning.given = Some(serde_json::from_value(types::yaml::read(text)?.value)?);
        }
        if let Some(text) = &goal.spec {
            let spec = rules::spec::read(text).map_err(|bad| anyhow::anyhow!("{bad:?}"))?;
            request = rules::spec::request(spec, request);
        }
        Ok(NewRun {
            request,
            repository: self.repository(),
            policy: policy(&self.scenario.preset, &self.scenario.policy)?,
            id: Some(self.run.clone()),
            base: None,
            with_changes: false,
        })
    }

    /// Drives a run until it is over, answering and resuming as the person.
    async fn stay(&self, bosun: &Bosun, mut handle: Handle) -> anyhow::Result<RunView> {
        let canceller = self.scenario.cancel_at.clone().map(|at| {
            let (bosun, run) = (bosun.clone(), self.run.clone());
            tokio::spawn(async move { cancel_at(&bosun, &run, &at).await })
        });
        for _ in 0..MOST_ROUNDS {
            let Left { view, away, .. } = handle.finished().await?;
            if away.is_some() {
                // The person has seen to the model.
                handle = Box::pin(bosun.resume(&self.run)).await?;
                continue;
            }
            if view.status != Status::Waiting {
                if let Some(canceller) = canceller {
                    canceller.abort();
                }
                return Ok(view);
            }
            let answered = view.questions.iter().filter(|q| q.answer.is_some()).count();
            let Some(text) = self.scenario.answers.get(answered) else { return Ok(view) };
            let open = view.questions.iter().find(|question| question.answer.is_none());
            let question = open.map_or(0, |question| question.id);
            let command = Command::Answer { by: "person".to_owned(), question, text: text.clone() };
            bosun.post(&self.run, &command).await?;
            handle = Box::pin(bosun.resume(&self.run)).await?;
        }
        bail!("the run was left and taken up {MOST_ROUNDS} times and is still not over")
    }

    pub(crate) fn forget_executions(&self) {
        if let Ok(mut executions) = self.executions.lock() {
            executions.clear();
        }
    }

    async fn played(&self, view: RunView, torn: Torn) -> anyhow::Result<Played> {
        let executed = self.executions.lock().map(|list| list.clone()).unwrap_or_default();
        let files = self.files(&view.head).await?;
        let branch = self.repository().join(".git/refs/heads").join(&view.branch);
        let end = std::fs::read_to_string(branch).ok().filter(|_| view.ended.is_some());
        let ends_well = end.as_deref().is_none_or(|end| end.trim() == view.head.0);
        ensure!(ends_well, "the branch ends with {end:?}, and the result is {:?}", view.head);
        self.replays(torn).await?;
        Ok(Played { view, lines: self.recorded().await?, executed, files })
    }

    /// Checks that the recorded logs replay without a difference.
    pub(crate) async fn replays(&self, torn: Torn) -> anyhow::Result<()> {
        let journal = &*self.journal;
        let logs = recorded_logs(journal, &self.run).await?;
        let first = logs.run.first().context("nothing was recorded")?;
        let digest = policy_digest(&first.event).context("no policy is named")?;
        let policy = serde_json::from_slice(&journal.blob(&digest).await?)?;
        let report = replayed(Arc::new(policy), &self.run, &logs, torn);
        if let Some(difference) = report.difference {
            bail!("decided otherwise on replay: {difference:#?}");
        }
        Ok(())
    }

    async fn files(&self, head: &CommitId) -> anyhow::Result<BTreeMap<String, String>> {
        let folder = self.folder.path().join("final");
        let repo = Repo::discover(&self.repository()).await?;
        repo.add_worktree(&folder, head).await?;
        let mut files = BTreeMap::new();
        for name in self.scenario.expect.files.keys() {
            if let Ok(text) = std::fs::read_to_string(folder.join(name)) {
                files.insert(name.clone(), text);
            }
        }
        Ok(files)
    }

    /// The lines of all logs, those of an attempt just before the line that finishes it.
    async fn recorded(&self) -> anyhow::Result<Vec<Envelope>> {
        Ok(runtime::recorded(&*self.journal, &self.run).await?)
    }

    pub(crate) async fn read(&self, log: &LogId) -> anyhow::Result<Vec<Envelope>> {
        Ok(self.journal.read(log, 0, 100_000).await?)
    }
}

/// The same proof on every machine.
fn told(level: IsolationLevel) -> Proof {
    let attack = |what: &str, through: Option<&str>| Attack {
        what: what.to_owned(),
        through: through.map(str::to_owned),
    };
    let outside = attack("write outside the workspace", None);
    let see = "see processes of the machine";
    match level {
        IsolationLevel::Full => {
            Proof { level, attacks: vec![outside, attack(see, None)], missing: vec![] }
        }
        IsolationLevel::Landlock => Proof {
            level,
            attacks: vec![outside, attack(see, Some("saw 42 of them"))],
            missing: vec!["making namespaces: not permitted".to_owned()],
        },
        IsolationLevel::None => Proof::nothing("this kernel has no Landlock"),
    }
}

/// The policy that a scenario is played under.
pub fn policy_of(scenario: &Scenario) -> anyhow::Result<Policy> {
    policy(&scenario.preset, &scenario.policy)
}

pub(crate) fn policy(
    preset: &str,
    changes: &BTreeMap<String, toml::Value>,
) -> anyhow::Result<Policy> {
    let policy = presets::preset(preset)?;
    if changes.is_empty() {
        return Ok(policy);
    }
    let mut whole = serde_json::to_value(&policy)?;
    for (path, value) in changes {
        let (folder, name) = path.rsplit_once('.').unwrap_or(("", path));
        let place = format!("/{}", folder.replace('.', "/"));
        let table = whole.pointer_mut(place.trim_end_matches('/')).and_then(Value::as_object_mut);
        let table = table.with_context(|| format!("the policy has no table {path}"))?;
        table.insert(name.to_owned(), serde_json::to_value(value)?);
    }
    Ok(presets::read_json("the changed policy", &whole, &Prompts::default())?)
}

/// Watches for a line of the trace with this prefix, and cancels then.
async fn cancel_at(bosun: &Bosun, run: &RunId, wanted: &str) -> anyhow::Result<()> {
    let mut lines = Box::pin(bosun.watch(run, Mix::Live));
    while let Some(line) = lines.next().await {
        let line = line?;
        if starts_like(line.attempt.as_ref(), &line.event, wanted) {
            let command =
                Command::Cancel { by: "person".to_owned(), reason: "changed my mind".to_owned() };
            bosun.post(run, &command).await?;
            return Ok(());
        }
    }
    Ok(())
}

/// The scenarios folder, from a crate of this workspace.
#[must_use]
pub fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}
