//! Profiles: each model family gets the tools, names and arguments that it was trained on, over the same
//! implementations. A profile changes words only; what a tool does is the same in all of them.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use types::{Family, Inspection, ToolOutput, ToolSpec};

use crate::registry::Registry;
use crate::{Place, Tool};

/// The tools of a family, with its wording, over some tools.
#[must_use]
pub fn dressed(family: Family, plain: &Registry) -> Registry {
    let mut registry = plain.clone();
    let all: Vec<String> = registry.names().map(str::to_owned).collect();
    for name in all.iter().filter(|name| !has(family, name) && !plain.is_own(name)) {
        registry.unregister(name);
    }
    for name in ["read_file", "write_file", "edit_file", "delete_file", "shell"] {
        if let Some(inner) = registry.get(name).filter(|_| !plain.is_own(name)).cloned() {
            registry.put(Arc::new(Reworded::new(inner, wording(family, name))));
        }
    }
    registry
}

/// The family's own names for tools that a role asks for by their plain names.
#[must_use]
pub fn names(family: Family, wanted: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        let name = match (family, name.as_str()) {
            // A patch deletes and moves, too.
            (Family::OpenAi, "edit_file" | "delete_file" | "move_file") => "apply_patch",
            (Family::Anthropic | Family::Gemini, "apply_patch") => "edit_file",
            (Family::OpenAi | Family::Anthropic, "list_dir") => "glob",
            (_, name) => name,
        };
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn has(family: Family, name: &str) -> bool {
    match family {
        Family::OpenAi => !matches!(name, "edit_file" | "delete_file" | "move_file" | "list_dir"),
        Family::Anthropic => !matches!(name, "apply_patch" | "list_dir"),
        Family::Gemini => name != "apply_patch",
        Family::Portable => true,
    }
}

/// How the family words the arguments of a tool.
fn wording(family: Family, tool: &str) -> Wording {
    let plain = Wording { file: "path", hidden: &[], offset_from_zero: false, timeout_ms: None };
    let named = Wording { file: "file_path", ..plain };
    match (family, tool) {
        // What takes long is ordinary for these models, and they seldom say so.
        (Family::Anthropic, "shell") => Wording { timeout_ms: Some(120_000), ..plain },
        (Family::Portable, "edit_file") => Wording { hidden: &["expected_replacements"], ..plain },
        (Family::Portable, _) | (_, "shell") => plain,
        (Family::Gemini, "read_file") => {
            Wording { offset_from_zero: true, hidden: &["encoding"], ..plain }
        }
        (Family::Gemini, "edit_file") => Wording { hidden: &["replace_all"], ..named },
        (_, "edit_file") => Wording { hidden: &["expected_replacements"], ..named },
        (_, "read_file") => Wording { hidden: &["encoding"], ..named },
        _ => Wording { hidden: &["create_dirs"], ..named },
    }
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
    /// How long a command has when the model does not say.
    timeout_ms: Option<u64>,
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
    fn plain<'a>(&self, arguments: &'a Value) -> Cow<'a, Value> {
        let same = self.file == "path" && !self.offset_from_zero && self.timeout_ms.is_none();
        let Some(members) = arguments.as_object().filter(|_| !same) else {
            return Cow::Borrowed(arguments);
        };
        let plain = members.iter().map(|(name, value)| match name.as_str() {
            name if name == self.file => ("path".to_owned(), value.clone()),
            "offset" if self.offset_from_zero => {
                let line = value.as_u64().map(|line| line.saturating_add(1));
                (name.clone(), line.map_or_else(|| value.clone(), Value::from))
            }
            _ => (name.clone(), value.clone()),
        });
        let mut plain: Map<String, Value> = plain.collect();
        if let Some(most) = self.timeout_ms.filter(|_| !plain.contains_key("timeout_ms")) {
            plain.insert("timeout_ms".to_owned(), most.into());
        }
        Cow::Owned(Value::Object(plain))
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

    async fn run(&self, arguments: &Value, place: &Place<'_>) -> ToolOutput {
        // What was set for the place counts more than what the family is used to.
        let timeout_ms = self.wording.timeout_ms.filter(|_| place.command_timeout().is_none());
        let wording = Wording { timeout_ms, ..self.wording };
        self.inner.run(&wording.plain(arguments), place).await
    }
}

#[cfg(test)]
mod tests {
    use sandbox::LocalEnvironment;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Seen;

    fn registry(family: Family) -> Registry {
        dressed(family, &Registry::standard())
    }

    fn all(family: Family) -> Vec<String> {
        registry(family).names().map(str::to_owned).collect()
    }

    fn properties(family: Family, tool: &str) -> Vec<String> {
        let registry = registry(family);
        let schema = &registry.get(tool).expect("a tool").spec().schema;
        schema["properties"].as_object().expect("properties").keys().cloned().collect()
    }

    /// A9, A10, A11: who has which tool for editing.
    #[test]
    fn each_family_has_the_editing_tool_that_it_knows() {
        let has = |family, name: &str| all(family).iter().any(|known| known == name);
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

    /// A9, A10: in whose words.
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
        assert_eq!(properties(Family::Portable, "write_file"), ["path", "content", "create_dirs"]);
        assert_eq!(properties(Family::OpenAi, "write_file"), ["file_path", "content"]);
    }

    #[test]
    fn a_roles_tools_are_translated() {
        let wanted = ["read_file", "edit_file", "apply_patch", "list_dir"].map(str::to_owned);
        assert_eq!(names(Family::OpenAi, &wanted), ["read_file", "apply_patch", "glob"]);
        assert_eq!(names(Family::Anthropic, &wanted), ["read_file", "edit_file", "glob"]);
        for family in Family::ALL {
            let translated = names(family, &wanted);
            assert!(registry(family).specs(&translated).is_ok(), "{}", family.word());
        }
    }

    /// A23, A82: the time that a command has is the model's word, else what was set, else what the family is used to.
    #[tokio::test]
    async fn how_long_a_command_has_can_be_set() {
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let (stop, seen) = (CancellationToken::new(), Seen::unguarded());
        let set = Some(types::Span::millis(60));
        let place = Place::new(&env, &seen, &stop).with_command_timeout(set);
        for family in Family::ALL {
            let run = async |arguments| registry(family).run("shell", &arguments, &place).await;
            let late = run(json!({"command": "sleep 30"})).await;
            assert!(late.text.contains("timed out after 60 ms"), "{}: {late:?}", family.word());
            let said = run(json!({"command": "sleep 30", "timeout_ms": 20})).await;
            assert!(said.text.contains("timed out after 20 ms"), "{}: {said:?}", family.word());
        }
    }

    #[tokio::test]
    async fn the_same_call_in_every_familys_words_does_the_same() {
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let (stop, seen) = (CancellationToken::new(), Seen::unguarded());
        let place = Place::new(&env, &seen, &stop);
        for (family, file, first) in [
            (Family::OpenAi, "file_path", 2),
            (Family::Anthropic, "file_path", 2),
            (Family::Gemini, "path", 1),
            (Family::Portable, "path", 2),
        ] {
            std::fs::write(dir.path().join("f"), "a\nb\n").expect("a file");
            let registry = registry(family);
            let output =
                registry.run("read_file", &json!({file: "f", "offset": first}), &place).await;
            assert!(output.text.starts_with("     2\tb\n"), "{}: {output:?}", family.word());
            let wrong = registry.run("read_file", &json!({"nonsense": "f"}), &place).await;
            assert!(!wrong.success, "{}", family.word());
        }
        let edit = json!({"file_path": "f", "old_string": "a", "new_string": "c", "expected_replacements": 1});
        let output = registry(Family::Gemini).run("edit_file", &edit, &place).await;
        assert!(output.success, "{output:?}");
    }
}
