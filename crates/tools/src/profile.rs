//! Tool profiles: each model family gets the tools, names and arguments that it was trained on, over the same
//! implementations; a policy may define its own profiles. A profile changes wording only; the behaviour of a tool, and
//! the rules for it, are the same in all profiles.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use types::{Family, Inspection, ToolOutput, ToolProfile, ToolSpec};

use crate::registry::Registry;
use crate::{Tool, ToolContext};

/// Adapts tools to the names and arguments of a profile. A program's own tools keep theirs.
#[must_use]
pub fn adapted(profile: &ToolProfile, plain: &Registry) -> Registry {
    let mut registry = plain.clone();
    let all: Vec<String> = registry.names().map(str::to_owned).collect();
    let ours = all.iter().filter(|name| !plain.is_own(name));
    for name in ours {
        let (arguments, called) =
            (arguments(profile, name), profile.names.get(name).unwrap_or(name));
        let kept = instead(profile.like, name) == name;
        if kept && called == name && arguments.is_plain() {
            continue;
        }
        if let Some(inner) = registry.unregister(name).filter(|_| kept) {
            registry.put(Arc::new(Reworded::new(inner, called, arguments)));
        }
    }
    registry
}

/// The profile's names for tools that a role requests by their plain names.
#[must_use]
pub fn names(profile: &ToolProfile, wanted: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        let name = instead(profile.like, name);
        let name = profile.names.get(name).map_or(name, String::as_str);
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Replaces plain names in back quotes by the profile's names.
#[must_use]
pub fn reworded(profile: &ToolProfile, text: &str) -> String {
    let arguments = profile.arguments.values().flatten();
    let renamed = profile.names.iter().chain(arguments);
    renamed.fold(text.to_owned(), |text, (plain, theirs)| {
        text.replace(&format!("`{plain}`"), &format!("`{theirs}`"))
    })
}

/// The tool that a family has instead of one that it does not know; the same name if it has it.
fn instead(family: Family, name: &str) -> &str {
    match (family, name) {
        // A patch can also delete and move.
        (Family::OpenAi, "edit_file" | "delete_file" | "move_file") => "apply_patch",
        (Family::Anthropic | Family::Gemini, "apply_patch") => "edit_file",
        (Family::OpenAi | Family::Anthropic, "list_dir") => "glob",
        (_, name) => name,
    }
}

/// ArgumentProfile of a tool's arguments in a profile: that of its family, overridden by the profile's own names.
fn arguments(profile: &ToolProfile, tool: &str) -> ArgumentProfile {
    let mut arguments = family_arguments(profile.like, tool);
    let own = profile.arguments.get(tool).into_iter().flatten();
    arguments.renamed.extend(own.map(|(plain, theirs)| (plain.clone(), theirs.clone())));
    let time = profile.command_timeout_ms.filter(|_| tool == "shell");
    arguments.timeout_ms = time.map(|time| time.0).or(arguments.timeout_ms);
    arguments
}

fn family_arguments(family: Family, tool: &str) -> ArgumentProfile {
    let plain = ArgumentProfile::default();
    let named = || ArgumentProfile {
        renamed: [("path".to_owned(), "file_path".to_owned())].into(),
        ..ArgumentProfile::default()
    };
    match (family, tool) {
        // Long commands are common for these models, and they seldom set a timeout.
        (Family::Anthropic, "shell") => ArgumentProfile { timeout_ms: Some(120_000), ..plain },
        (Family::Portable, "edit_file") => {
            ArgumentProfile { hidden: &["expected_replacements"], ..plain }
        }
        (Family::Portable, _) => plain,
        (Family::Gemini, "read_file") => {
            ArgumentProfile { offset_from_zero: true, hidden: &["encoding"], ..plain }
        }
        (Family::Gemini, "edit_file") => ArgumentProfile { hidden: &["replace_all"], ..named() },
        (_, "edit_file") => ArgumentProfile { hidden: &["expected_replacements"], ..named() },
        (_, "read_file") => ArgumentProfile { hidden: &["encoding"], ..named() },
        (_, "write_file" | "delete_file") => {
            ArgumentProfile { hidden: &["create_dirs"], ..named() }
        }
        _ => plain,
    }
}

/// ArgumentProfile of a tool's arguments in a profile.
#[derive(Debug, Clone, Default)]
struct ArgumentProfile {
    /// New names of arguments, by their plain names.
    renamed: BTreeMap<String, String>,
    /// Arguments that the family does not have.
    hidden: &'static [&'static str],
    /// Whether the first line is line 0.
    offset_from_zero: bool,
    /// Timeout of a command if the model gives none.
    timeout_ms: Option<u64>,
}

/// A tool presented in a profile's wording.
#[derive(Debug)]
struct Reworded {
    spec: ToolSpec,
    inner: Arc<dyn Tool>,
    wording: ArgumentProfile,
}

impl Reworded {
    fn new(inner: Arc<dyn Tool>, called: &str, wording: ArgumentProfile) -> Self {
        let mut spec = inner.spec().clone();
        called.clone_into(&mut spec.name);
        if let Some(schema) = spec.schema.as_object_mut() {
            wording.reword(schema);
        }
        Self { spec, inner, wording }
    }
}

impl ArgumentProfile {
    /// Whether nothing differs from the plain tool.
    fn is_plain(&self) -> bool {
        self.renamed.is_empty()
            && self.hidden.is_empty()
            && !self.offset_from_zero
            && self.timeout_ms.is_none()
    }

    fn reword(&self, schema: &mut Map<String, Value>) {
        let called = |name: &str| self.renamed.get(name).map_or(name, String::as_str).to_owned();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            let said = std::mem::take(properties).into_iter();
            let said = said.filter(|(name, _)| !self.hidden.contains(&name.as_str()));
            *properties = said.map(|(name, value)| (called(&name), value)).collect();
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
            for name in required.iter_mut() {
                *name = name.as_str().map(called).into();
            }
        }
    }

    /// Translates a profile's arguments to the plain ones.
    fn plain<'a>(&self, arguments: &'a Value) -> Cow<'a, Value> {
        let same = self.renamed.is_empty() && !self.offset_from_zero && self.timeout_ms.is_none();
        let Some(members) = arguments.as_object().filter(|_| !same) else {
            return Cow::Borrowed(arguments);
        };
        let ours = |theirs: &String| {
            let found = self.renamed.iter().find(|(_, called)| *called == theirs);
            found.map_or(theirs, |(plain, _)| plain).clone()
        };
        let plain = members.iter().map(|(name, value)| match name.as_str() {
            "offset" if self.offset_from_zero => {
                let line = value.as_u64().map(|line| line.saturating_add(1));
                (name.clone(), line.map_or_else(|| value.clone(), Value::from))
            }
            _ => (ours(name), value.clone()),
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

    fn plain_name(&self) -> &str {
        self.inner.plain_name()
    }

    fn inspect(&self, arguments: &Value) -> Inspection {
        let mut inspection = self.inner.inspect(&self.wording.plain(arguments));
        if let Inspection::Would(facts) = &mut inspection
            && self.spec.name != self.plain_name()
        {
            facts.tool = Some(self.plain_name().to_owned());
        }
        inspection
    }

    async fn run(&self, arguments: &Value, place: &ToolContext<'_>) -> ToolOutput {
        // An explicitly set timeout takes precedence over the family's default.
        let timeout_ms =
            self.wording.timeout_ms.filter(|_| place.policy.command_timeout_ms.is_none());
        let wording = ArgumentProfile { timeout_ms, ..self.wording.clone() };
        self.inner.run(&wording.plain(arguments), place).await
    }
}

#[cfg(test)]
mod tests {
    use sandbox::LocalEnvironment;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::FileReadTracker;

    fn registry(family: Family) -> Registry {
        adapted(&ToolProfile::of(family), &Registry::standard())
    }

    fn all(family: Family) -> Vec<String> {
        registry(family).names().map(str::to_owned).collect()
    }

    fn properties(family: Family, tool: &str) -> Vec<String> {
        let registry = registry(family);
        let schema = &registry.get(tool).expect("a tool").spec().schema;
        schema["properties"].as_object().expect("properties").keys().cloned().collect()
    }

    /// A9, A10, A11: editing tools of each family.
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
            assert_eq!(found, (edit, patch, list), "{}", family.as_str());
            assert!(has(family, "submit") && has(family, "shell"));
        }
    }

    /// A9, A10: argument names of each family.
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
        assert_eq!(
            names(&ToolProfile::of(Family::OpenAi), &wanted),
            ["read_file", "apply_patch", "glob"]
        );
        assert_eq!(
            names(&ToolProfile::of(Family::Anthropic), &wanted),
            ["read_file", "edit_file", "glob"]
        );
        for family in Family::ALL {
            let translated = names(&ToolProfile::of(family), &wanted);
            assert!(registry(family).specs(&translated).is_ok(), "{}", family.as_str());
        }
    }

    /// K15: the six tools of document 000 under its names and arguments, with a command timeout of half a minute. They
    /// are the same tools: the rules see their plain names.
    #[tokio::test]
    async fn the_basic_profile_has_the_documents_names() {
        let registry = adapted(&ToolProfile::basic(), &Registry::standard());
        for (tool, wanted) in [
            ("shell_exec", &["command", "timeout", "cwd"][..]),
            ("file_read", &["path", "encoding"]),
            ("file_write", &["path", "content", "createDirs"]),
            ("git_clone", &["url", "dest", "branch", "depth"]),
            ("git_commit", &["message", "files", "all"]),
            ("git_diff", &["path", "staged", "ref"]),
        ] {
            let schema = &registry.get(tool).expect(tool).spec().schema;
            let known = schema["properties"].as_object().expect("properties");
            assert!(wanted.iter().all(|name| known.contains_key(*name)), "{tool}: {known:?}");
        }
        assert!(registry.get("shell").is_none() && registry.get("read_file").is_none());
        let call = types::Call {
            wire_id: String::new(),
            tool: "shell_exec".to_owned(),
            arguments: types::Arguments::Json(json!({"command": "true", "timeout": 5})),
        };
        let Inspection::Would(facts) = registry.inspect(&call) else { panic!("it can be made") };
        assert_eq!(facts.tool.as_deref(), Some("shell"));
        assert_eq!(registry.plain_name("file_write"), "write_file");
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let (stop, seen) = (CancellationToken::new(), FileReadTracker::unguarded());
        let place = ToolContext::new(&env, &seen, &stop);
        let arguments = json!({"path": "a/b", "content": "c", "createDirs": true});
        let output = registry.run("file_write", &arguments, &place).await;
        assert!(output.success && dir.path().join("a/b").exists(), "{output:?}");
        let timed = json!({"command": "sleep 30", "timeout": 20});
        let late = registry.run("shell_exec", &timed, &place).await;
        assert!(late.text.contains("timed out after 20 ms"), "{late:?}");
        let wanted = ["shell", "read_file", "git_diff"].map(str::to_owned);
        let theirs = names(&ToolProfile::basic(), &wanted);
        assert_eq!(theirs, ["shell_exec", "file_read", "git_diff"]);
        let said = reworded(&ToolProfile::basic(), "Use `shell` with `timeout_ms`, no shell.");
        assert_eq!(said, "Use `shell_exec` with `timeout`, no shell.");
    }

    /// A23, A82: the timeout of a command is the one the model gives, else the one that was
    /// set, else the family's default.
    #[tokio::test]
    async fn how_long_a_command_has_can_be_set() {
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let (stop, seen) = (CancellationToken::new(), FileReadTracker::unguarded());
        let mut place = ToolContext::new(&env, &seen, &stop);
        place.policy.command_timeout_ms = Some(types::Millis(60));
        for family in Family::ALL {
            let run = async |arguments| registry(family).run("shell", &arguments, &place).await;
            let late = run(json!({"command": "sleep 30"})).await;
            assert!(late.text.contains("timed out after 60 ms"), "{}: {late:?}", family.as_str());
            let said = run(json!({"command": "sleep 30", "timeout_ms": 20})).await;
            assert!(said.text.contains("timed out after 20 ms"), "{}: {said:?}", family.as_str());
        }
    }

    #[tokio::test]
    async fn the_same_call_in_every_familys_words_does_the_same() {
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let (stop, seen) = (CancellationToken::new(), FileReadTracker::unguarded());
        let place = ToolContext::new(&env, &seen, &stop);
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
            assert!(output.text.starts_with("     2\tb\n"), "{}: {output:?}", family.as_str());
            let wrong = registry.run("read_file", &json!({"nonsense": "f"}), &place).await;
            assert!(!wrong.success, "{}", family.as_str());
        }
        let edit = json!({"file_path": "f", "old_string": "a", "new_string": "c", "expected_replacements": 1});
        let output = registry(Family::Gemini).run("edit_file", &edit, &place).await;
        assert!(output.success, "{output:?}");
    }
}
