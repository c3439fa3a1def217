//! Collects the facts of a session's system prompt: the machine, git, the project's documents. Nothing here can keep a
//! session from starting: missing facts are left out, with a note in the developer log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rules::prompt::{self, GitFacts, Layers, PromptFacts};
use sandbox::{Environment, Glance, LocalEnvironment};
use tools::profile;
use types::{Document, Family, Fault, ModelRef, Timestamp, ToolProfile, WorkPath};

use crate::prompts::Prompts;

/// The instruction for calls that never run concurrently.
const ONE_BY_ONE: &str =
    "Here all calls of a reply run one after the other, in your order, also those that only look.";

/// The parts of a session's system prompt, for any model.
#[derive(Debug, Clone)]
pub(crate) struct PromptSource {
    pub(crate) folder: PathBuf,
    /// Replaces the folder.
    pub(crate) environment: Option<Arc<dyn Environment>>,
    /// The base prompt.
    pub(crate) base: String,
    /// The person's instruction for the whole session.
    pub(crate) instruction: Option<String>,
}

impl PromptSource {
    /// The prompt for a model, with its family's tools and documents. It is built once; later changes are not included.
    pub(crate) async fn prompt(
        &self,
        prompts: &Prompts,
        (model, profile): (&ModelRef, &ToolProfile),
        now: Timestamp,
    ) -> Result<String, Fault> {
        let (facts, git, documents) = match &self.environment {
            Some(env) => (env.facts(), None, vec![]),
            None => {
                let env = LocalEnvironment::open(&self.folder)?;
                let facts = env.facts();
                let git = Glance::at(&self.folder, prompt::COMMITS);
                let (git, documents) = tokio::join!(git, project_documents(&self.folder, profile));
                let git = git.unwrap_or_else(|error| {
                    tracing::warn!(%error, "looking at the repository");
                    None
                });
                (facts, git, documents)
            }
        };
        let git =
            git.map(|Glance { branch, status, commits, .. }| GitFacts { branch, status, commits });
        let mut family = profile::reworded(profile, prompts.family(profile.like));
        if !profile.parallel_calls {
            family = format!("{}\n\n{ONE_BY_ONE}\n", family.trim_end());
        }
        let text = prompt::compose(Layers {
            base: &profile::reworded(profile, &self.base),
            family: &family,
            facts: &PromptFacts { facts, model: model.clone(), now, git },
            documents: &documents,
            instruction: self.instruction.as_deref(),
        });
        // The recorded text has no path of this machine; it is inserted when sent.
        Ok(if self.environment.is_some() { text } else { prompt::without_place(&text) })
    }
}

/// A project's documents for agents of a profile, from the repository's root down to the folder.
async fn project_documents(folder: &Path, profile: &ToolProfile) -> Vec<Document> {
    let (folder, profile) = (folder.to_owned(), profile.clone());
    let work = tokio::task::spawn_blocking(move || {
        let folder = folder.canonicalize().ok()?;
        let root = sandbox::root_of(&folder).unwrap_or_else(|| folder.clone());
        let wanted = places(&root, &folder, &profile);
        match sandbox::documents(&root, &wanted, READ_BYTES) {
            Ok(found) => Some(found),
            Err(error) => {
                tracing::warn!(%error, "reading the project's documents");
                None
            }
        }
    });
    work.await.ok().flatten().unwrap_or_default()
}

/// The most bytes read of one document: more than a prompt holds, so that the omitted part can be counted.
const READ_BYTES: usize = 4 * 1024 * 1024;

/// The possible paths of documents: in every folder from the root down.
fn places(root: &Path, folder: &Path, profile: &ToolProfile) -> Vec<WorkPath> {
    let own = match profile.like {
        Family::OpenAi => Some(".codex/instructions.md"),
        Family::Anthropic => Some("CLAUDE.md"),
        Family::Gemini => Some("GEMINI.md"),
        Family::Portable => None,
    };
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    let mut folders = vec![String::new()];
    for part in below.components() {
        // A folder whose name is not UTF-8 has no `WorkPath`, nor has anything below it.
        let Some(part) = part.as_os_str().to_str() else { break };
        let above = folders.last().cloned().unwrap_or_default();
        folders.push(format!("{above}{part}/"));
    }
    let further = profile.documents.iter().map(String::as_str);
    let names = std::iter::once("AGENTS.md").chain(own).chain(further);
    let names: Vec<&str> = names.collect();
    let paths = folders.iter().flat_map(|folder| names.iter().map(move |name| (folder, name)));
    paths.filter_map(|(folder, name)| format!("{folder}{name}").parse().ok()).collect()
}

#[cfg(test)]
mod tests;
