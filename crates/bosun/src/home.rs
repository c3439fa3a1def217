//! Bosun's folder on this machine, and everything read from the environment: user name, models, prompts, keys.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use runtime::llm::{Registry, Settings};
use runtime::sandbox::HelperExe;
use runtime::store::{Journal, MemoryJournal, Redactor, SqliteJournal};
use runtime::{Bosun, Config, Isolation, MachineFolders, Models, Order, PromptError, Prompts};
use types::{Answer, ModelRef, ModelServer, Policy};

use crate::exit::CliError;
use crate::{config, files, models, print, secrets};

/// Maximum number of losses that are printed; the rest is only counted.
const LOSSES: usize = 5;

/// The folder with the journal and the worktrees.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    folder: Option<PathBuf>,
    /// Removed when the command ends.
    pub(crate) passing: bool,
    isolation: Isolation,
    journal: OnceLock<SqliteJournal>,
    models: OnceLock<Arc<Registry>>,
    /// Top of the current project, if there is one.
    project: OnceLock<PathBuf>,
    /// The policy that was named.
    policy: OnceLock<PathBuf>,
    /// Project files for agents are ignored.
    pub(crate) without_project: bool,
}

impl Home {
    pub(crate) fn at(
        folder: Option<PathBuf>,
        without_project: bool,
        helper_exe: HelperExe,
    ) -> Self {
        let isolation = Isolation::Kernel(helper_exe);
        let (journal, models) = (OnceLock::new(), OnceLock::new());
        let (project, policy) = (OnceLock::new(), OnceLock::new());
        Self {
            folder,
            passing: false,
            isolation,
            journal,
            models,
            project,
            policy,
            without_project,
        }
    }

    /// A temporary home elsewhere, removed when the command ends.
    pub(crate) fn passing(&self, folder: PathBuf) -> Self {
        let (journal, models, project) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { folder: Some(folder), passing: true, journal, models, project, ..self.clone() }
    }

    /// Makes the prompts of this project take precedence over the user's own.
    pub(crate) fn work_in(&self, project: &Path) {
        self.project.get_or_init(|| project.to_owned());
    }

    /// Keeps agents from changing this policy, wherever it is.
    pub(crate) fn close_policy(&self, policy: &Path) {
        self.policy.get_or_init(|| policy.to_owned());
    }

    /// Opens Bosun on the journal of this home.
    pub(crate) async fn open(&self, order: Order) -> anyhow::Result<Bosun> {
        let journal = SqliteJournal::open(&self.journal()?).await?;
        let journal = self.journal.get_or_init(|| journal).clone();
        self.with(Arc::new(journal), order).await
    }

    /// Opens Bosun on the journal of this home read-only: writes nothing and waits for no writer. `follow` is needed to
    /// see lines that are recorded later.
    pub(crate) async fn read(&self, follow: bool) -> anyhow::Result<Bosun> {
        let journal: Arc<dyn Journal> =
            match SqliteJournal::read_only(&self.journal()?, follow).await? {
                Some(journal) => Arc::new(self.journal.get_or_init(|| journal).clone()),
                None => Arc::new(MemoryJournal::new()),
            };
        // Records can be read whatever the configuration says.
        if let Err(error) = self.models() {
            print::warn(&format!("bosun: warning: {error:#}"));
            let registry = Arc::new(models::registry(Settings::default(), None)?);
            self.models.get_or_init(|| registry);
        }
        self.with(journal, Order::Arrival).await
    }

    /// The same, for commands that need complete summaries: where an older version wrote some of them, the journal is
    /// opened for writing if possible, so that they are replaced once.
    pub(crate) async fn read_complete(&self) -> anyhow::Result<Bosun> {
        let bosun = self.read(false).await?;
        if !bosun.has_older_summaries().await? {
            return Ok(bosun);
        }
        match SqliteJournal::open(&self.journal()?).await {
            Ok(journal) => Ok(Bosun::new(Config::new(Arc::new(journal), self.folder()?))),
            Err(error) => {
                tracing::debug!(%error, "summaries are not stored");
                Ok(bosun)
            }
        }
    }

    /// Path of the journal.
    pub(crate) fn journal(&self) -> anyhow::Result<PathBuf> {
        Ok(self.folder()?.join("journal.db"))
    }

    /// The journal itself, if it exists and is open.
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
            print::note(&format!("journal upgraded; the previous version is kept in {copy}"));
            bosun.fill_in_summaries().await?;
        }
        Ok(bosun)
    }

    /// Redactor that removes secrets from texts.
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

    /// The model server named on the command line, for the record. This home uses it from now on: must be called before
    /// anything of it is opened. Rejects an address that contains a secret: secrets are not recorded, so a resumed run
    /// would use another address.
    pub(crate) fn served_at(
        &self,
        model: Option<&ModelRef>,
        base_url: Option<&str>,
    ) -> anyhow::Result<Option<ModelServer>> {
        let (Some(model), Some(url)) = (model, base_url) else { return Ok(None) };
        models::must_be_an_address("--base-url", url)?;
        let elsewhere = models::Elsewhere { base_url: Some(url.to_owned()), dialect: None };
        let registry = models::registry(models::settings()?, Some((model, elsewhere)))?;
        self.models.get_or_init(|| Arc::new(registry));
        if self.redactor().scrub(url) != url {
            return Err(CliError::SecretInUrl.into());
        }
        Ok(Some(ModelServer { provider: model.provider().to_owned(), base_url: url.to_owned() }))
    }

    /// Rejects unusable models before anything is started with them. An offline policy is skipped: it rejects remote
    /// models itself.
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

    /// Names of the usable models.
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
        // A wildcard entry stands for all models of a server and is not a model itself.
        all.filter(|name| !name.ends_with('*')).filter(known).map(str::to_owned).collect()
    }

    /// All known models, for the server's API.
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
            None => match named.or_else(|| self.models.get()?.default_model()) {
                Some(model) => Ok(model),
                None => Err(models::none().await),
            },
        }
    }

    /// Checkpoints the journal on exit. Recorded lines are durable without this.
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
        state_folder()
            .context("finding the user's home folder; set BOSUN_HOME to choose a folder for Bosun")
    }

    /// Folders of this machine that are closed to agents.
    pub(crate) fn machine(&self) -> anyhow::Result<MachineFolders> {
        let base = etcetera::choose_base_strategy().ok();
        let named = [config::models_file(), config::user_file(), prompts_folder()];
        let folders = [config::folder(), state_folder().ok()].into_iter().chain(named).flatten();
        let own = [self.folder()?].into_iter().chain(folders).collect();
        let policies = self.policy.get().cloned().into_iter().collect();
        Ok(MachineFolders { home: base.map(|base| base.home_dir().to_owned()), own, policies })
    }

    /// Prefix of a printed command that makes it use this home.
    pub(crate) fn flag(&self) -> String {
        // A variable set in this shell also applies to the next command.
        let set = std::env::var_os("BOSUN_HOME").map(PathBuf::from);
        match &self.folder {
            Some(folder) if !self.passing && set.as_ref() == Some(folder) => "bosun".to_owned(),
            Some(folder) => format!("bosun --home {}", print::path(folder)),
            None => "bosun".to_owned(),
        }
    }
}

/// The prompts: built-in ones, overridden by the user's own, overridden by the project's.
pub(crate) fn prompts(project: Option<&Path>) -> Result<Prompts, PromptError> {
    let own =
        prompts_folder().map_or_else(|| Ok(Prompts::default()), |folder| Prompts::read(&folder))?;
    project.map_or_else(|| Ok(own.clone()), |top| own.clone().and(top))
}

/// The user's own prompts.
fn prompts_folder() -> Option<PathBuf> {
    let named = std::env::var_os("BOSUN_PROMPTS").map(PathBuf::from);
    named.or_else(|| Some(config::folder()?.join("prompts")))
}

/// The usual folder for the journal and the worktrees.
fn state_folder() -> Result<PathBuf, etcetera::HomeDirError> {
    let base = etcetera::choose_base_strategy()?;
    Ok(base.state_dir().unwrap_or_else(|| base.data_dir()).join("bosun"))
}

/// Name of the current user, for the record; `unknown` if there is none, or it is the name reserved for the policy.
pub(crate) fn person() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|name| !name.is_empty());
    let name = set("USER").or_else(|| set("LOGNAME")).or_else(runtime::sandbox::user_name);
    name.filter(|name| name != Answer::POLICY).unwrap_or_else(|| "unknown".to_owned())
}

/// Whether neither stdout nor stderr is a terminal; an unreachable model is then retried for longer.
pub(crate) fn unattended() -> bool {
    !std::io::stderr().is_terminal() && !std::io::stdout().is_terminal()
}
