//! The prompts that ship with the product. A file of the same name in a person's or project's folder replaces one; a
//! file that replaces nothing is an error, since it would have no effect.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sandbox::EnvError;
use types::{Family, WorkPath};

/// The path of a project's prompts, from its top.
pub const PROMPTS: &str = ".bosun/prompts";
/// The shipped prompts, by file name.
const SHIPPED: [(&str, &str); 20] = [
    ("audited/dev.md", include_str!("../../../prompts/audited/dev.md")),
    ("audited/product.md", include_str!("../../../prompts/audited/product.md")),
    ("adviser.md", include_str!("../../../prompts/adviser.md")),
    ("audited/qa.md", include_str!("../../../prompts/audited/qa.md")),
    ("base.md", include_str!("../../../prompts/base.md")),
    ("coder.md", include_str!("../../../prompts/coder.md")),
    ("compact.md", include_str!("../../../prompts/compact.md")),
    ("debugger.md", include_str!("../../../prompts/debugger.md")),
    ("tester.md", include_str!("../../../prompts/tester.md")),
    ("family/anthropic.md", include_str!("../../../prompts/family/anthropic.md")),
    ("family/gemini.md", include_str!("../../../prompts/family/gemini.md")),
    ("family/openai.md", include_str!("../../../prompts/family/openai.md")),
    ("family/portable.md", include_str!("../../../prompts/family/portable.md")),
    ("loop.md", include_str!("../../../prompts/loop.md")),
    ("planner.md", include_str!("../../../prompts/planner.md")),
    ("strict/coder.md", include_str!("../../../prompts/strict/coder.md")),
    ("strict/planner.md", include_str!("../../../prompts/strict/planner.md")),
    ("strict/system.md", include_str!("../../../prompts/strict/system.md")),
    ("strict/tester.md", include_str!("../../../prompts/strict/tester.md")),
    ("subagent.md", include_str!("../../../prompts/subagent.md")),
];

/// Folders of prompts.
const FOLDERS: [&str; 3] = ["audited", "family", "strict"];

/// The largest accepted prompt.
const MAX_BYTES: u64 = 256 * 1024;

/// The prompts that are in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    texts: BTreeMap<&'static str, Cow<'static, str>>,
}

/// Why a folder of prompts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("{path} does not match any prompt; known prompts: {}", Prompts::names().collect::<Vec<_>>().join(", "))]
    Unknown { path: PathBuf },
    #[error("prompt {path} is not UTF-8; save it as UTF-8")]
    NotText { path: PathBuf },
    #[error("prompt {path} has {bytes} bytes; the limit is {MAX_BYTES}")]
    TooLarge { path: PathBuf, bytes: u64 },
    #[error("reading prompt {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("reading a project prompt")]
    Project(#[source] EnvError),
}

impl Default for Prompts {
    fn default() -> Self {
        let texts = SHIPPED.into_iter().map(|(name, text)| (name, Cow::Borrowed(text)));
        Self { texts: texts.collect() }
    }
}

impl Prompts {
    /// The shipped prompts, with replacements from a folder. A missing folder replaces nothing.
    pub fn read(folder: &Path) -> Result<Self, PromptError> {
        let mut prompts = Self::default();
        for (known, path) in found(folder, "")? {
            let failed = |source| PromptError::Io { path: path.clone(), source };
            let bytes = std::fs::metadata(&path).map_err(failed)?.len();
            if bytes > MAX_BYTES {
                return Err(PromptError::TooLarge { path, bytes });
            }
            let bytes = std::fs::read(&path).map_err(failed)?;
            let text = String::from_utf8(bytes).map_err(|_| PromptError::NotText { path })?;
            prompts.texts.insert(known, Cow::Owned(text));
        }
        Ok(prompts)
    }

    /// These prompts, with replacements from a project. It may be untrusted, so no link is followed.
    pub fn and(mut self, top: &Path) -> Result<Self, PromptError> {
        for (known, path) in found(&top.join(PROMPTS), "")? {
            let inside: Result<WorkPath, _> = format!("{PROMPTS}/{known}").parse();
            let inside = inside.map_err(|_| PromptError::Unknown { path })?;
            let text = sandbox::text(top, &inside, MAX_BYTES).map_err(PromptError::Project)?;
            self.texts.extend(text.map(|text| (known, Cow::Owned(text))));
        }
        Ok(self)
    }

    /// The file names of all prompts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.into_iter().map(|(name, _)| name)
    }

    /// A prompt by its file name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(AsRef::as_ref)
    }

    /// The base prompt.
    #[must_use]
    pub fn base(&self) -> &str {
        self.text("base.md")
    }

    /// The tools prompt of a family.
    #[must_use]
    pub fn family(&self, family: Family) -> &str {
        self.text(match family {
            Family::OpenAi => "family/openai.md",
            Family::Anthropic => "family/anthropic.md",
            Family::Gemini => "family/gemini.md",
            Family::Portable => "family/portable.md",
        })
    }

    /// The prompt that requests a summary of a long conversation.
    #[must_use]
    pub fn compact(&self) -> &str {
        self.text("compact.md")
    }

    /// The warning to a model that repeats itself.
    #[must_use]
    pub fn repeating(&self) -> &str {
        self.text("loop.md")
    }

    /// The addition to the base for sub-agents.
    #[must_use]
    pub fn subagent(&self) -> &str {
        self.text("subagent.md")
    }

    fn text(&self, name: &str) -> &str {
        // Every shipped name has a text; a test ensures it.
        self.get(name).unwrap_or_default()
    }
}

/// The files of a folder that replace prompts, by prompt name.
fn found(folder: &Path, above: &str) -> Result<Vec<(&'static str, PathBuf)>, PromptError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| PromptError::Io { path, source }
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && above.is_empty() => {
            return Ok(vec![]);
        }
        Err(source) => return Err(failed(folder)(source)),
    };
    let mut all = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed(folder))?.path();
        let unknown = || PromptError::Unknown { path: path.clone() };
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(unknown)?;
        let name = format!("{above}{name}");
        let kind = std::fs::metadata(&path).map_err(failed(&path))?;
        if kind.is_dir() && FOLDERS.contains(&name.as_str()) {
            all.extend(found(&path, &format!("{name}/"))?);
            continue;
        }
        let known = Prompts::names().find(|known| *known == name).filter(|_| kind.is_file());
        all.push((known.ok_or_else(unknown)?, path));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("family")).expect("a folder");
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).expect("a file");
        }
        dir
    }

    fn refused(files: &[(&str, &[u8])]) -> String {
        Prompts::read(folder(files).path()).expect_err("it was taken").to_string()
    }

    /// A12: identity, tools, how to write code.
    #[test]
    fn every_family_is_told_who_it_is_what_it_has_and_how_to_work() {
        let prompts = Prompts::default();
        assert!(prompts.base().starts_with("You are Bosun, a coding agent."));
        assert!(prompts.base().contains("Read before you write."));
        for (family, own, foreign) in [
            (Family::OpenAi, "apply_patch", "edit_file"),
            (Family::Anthropic, "edit_file", "apply_patch"),
            (Family::Gemini, "list_dir", "apply_patch"),
            (Family::Portable, "edit_file", "apply_patch"),
        ] {
            let text = prompts.family(family);
            assert!(text.contains(own) && !text.contains(foreign), "{}", family.as_str());
            assert!(
                text.contains("`read_file`") && text.contains("`shell`"),
                "{}",
                family.as_str()
            );
        }
        for text in [prompts.compact(), prompts.repeating(), prompts.subagent()] {
            assert!(!text.is_empty());
        }
    }

    #[test]
    fn a_file_of_the_same_name_replaces_a_prompt_and_nothing_else() {
        let dir = folder(&[("base.md", b"Mine."), ("family/gemini.md", b"Ours.")]);
        let prompts = Prompts::read(dir.path()).expect("a folder of prompts");
        assert_eq!((prompts.base(), prompts.family(Family::Gemini)), ("Mine.", "Ours."));
        assert_eq!(prompts.family(Family::OpenAi), Prompts::default().family(Family::OpenAi));
    }

    #[test]
    fn a_folder_that_is_not_there_replaces_nothing() {
        let prompts = Prompts::read(Path::new("/nonexistent/prompts")).expect("nothing to read");
        assert_eq!(prompts, Prompts::default());
    }

    /// A link in an untrusted repository may lead to the person's own files.
    #[test]
    fn a_projects_prompts_are_files_of_the_project() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().join("top");
        let prompts = top.join(PROMPTS);
        std::fs::create_dir_all(&prompts).expect("a folder");
        std::fs::write(prompts.join("base.md"), "Ours.").expect("a file");
        let read = || Prompts::default().and(&top);
        assert_eq!(read().expect("prompts").base(), "Ours.");
        std::fs::write(dir.path().join("key"), "secret").expect("a file");
        std::os::unix::fs::symlink(dir.path().join("key"), prompts.join("coder.md"))
            .expect("a link");
        let refused = sandbox::chain(&read().expect_err("a link was followed"));
        assert!(refused.contains("coder.md") && refused.contains("link"), "{refused}");
    }

    #[test]
    fn a_file_that_replaces_nothing_or_is_no_text_is_refused_by_name() {
        let unknown = refused(&[("bass.md", b"x")]);
        assert!(unknown.contains("bass.md") && unknown.contains("base.md, coder.md"), "{unknown}");
        assert!(refused(&[("family/llama.md", b"x")]).contains("family/llama.md"));
        let broken = refused(&[("base.md", b"\xff\xfe")]);
        assert!(broken.contains("base.md") && broken.contains("UTF-8"), "{broken}");
        let large = vec![b'x'; usize::try_from(MAX_BYTES).expect("small") + 1];
        assert!(refused(&[("loop.md", &large)]).contains("262145"));
    }
}
