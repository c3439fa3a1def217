//! Where the product keeps its things on this machine, and what it knows from the environment.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use runtime::llm::Registry;
use runtime::sandbox::Twin;
use runtime::store::{Redactor, SqliteJournal};
use runtime::{Bosun, Models, Order, PromptError, Prompts, Setup, Walls};
use types::{ModelRef, Said};

use crate::{models, print};

/// The folder with the journal and the worktrees.
#[derive(Debug)]
pub(crate) struct Home {
    folder: Option<PathBuf>,
    /// It goes away when the command ends.
    passing: bool,
    walls: Walls,
    journal: OnceLock<SqliteJournal>,
    models: OnceLock<Arc<Registry>>,
    /// The top of the project that is worked in, if there is one.
    project: OnceLock<PathBuf>,
}

impl Home {
    pub(crate) fn at(folder: Option<PathBuf>, twin: Twin) -> Self {
        let walls = Walls::Kernel(twin);
        let (journal, models, project) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { folder, passing: false, walls, journal, models, project }
    }

    /// A home elsewhere, that goes away when the command ends.
    pub(crate) fn passing(&self, folder: PathBuf) -> Self {
        let (journal, models, project) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let walls = self.walls.clone();
        Self { folder: Some(folder), passing: true, walls, journal, models, project }
    }

    /// From now on the prompts of this project come before the person's own.
    pub(crate) fn work_in(&self, project: &Path) {
        self.project.get_or_init(|| project.to_owned());
    }

    pub(crate) fn is_passing(&self) -> bool {
        self.passing
    }

    /// Bosun with the journal that is kept here.
    pub(crate) async fn open(&self, order: Order) -> anyhow::Result<Bosun> {
        let folder = self.folder()?;
        let journal = SqliteJournal::open(&folder.join("journal.db")).await?;
        let copy = journal.kept_copy().map(Path::to_owned);
        let journal = self.journal.get_or_init(|| journal).clone();
        let mut setup = Setup::new(Arc::new(journal), folder);
        setup.redactor = self.redactor();
        setup.models = Models::default().with_registry(self.models()?);
        setup.order = order;
        setup.walls = self.walls.clone();
        setup.prompts = prompts(self.project.get().map(PathBuf::as_path))?;
        let bosun = Bosun::new(setup);
        if let Some(copy) = copy {
            let copy = shown(&copy);
            print::note(&format!(
                "the journal has a new form now; as it was, it is kept in {copy}"
            ));
            bosun.fill_in_summaries().await?;
        }
        Ok(bosun)
    }

    /// The journal itself, for what only a file can do.
    pub(crate) async fn journal(&self) -> anyhow::Result<SqliteJournal> {
        match self.journal.get() {
            Some(journal) => Ok(journal.clone()),
            None => Ok(SqliteJournal::open(&self.folder()?.join("journal.db")).await?),
        }
    }

    /// What takes secrets out of texts.
    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(secrets())
    }

    fn models(&self) -> anyhow::Result<Arc<Registry>> {
        if let Some(models) = self.models.get() {
            return Ok(models.clone());
        }
        let registry = Arc::new(models::registry(models::settings()?, None)?);
        Ok(self.models.get_or_init(|| registry).clone())
    }

    /// The model to work with when nobody names one.
    pub(crate) fn default_model(&self) -> Option<ModelRef> {
        self.models.get()?.default_model()
    }

    /// Leaves the journal in order. What was recorded is safe without this, too.
    pub(crate) async fn leave(&self) {
        if let Some(journal) = self.journal.get()
            && let Err(error) = journal.rest().await
        {
            tracing::debug!(%error, "leaving the journal");
        }
    }

    pub(crate) fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(folder) = &self.folder {
            return std::path::absolute(folder).context("finding the home folder");
        }
        let base = etcetera::choose_base_strategy().context(
            "finding the user's home folder; set BOSUN_HOME to say where to keep things",
        )?;
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Ok(state.join("bosun"))
    }

    /// What to put before a command's name so that it finds this home again.
    pub(crate) fn flag(&self) -> String {
        match &self.folder {
            Some(folder) => format!("bosun --home {}", shown(folder)),
            None => "bosun".to_owned(),
        }
    }
}

/// The prompts: those that ship, in their place the person's own, and in their place those of the project.
pub(crate) fn prompts(project: Option<&Path>) -> Result<Prompts, PromptError> {
    let folder = std::env::var_os("BOSUN_PROMPTS").map(PathBuf::from).or_else(|| {
        let base = etcetera::choose_base_strategy().ok()?;
        Some(base.config_dir().join("bosun/prompts"))
    });
    let own = folder.map_or_else(|| Ok(Prompts::default()), |folder| Prompts::read(&folder))?;
    project.map_or_else(|| Ok(own.clone()), |top| own.clone().and(top))
}

fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(|c: char| c.is_whitespace() || "'\"$`\\".contains(c)) {
        format!("'{}'", text.replace('\'', "'\\''"))
    } else {
        text
    }
}

/// The values of variables whose names say that they are secret.
fn secrets() -> Vec<String> {
    const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    std::env::vars()
        .filter(|(name, _)| {
            let name = name.to_uppercase();
            WORDS.iter().any(|word| name.contains(word))
        })
        .map(|(_, value)| value)
        .collect()
}

/// Who is sitting here, for the record. Whoever is called like the policy is somebody: the name is taken.
pub(crate) fn person() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    name.ok().filter(|name| name != Said::POLICY).unwrap_or_else(|| "somebody".to_owned())
}
