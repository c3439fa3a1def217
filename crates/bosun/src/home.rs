//! The product's folder on this machine, and everything taken from the environment: person, models, prompts, keys.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use runtime::llm::Registry;
use runtime::sandbox::HelperExe;
use runtime::store::{HeadsFile, Journal, MemoryJournal, Redactor, SqliteJournal};
use runtime::{Bosun, Config, Isolation, MachineFolders, Models, Order, PromptError, Prompts};
use types::{Answer, ModelRef, ModelServer, Policy};

use crate::setup_error::SetupError;
use crate::{config, files, models, print, secrets};

/// How many losses are named before the rest is counted.
const LOSSES: usize = 5;

/// The folder with the journal and the worktrees.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    folder: Option<PathBuf>,
    /// It goes away when the command ends.
    passing: bool,
    isolation: Isolation,
    journal: OnceLock<SqliteJournal>,
    models: OnceLock<Arc<Registry>>,
    /// The top of the project that is worked in, if there is one.
    project: OnceLock<PathBuf>,
    /// What a project brings for agents is left out.
    without_project: bool,
}

impl Home {
    pub(crate) fn at(folder: Option<PathBuf>, helper_exe: HelperExe) -> Self {
        let isolation = Isolation::Kernel(helper_exe);
        let (journal, models, project) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { folder, passing: false, isolation, journal, models, project, without_project: false }
    }

    /// The same, without what projects bring for agents.
    pub(crate) fn without_project(mut self, without: bool) -> Self {
        self.without_project = without;
        self
    }

    pub(crate) fn leaves_projects_out(&self) -> bool {
        self.without_project
    }

    /// A home elsewhere, that goes away when the command ends.
    pub(crate) fn passing(&self, folder: PathBuf) -> Self {
        let (journal, models, project) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let isolation = self.isolation.clone();
        let without_project = self.without_project;
        Self {
            folder: Some(folder),
            passing: true,
            isolation,
            journal,
            models,
            project,
            without_project,
        }
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
        let journal = SqliteJournal::open(&self.journal()?).await?;
        let journal = self.journal.get_or_init(|| journal).clone();
        self.with(Arc::new(journal), order).await
    }

    /// Bosun that only looks at the journal that is kept here: nothing is written, and no writer is waited for. Whoever
    /// wants to see what is recorded later says so with `follow`.
    pub(crate) async fn read(&self, follow: bool) -> anyhow::Result<Bosun> {
        let journal: Arc<dyn Journal> =
            match SqliteJournal::read_only(&self.journal()?, follow).await? {
                Some(journal) => Arc::new(self.journal.get_or_init(|| journal).clone()),
                None => Arc::new(MemoryJournal::new()),
            };
        self.with(journal, Order::Arrival).await
    }

    /// Where the journal is.
    pub(crate) fn journal(&self) -> anyhow::Result<PathBuf> {
        Ok(self.folder()?.join("journal.db"))
    }

    /// What is known of the file that has the ends of all logs, once the journal is open.
    pub(crate) fn heads_file(&self) -> Option<HeadsFile> {
        self.journal.get().map(SqliteJournal::heads_file)
    }

    /// The journal itself, once it is open and there is one.
    pub(crate) fn opened(&self) -> Option<&SqliteJournal> {
        self.journal.get()
    }

    async fn with(&self, journal: Arc<dyn Journal>, order: Order) -> anyhow::Result<Bosun> {
        let losses = journal.losses(None).await?;
        for loss in losses.iter().take(LOSSES) {
            print::warn(&format!("bosun: warning: {loss}, which had been acknowledged"));
        }
        if !losses.is_empty() {
            let more = losses.len().saturating_sub(LOSSES);
            let more = if more > 0 { format!(" ({more} more)") } else { String::new() };
            print::warn(&format!("bosun: the journal was damaged{more}; see `bosun log --verify`"));
        }
        let mut config = Config::new(journal, self.folder()?);
        config.redactor = self.redactor();
        config.models = Models::default().with_registry(self.models()?);
        config.order = order;
        config.isolation = self.isolation.clone();
        config.machine = self.machine()?;
        config.prompts = prompts(self.project.get().map(PathBuf::as_path))?;
        let bosun = Bosun::new(config);
        if let Some(copy) = self.journal.get().and_then(SqliteJournal::kept_copy) {
            let copy = print::path(copy);
            print::note(&format!(
                "the journal has a new form now; as it was, it is kept in {copy}"
            ));
            bosun.fill_in_summaries().await?;
        }
        Ok(bosun)
    }

    /// What takes secrets out of texts.
    pub(crate) fn redactor(&self) -> Redactor {
        let models = self.models().ok();
        let providers = models.iter().flat_map(|models| models.providers());
        let keys: Vec<String> = providers.flat_map(|provider| provider.key_env).collect();
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Redactor::new(secrets::known(std::env::vars_os().filter_map(text), &keys))
    }

    fn models(&self) -> anyhow::Result<Arc<Registry>> {
        if let Some(models) = self.models.get() {
            return Ok(models.clone());
        }
        let registry = Arc::new(models::registry(models::settings()?, None)?);
        Ok(self.models.get_or_init(|| registry).clone())
    }

    /// Asks a model's provider at another address, from now on. Nothing of this home has been opened before.
    fn ask_at(&self, model: &ModelRef, elsewhere: models::Elsewhere) -> anyhow::Result<()> {
        let registry = models::registry(models::settings()?, Some((model, elsewhere)))?;
        self.models.get_or_init(|| Arc::new(registry));
        Ok(())
    }

    /// The server of a command line, for the record; from now on this home asks there. An address that holds a secret is
    /// refused: what is recorded has none, and a run that is continued would ask somewhere else.
    pub(crate) fn served_at(
        &self,
        model: Option<&ModelRef>,
        base_url: Option<&str>,
    ) -> anyhow::Result<Option<ModelServer>> {
        let (Some(model), Some(url)) = (model, base_url) else { return Ok(None) };
        models::must_be_an_address(url)?;
        self.ask_at(model, models::Elsewhere { base_url: Some(url.to_owned()), dialect: None })?;
        if self.redactor().scrub(url) != url {
            return Err(SetupError::SecretInUrl.into());
        }
        Ok(Some(ModelServer { provider: model.provider().to_owned(), base_url: url.to_owned() }))
    }

    /// Refuses models that cannot be asked, before anything is started with them. A policy that works offline refuses
    /// others by itself.
    pub(crate) async fn check_models(
        &self,
        policy: &Policy,
        models: impl IntoIterator<Item = &ModelRef>,
    ) -> anyhow::Result<()> {
        for model in models.into_iter().filter(|_| !policy.offline) {
            models::check(&*self.models()?, model).await?;
        }
        Ok(())
    }

    /// The models that can be asked from here, by name.
    pub(crate) fn model_names(&self) -> Vec<String> {
        let Ok(registry) = self.models() else { return vec![] };
        let usable: Vec<String> = registry
            .providers()
            .filter(|provider| provider.key != runtime::llm::KeyState::Missing)
            .map(|provider| provider.name)
            .collect();
        let known = |name: &&str| {
            name.split_once('/')
                .is_some_and(|(provider, _)| usable.iter().any(|one| one == provider))
        };
        let all = registry.catalogue().list().map(|(name, _)| name);
        // An entry for whatever a server has is no model.
        all.filter(|name| !name.ends_with('*')).filter(known).map(str::to_owned).collect()
    }

    /// All known models, for programs.
    pub(crate) fn model_items(&self) -> Vec<server::ModelItem> {
        let Ok(registry) = self.models() else { return vec![] };
        let missing = |provider: &str| {
            registry
                .providers()
                .any(|one| one.name == provider && one.key == runtime::llm::KeyState::Missing)
        };
        let item = |(name, entry): (&str, &runtime::llm::Entry)| {
            let provider = name.split_once('/').map_or("", |(provider, _)| provider);
            let price = entry.prices.first();
            server::ModelItem {
                model: name.to_owned(),
                provider: provider.to_owned(),
                usable: !missing(provider),
                window: entry.window,
                max_output: entry.max_output,
                input_price: price.map(|price| price.input.to_string()),
                output_price: price.map(|price| price.output.to_string()),
            }
        };
        registry.catalogue().list().map(item).collect()
    }

    /// The first model that has a key.
    fn default_model(&self) -> Option<ModelRef> {
        self.models.get()?.default_model()
    }

    /// The model to work with: a script, the named one, or the first one that has a key.
    pub(crate) async fn model(
        &self,
        bosun: &Bosun,
        script: Option<&Path>,
        named: Option<ModelRef>,
    ) -> anyhow::Result<ModelRef> {
        match script {
            Some(path) => {
                let kept = bosun.keep_script(&files::read(path)?).await;
                kept.with_context(|| print::path(path))
            }
            None => match named.or_else(|| self.default_model()) {
                Some(model) => Ok(model),
                None => Err(models::none().await),
            },
        }
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

    /// The places of this machine that agents stay out of.
    pub(crate) fn machine(&self) -> anyhow::Result<MachineFolders> {
        let base = etcetera::choose_base_strategy().ok();
        let mut own = vec![self.folder()?];
        own.extend(base.as_ref().map(|base| base.config_dir().join("bosun")));
        own.extend(
            base.as_ref()
                .map(|base| base.state_dir().unwrap_or_else(|| base.data_dir()).join("bosun")),
        );
        own.extend(config::models_file());
        Ok(MachineFolders { home: base.map(|base| base.home_dir().to_owned()), own })
    }

    /// What to put before a command's name so that it finds this home again.
    pub(crate) fn flag(&self) -> String {
        // What is set for this shell holds for the next command, too.
        let set = std::env::var_os("BOSUN_HOME").map(PathBuf::from);
        match &self.folder {
            Some(folder) if !self.passing && set.as_ref() == Some(folder) => "bosun".to_owned(),
            Some(folder) => format!("bosun --home {}", print::path(folder)),
            None => "bosun".to_owned(),
        }
    }
}

/// The prompts: those that ship, in their place the person's own, and in their place those of the project.
pub(crate) fn prompts(project: Option<&Path>) -> Result<Prompts, PromptError> {
    let folder = std::env::var_os("BOSUN_PROMPTS")
        .map(PathBuf::from)
        .or_else(|| Some(config::folder()?.join("prompts")));
    let own = folder.map_or_else(|| Ok(Prompts::default()), |folder| Prompts::read(&folder))?;
    project.map_or_else(|| Ok(own.clone()), |top| own.clone().and(top))
}

/// The folder of the person's own settings.
pub(crate) fn config_folder() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("bosun"))
}

/// Who is sitting here, for the record. Whoever is called like the policy is somebody: the name is taken.
pub(crate) fn person() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    name.ok().filter(|name| name != Answer::POLICY).unwrap_or_else(|| "somebody".to_owned())
}

/// Whether nobody watches the output; an unreachable model is then retried for longer.
pub(crate) fn unattended() -> bool {
    !std::io::stderr().is_terminal() && !std::io::stdout().is_terminal()
}
