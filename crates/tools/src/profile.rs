//! Profiles: each model family gets the tools, names and arguments that it was trained on, over the same
//! implementations. A profile changes words only; what a tool does is the same in all of them.

use std::sync::Arc;

use async_trait::async_trait;
use sandbox::Environment;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use types::{Inspection, ModelRef, Span, ToolOutput, ToolSpec};

use crate::Tool;
use crate::registry::Registry;
use crate::shell::Shell;
use crate::typed::Of;

/// A family of models that share their habits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    OpenAi,
    Anthropic,
    Gemini,
    /// Any other model.
    Portable,
}

impl Family {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Portable];

    /// The family that a model belongs to, by its provider.
    #[must_use]
    pub fn of(model: &ModelRef) -> Self {
        match model.provider() {
            "openai" => Self::OpenAi,
            "anthropic" => Self::Anthropic,
            "gemini" | "google" => Self::Gemini,
            _ => Self::Portable,
        }
    }

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Portable => "portable",
        }
    }

    /// The tools of the family, with its wording.
    #[must_use]
    pub fn registry(self) -> Registry {
        let mut registry = Registry::standard();
        let all: Vec<String> = registry.names().map(str::to_owned).collect();
        for name in all.iter().filter(|name| !self.has(name)) {
            registry.unregister(name);
        }
        if self == Self::Anthropic {
            put(&mut registry, Arc::new(Of::new(Shell(Span::seconds(120)))));
        }
        for name in ["read_file", "write_file", "edit_file"] {
            if let Some(inner) = registry.get(name).cloned() {
                put(&mut registry, Arc::new(Reworded::new(inner, self.wording(name))));
            }
        }
        registry
    }

    /// The family's own names for tools that a role asks for by their plain names.
    #[must_use]
    pub fn names(self, wanted: &[String]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in wanted {
            let name = match (self, name.as_str()) {
                (Self::OpenAi, "edit_file") => "apply_patch",
                (Self::Anthropic | Self::Gemini, "apply_patch") => "edit_file",
                (Self::OpenAi | Self::Anthropic, "list_dir") => "glob",
                (_, name) => name,
            };
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    fn has(self, name: &str) -> bool {
        match self {
            Self::OpenAi => !matches!(name, "edit_file" | "list_dir"),
            Self::Anthropic => !matches!(name, "apply_patch" | "list_dir"),
            Self::Gemini => name != "apply_patch",
            Self::Portable => true,
        }
    }

    /// How the family words the arguments of a tool that works on one file.
    fn wording(self, tool: &str) -> Wording {
        let plain = Wording { file: "path", hidden: &[], offset_from_zero: false };
        match (self, tool) {
            (Self::OpenAi, _) => Wording { file: "file_path", ..plain },
            (Self::Anthropic, _) => {
                Wording { file: "file_path", hidden: &["expected_replacements"], ..plain }
            }
            (Self::Gemini, "read_file") => Wording { offset_from_zero: true, ..plain },
            (Self::Gemini, _) => Wording { file: "file_path", hidden: &["replace_all"], ..plain },
            (Self::Portable, _) => Wording { hidden: &["expected_replacements"], ..plain },
        }
    }
}

/// A tool under its own name, in place of the one that had it. Both schemas come from our types, so there is
/// nothing that could be refused.
fn put(registry: &mut Registry, tool: Arc<dyn Tool>) {
    let replaced = registry.replace(tool);
    debug_assert!(replaced.is_ok(), "{replaced:?}");
}

/// What a family calls things.
#[derive(Debug, Clone, Copy)]
struct Wording {
    /// The argument that names the file.
    file: &'static str,
    /// Arguments that the family does not have.
    hidden: &'static [&'static str],
    /// Whether the first line is line 0.
    offset_from_zero: bool,
}

/// A tool that is told, and speaks, in a family's words.
#[derive(Debug)]
struct Reworded {
    spec: ToolSpec,
    inner: Arc<dyn Tool>,
    wording: Wording,
}

impl Reworded {
    fn new(inner: Arc<dyn Tool>, wording: Wording) -> Self {
        let mut spec = inner.spec().clone();
        if let Some(schema) = spec.schema.as_object_mut() {
            wording.reword(schema);
        }
        Self { spec, inner, wording }
    }
}

impl Wording {
    fn reword(&self, schema: &mut Map<String, Value>) {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            let said = std::mem::take(properties).into_iter();
            let said = said.filter(|(name, _)| !self.hidden.contains(&name.as_str()));
            *properties =
                said.map(|(name, value)| {
                    if name == "path" { (self.file.to_owned(), value) } else { (name, value) }
                })
                .collect();
            if let Some(Value::Object(offset)) =
                properties.get_mut("offset").filter(|_| self.offset_from_zero)
            {
                offset.insert("minimum".to_owned(), 0.into());
                offset.insert(
                    "description".to_owned(),
                    "The first line to show, counted from 0.".into(),
                );
            }
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            for name in required.iter_mut().filter(|name| *name == "path") {
                *name = self.file.into();
            }
        }
    }

    /// A family's arguments in our own words.
    fn plain(&self, arguments: &Value) -> Value {
        let Value::Object(members) = arguments else { return arguments.clone() };
        let plain = members.iter().map(|(name, value)| match name.as_str() {
            name if name == self.file => ("path".to_owned(), value.clone()),
            "offset" if self.offset_from_zero => {
                let line = value.as_u64().map(|line| line.saturating_add(1));
                (name.clone(), line.map_or_else(|| value.clone(), Value::from))
            }
            _ => (name.clone(), value.clone()),
        });
        Value::Object(plain.collect())
    }
}

#[async_trait]
impl Tool for Reworded {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Value) -> Inspection {
        self.inner.inspect(&self.wording.plain(arguments))
    }

    async fn run(
        &self,
        arguments: &Value,
        env: &dyn Environment,
        stop: &CancellationToken,
    ) -> ToolOutput {
        self.inner.run(&self.wording.plain(arguments), env, stop).await
    }
}

#[cfg(test)]
mod tests {
    use sandbox::LocalEnvironment;
    use serde_json::json;

    use super::*;

    fn names(family: Family) -> Vec<String> {
        family.registry().names().map(str::to_owned).collect()
    }

    fn properties(family: Family, tool: &str) -> Vec<String> {
        let registry = family.registry();
        let schema = &registry.get(tool).expect("a tool").spec().schema;
        schema["properties"].as_object().expect("properties").keys().cloned().collect()
    }

    #[test]
    fn each_family_has_the_editing_tool_that_it_knows() {
        let has = |family, name: &str| names(family).iter().any(|known| known == name);
        for (family, edit, patch, list) in [
            (Family::OpenAi, false, true, false),
            (Family::Anthropic, true, false, false),
            (Family::Gemini, true, false, true),
            (Family::Portable, true, true, true),
        ] {
            let found =
                (has(family, "edit_file"), has(family, "apply_patch"), has(family, "list_dir"));
            assert_eq!(found, (edit, patch, list), "{}", family.word());
            assert!(has(family, "submit") && has(family, "shell"));
        }
    }

    #[test]
    fn arguments_have_the_familys_names() {
        assert_eq!(properties(Family::OpenAi, "read_file"), ["file_path", "offset", "limit"]);
        assert_eq!(
            properties(Family::Anthropic, "edit_file"),
            ["file_path", "old_string", "new_string", "replace_all"]
        );
        assert_eq!(
            properties(Family::Gemini, "edit_file"),
            ["file_path", "old_string", "new_string", "expected_replacements"]
        );
        assert_eq!(properties(Family::Portable, "write_file"), ["path", "content"]);
    }

    #[test]
    fn a_roles_tools_are_translated_and_a_models_family_is_known() {
        let wanted = ["read_file", "edit_file", "apply_patch", "list_dir"].map(str::to_owned);
        assert_eq!(Family::OpenAi.names(&wanted), ["read_file", "apply_patch", "glob"]);
        assert_eq!(Family::Anthropic.names(&wanted), ["read_file", "edit_file", "glob"]);
        for family in Family::ALL {
            let translated = family.names(&wanted);
            assert!(family.registry().specs(&translated).is_ok(), "{}", family.word());
        }
        let model: ModelRef = "anthropic/some-model".parse().expect("a model");
        assert_eq!(Family::of(&model), Family::Anthropic);
        let model: ModelRef = "ollama/x".parse().expect("a model");
        assert_eq!(Family::of(&model), Family::Portable);
    }

    #[tokio::test]
    async fn the_same_call_in_every_familys_words_does_the_same() {
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let stop = CancellationToken::new();
        for (family, file, first) in [
            (Family::OpenAi, "file_path", 2),
            (Family::Anthropic, "file_path", 2),
            (Family::Gemini, "path", 1),
            (Family::Portable, "path", 2),
        ] {
            std::fs::write(dir.path().join("f"), "a\nb\n").expect("a file");
            let registry = family.registry();
            let output =
                registry.run("read_file", &json!({file: "f", "offset": first}), &env, &stop).await;
            assert!(output.text.starts_with("     2\tb\n"), "{}: {output:?}", family.word());
            let wrong = registry.run("read_file", &json!({"nonsense": "f"}), &env, &stop).await;
            assert!(!wrong.success, "{}", family.word());
        }
        let edit = json!({"file_path": "f", "old_string": "a", "new_string": "c", "expected_replacements": 1});
        let output = Family::Gemini.registry().run("edit_file", &edit, &env, &stop).await;
        assert!(output.success, "{output:?}");
    }
}
