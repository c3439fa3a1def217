//! `bosun demo`: a complete run on a sample repository. The model and the user are scripted, everything else is real.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use runtime::sandbox::Repo;
use runtime::{Bosun, NewRun, Order, draw_run_id};
use types::{RunId, Timestamp};

use crate::args;
use crate::exit::Exit;
use crate::follow::{self, Form};
use crate::home::Home;
use crate::print;

const GOAL: &str =
    "Add a tide command and a berth command to harbor, document both, and move the notes to docs/";

/// Scripted answers to the demo's questions, in order: about an emptied test, and about the file missing at the gate.
const ANSWERS: [&str; 2] =
    ["retry leave the test of version as it is", "retry CHANGES.md was promised; write it"];

/// Token budget, chosen so that most of it is spent near the end.
const TOKENS: u64 = 300_000;

const SCRIPT: &str = include_str!("../../demo/script.toml");

/// The files of the sample repository.
const FILES: [(&str, &str); 8] = [
    ("AGENTS.md", include_str!("../../demo/AGENTS.md")),
    ("README.md", include_str!("../../demo/README.md")),
    ("bin/harbor", include_str!("../../demo/bin/harbor")),
    ("lib/version.sh", include_str!("../../demo/lib/version.sh")),
    ("notes/ships/sizes.md", include_str!("../../demo/notes/ships/sizes.md")),
    ("notes/tides/times.md", include_str!("../../demo/notes/tides/times.md")),
    ("test.sh", include_str!("../../demo/test.sh")),
    ("tests/version.sh", include_str!("../../demo/tests/version.sh")),
];

/// Commit time of the sample repository, fixed so that its first commit is always the same.
const COMMITTED: Timestamp = Timestamp::from_millis(1_767_225_600_000);

pub(crate) async fn demo(home: &Home, args: &args::Demo) -> anyhow::Result<Exit> {
    // The folder is named after the run, so that nothing else about the demo is random.
    let run = draw_run_id();
    let folder = tempfile::Builder::new()
        .prefix(&format!("bosun-demo-{run}"))
        .rand_bytes(0)
        .tempdir()
        .context("creating a temporary folder for the sample repository")?;
    if args.keep {
        // From here on the folder stays, even if this process is killed.
        let folder = folder.keep();
        return play(home, run, &folder, args).await;
    }
    let own = home.passing(folder.path().join("state"));
    let exit = play(&own, run, folder.path(), args).await?;
    own.leave().await;
    folder.close().context("removing the sample repository")?;
    Ok(exit)
}

async fn play(home: &Home, run: RunId, folder: &Path, args: &args::Demo) -> anyhow::Result<Exit> {
    let (repository, script) = (folder.join("harbor"), folder.join("script.toml"));
    std::fs::write(&script, SCRIPT).with_context(|| format!("writing {}", script.display()))?;
    let bosun = home.open(Order::Started).await?;
    let new = NewRun { id: Some(run), ..prepare(&bosun, repository.clone()).await? };
    let form = Form::choose(args.json, Order::Started);
    if !matches!(form, Form::Json(_)) {
        print::line("Bosun demo. The model and the person are scripted; no model is called.")?;
        print::line("The repository, files, commands, checks, merges and the journal are real.\n")?;
        print::line(&print::row("goal", GOAL))?;
    }
    let handle = bosun.start(new).await?;
    let shown = (form, BTreeMap::new());
    let exit = follow::until_over(home, &bosun, handle, shown, &ANSWERS).await?.told();
    if args.keep && exit == Exit::Done {
        print::note(&format!("kept: {}", repository.display()));
        print::note(&format!("the model's script: {}", script.display()));
    }
    Ok(exit)
}

async fn prepare(bosun: &Bosun, repository: PathBuf) -> anyhow::Result<NewRun> {
    for (name, text) in FILES {
        let path = repository.join(name);
        let above = path.parent().unwrap_or(&repository);
        std::fs::create_dir_all(above).with_context(|| format!("creating {}", above.display()))?;
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Repo::create(&repository, "Start harbor\n", COMMITTED)
        .await
        .context("creating the sample repository")?;
    let model = bosun.keep_script(SCRIPT).await?;
    let mut new = NewRun::new(GOAL, repository, model)?;
    new.request.budget.tokens = Some(TOKENS);
    Ok(new)
}
