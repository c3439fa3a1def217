//! Arguments: from Rust types to the schema shown to a model, and from a model's JSON back to the types, with
//! messages that a model can act on. `Value` stops here.

use std::borrow::Cow;

use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use types::{BadPath, ToolSpec, WorkPath};

/// Maximum number of complaints about one call that a model is given.
const MAX_COMPLAINTS: usize = 5;
/// Limit on one complaint: it may quote the input, which may be a whole file.
const MAX_COMPLAINT_CHARS: usize = 300;

/// The definition of a tool whose arguments are a `T`.
pub(crate) fn spec<T: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
        root.remove("description");
    }
    simplify(&mut schema);
    ToolSpec { name: name.to_owned(), description: description.to_owned(), schema }
}

/// Removes what confuses models and some providers, or tells them nothing: "or null" and empty defaults of optional
/// arguments, and widths of numbers.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.retain(|key, value| !(key == "default" && is_nothing(value)));
            if let Some(Value::Array(words)) = members.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if members
                .get("format")
                .is_some_and(|format| format.as_str().is_some_and(|format| format.contains("int")))
            {
                members.remove("format");
            }
            if let Some(Value::Array(kinds)) = members.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    members.insert("type".to_owned(), kind);
                }
            }
            members.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Drops members that are `null` and, of a shipped tool, optional ones that are empty texts, which is how some models
/// leave out an option.
pub(crate) fn without_blanks<'a>(arguments: &'a Value, schema: Option<&Value>) -> Cow<'a, Value> {
    let needed = |key: &str| {
        let required = schema.and_then(|schema| schema.get("required")?.as_array());
        required.is_some_and(|names| names.iter().any(|name| name == key))
    };
    let is_blank = |(key, value): &(&String, &Value)| {
        value.is_null() || (schema.is_some() && value.as_str() == Some("") && !needed(key))
    };
    match arguments {
        Value::Object(members) if members.iter().any(|member| is_blank(&member)) => {
            let given = members.iter().filter(|member| !is_blank(member));
            let given = given.map(|(key, value)| (key.clone(), value.clone())).collect();
            Cow::Owned(Value::Object(given))
        }
        other => Cow::Borrowed(other),
    }
}

/// Arguments that name paths.
const PLACES: [&str; 8] =
    ["path", "file_path", "source", "destination", "cwd", "dest", "url", "files"];

/// Turns every absolute path below a root into a path inside it. Paths are checked later.
pub(crate) fn relative<'a>(arguments: Cow<'a, Value>, roots: &[String]) -> Cow<'a, Value> {
    let inside = |text: &str| {
        let rest = roots.iter().find_map(|root| text.strip_prefix(root.as_str()))?;
        match rest.trim_start_matches('/') {
            "" => Some(".".to_owned()),
            _ if !rest.starts_with('/') => None,
            inside => Some(inside.to_owned()),
        }
    };
    let named = |value: &Value| match value {
        Value::String(text) => inside(text).map(Value::String),
        Value::Array(items) => {
            let item = |item: &Value| item.as_str().and_then(inside).map(Value::String);
            let any = items.iter().any(|one| item(one).is_some());
            any.then(|| items.iter().map(|one| item(one).unwrap_or_else(|| one.clone())).collect())
        }
        _ => None,
    };
    let places = PLACES.iter().filter_map(|name| Some((*name, named(arguments.get(name)?)?)));
    let places: Vec<(&str, Value)> = places.collect();
    if places.is_empty() {
        return arguments;
    }
    let mut arguments = arguments.into_owned();
    for (name, place) in places {
        arguments[name] = place;
    }
    Cow::Owned(arguments)
}

/// Describes what is wrong with the arguments, in one sentence for the model.
pub(crate) fn complaints(validator: &Validator, tool: &str, arguments: &Value) -> Option<String> {
    let list: Vec<String> = validator
        .iter_errors(arguments)
        .take(MAX_COMPLAINTS)
        .map(|error| {
            let place = error.instance_path().to_string();
            let text = error.to_string();
            let text = if place.is_empty() { text } else { format!("{place}: {text}") };
            text.chars().take(MAX_COMPLAINT_CHARS).collect()
        })
        .collect();
    (!list.is_empty()).then(|| {
        format!("the arguments of {tool} failed validation against its schema: {}", list.join("; "))
    })
}

/// Parses the arguments as the tool's own type.
pub(crate) fn parse<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("the arguments failed validation: {error}"))
}

/// Parses a path given by a model; the error is a message for the model.
pub(crate) fn path(text: &str) -> Result<WorkPath, String> {
    text.parse().map_err(|error: BadPath| error.to_string())
}

/// Parses the path of a folder; the workspace itself if none is given.
pub(crate) fn folder(text: Option<&str>) -> Result<WorkPath, String> {
    path(text.unwrap_or("."))
}

/// Parses the path of a file to be written. A trailing slash would name a folder.
pub(crate) fn file(text: &str) -> Result<WorkPath, String> {
    let path = path(text)?;
    if path.is_root() || text.ends_with('/') {
        return Err(format!("{text:?} names a folder; give the path of a file"));
    }
    Ok(path)
}

/// Arguments that name files and folders.
const PATHS: &[&str] = &["path", "files", "source", "destination", "dest", "cwd"];

/// Whether an argument points outside the workspace. That is more than a mistake: agents are not permitted to do it, and
/// some policies end an agent for it. Checks arguments only; the sandbox handles symbolic links.
pub(crate) fn names_outside(arguments: &Value) -> bool {
    let Some(arguments) = arguments.as_object() else { return false };
    arguments.iter().any(|(name, value)| match value {
        Value::String(text) if name == "patch" => patched(text).any(leads_out),
        Value::String(text) => PATHS.contains(&name.as_str()) && leads_out(text),
        Value::Array(list) if PATHS.contains(&name.as_str()) => {
            list.iter().filter_map(Value::as_str).any(leads_out)
        }
        _ => false,
    })
}

/// Files named by a patch, even if the patch cannot be parsed.
fn patched(patch: &str) -> impl Iterator<Item = &str> {
    let marks = patch.lines().filter_map(|line| line.strip_prefix("*** "));
    marks.filter_map(|mark| mark.split_once(": ")).map(|(_, path)| path.trim())
}

fn leads_out(text: &str) -> bool {
    matches!(text.parse::<WorkPath>(), Err(BadPath::Absolute(_) | BadPath::Escapes(_)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Arguments {
        /// Where.
        path: String,
        #[schemars(range(min = 1))]
        limit: Option<u32>,
        #[serde(default)]
        names: Vec<String>,
        order: Option<Order>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Order {
        Up,
        Down,
    }

    #[test]
    fn a_schema_is_closed_plain_and_described() {
        let spec = spec::<Arguments>("t", "does");
        assert_eq!(
            spec.schema,
            json!({
                "type": "object",
                "properties": {
                    "path": {"description": "Where.", "type": "string"},
                    "limit": {"type": "integer", "minimum": 1},
                    "names": {"type": "array", "items": {"type": "string"}},
                    "order": {"type": "string", "enum": ["up", "down"]}
                },
                "additionalProperties": false,
                "required": ["path"]
            })
        );
    }

    #[test]
    fn an_absolute_path_below_the_root_is_one_inside() {
        let roots = ["/ws".to_owned()];
        let said =
            json!({"path": "/ws//a", "files": ["/ws/b", "c", "/wsx"], "cwd": "/ws", "x": "/ws/d"});
        let meant = json!({"path": "a", "files": ["b", "c", "/wsx"], "cwd": ".", "x": "/ws/d"});
        assert_eq!(*relative(Cow::Borrowed(&said), &roots), meant);
        for outside in ["/wsx/a", "/etc", "../ws/a", "a"] {
            let said = json!({ "path": outside });
            assert_eq!(*relative(Cow::Borrowed(&said), &roots), said);
        }
        let up = json!({"path": "/ws/../etc/passwd"});
        assert!(
            path(relative(Cow::Borrowed(&up), &roots)["path"].as_str().expect("text")).is_err()
        );
    }

    #[test]
    fn every_mistake_is_named_with_its_place() {
        let spec = spec::<Arguments>("t", "does");
        let validator = jsonschema::validator_for(&spec.schema).expect("a schema");
        let arguments = json!({"path": 1, "limit": 0, "x": 1});
        let text = complaints(&validator, "t", &arguments).expect("complaints");
        for part in ["validation", "/path: 1 is not of type \"string\"", "/limit: 0 is less", "'x'"]
        {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert_eq!(complaints(&validator, "t", &json!({"path": "a"})), None);
        let said = json!({"path": "a", "limit": null});
        let nulls = without_blanks(&said, None);
        assert_eq!(complaints(&validator, "t", &nulls), None);
    }

    #[test]
    fn only_paths_that_lead_out_are_outside() {
        for arguments in [
            json!({ "path": "/etc/passwd" }),
            json!({ "path": "a/../../b" }),
            json!({ "source": "a", "destination": "../a" }),
            json!({ "files": ["a", "~/b"] }),
            json!({ "command": "ls", "cwd": ".." }),
            json!({ "patch": "*** Begin Patch\n*** Delete File: ../a\n*** End Patch" }),
        ] {
            assert!(names_outside(&arguments), "{arguments}");
        }
        for arguments in [
            json!({ "path": "" }),
            json!({ "path": 5 }),
            json!({ "path": "a\u{7}" }),
            json!({ "content": "/etc/passwd", "path": "a/" }),
            json!({ "patch": "*** Begin Patch\n-/etc\n*** End Patch" }),
            json!("/etc/passwd"),
        ] {
            assert!(!names_outside(&arguments), "{arguments}");
        }
    }
}
