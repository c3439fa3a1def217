//! The keys of `config.toml`, each with its kind, its default and whether a project may set it. This table is the
//! source of the refusal of unknown keys, the suggestions, the JSON Schema and the check of the reference page. Serde
//! reads the values.

use serde_json::{Value, json};

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A model as `provider/model`.
    Model,
    /// A whole number.
    Number,
    /// An amount of dollars, as a string such as `"1.50"`.
    Money,
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    Texts,
    Models,
    /// A list of prices by size of the request.
    Prices,
}

/// One key. `*` in its path stands for any name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub path: &'static str,
    pub kind: Kind,
    /// The built-in value, as TOML.
    pub default: Option<&'static str>,
    pub about: &'static str,
    /// Whether the `config.toml` of a project may set it.
    pub project: bool,
}

const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const DIALECTS: &[&str] = &["messages", "responses", "chat", "gemini", "ollama"];
const AUTHS: &[&str] = &["bearer", "api_key", "aws", "google"];

const fn key(path: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { path, kind, default: None, about, project: false }
}

const fn set(path: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Key {
    Key { path, kind, default: Some(default), about, project: false }
}

const fn shared(path: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { path, kind, default: None, about, project: true }
}

/// Every key, in the order of the documentation.
pub const KEYS: &[Key] = &[
    shared("model", Kind::Model, "The model to work with, unless a role has its own"),
    shared("effort", Kind::Word(EFFORTS), "How hard models think, unless a role says otherwise"),
    Key {
        default: Some("\"crew\""),
        ..shared("preset", Kind::Text, "The rules to work by where a project has none of its own")
    },
    key("instruction", Kind::Text, "What every agent is told, after everything else"),
    shared("checks", Kind::Texts, "Commands that must pass in the end"),
    set(
        "project_models",
        Kind::Texts,
        "[\"*\"]",
        "The models that a project may choose, as patterns such as `anthropic/*`",
    ),
    key(
        "on_question",
        Kind::Texts,
        "A program of yours, with its arguments, that is run when a question comes up",
    ),
    key(
        "on_end",
        Kind::Texts,
        "A program of yours, with its arguments, that is run when a run is over",
    ),
    shared("roles.*.model", Kind::Model, "The model of one role"),
    shared("roles.*.effort", Kind::Word(EFFORTS), "How hard the model of one role thinks"),
    shared(
        "budget.tokens",
        Kind::Number,
        "The most tokens of one run; a project can only lower it",
    ),
    shared("budget.money", Kind::Money, "The most dollars of one run; a project can only lower it"),
    shared(
        "budget.calls",
        Kind::Number,
        "The most model calls of one run; a project can only lower it",
    ),
    shared(
        "budget.time_s",
        Kind::Number,
        "The most seconds of one run; a project can only lower it",
    ),
    key("providers.*.dialect", Kind::Word(DIALECTS), "The API that the server speaks"),
    key("providers.*.base_url", Kind::Text, "The address of the server"),
    key("providers.*.base_url_env", Kind::Texts, "Variables that may hold the address"),
    key(
        "providers.*.key_env",
        Kind::Texts,
        "Variables that may hold the key; the first that is set counts",
    ),
    key("providers.*.key_url", Kind::Text, "Where a person gets a key; shown where it is missing"),
    key("providers.*.key_needed", Kind::Flag, "Whether the server refuses requests without a key"),
    key(
        "providers.*.auth",
        Kind::Word(AUTHS),
        "How requests are authenticated, where not as the dialect has it",
    ),
    key("providers.*.region", Kind::Text, "The region of a cloud provider"),
    key("providers.*.region_env", Kind::Texts, "Variables that may hold the region"),
    key("providers.*.project", Kind::Text, "The project of a cloud provider"),
    key("providers.*.project_env", Kind::Texts, "Variables that may hold the project"),
    key(
        "providers.*.api_version",
        Kind::Text,
        "Azure OpenAI: the dated API version, for addresses by deployment",
    ),
    key("providers.*.api_version_env", Kind::Texts, "Variables that may hold the API version"),
    key("providers.*.headers.*", Kind::Text, "A header that is sent with every request"),
    key("providers.*.header_env.*", Kind::Text, "The variable that holds the value of a header"),
    key("providers.*.at_once", Kind::Number, "How many calls may be in progress at once"),
    set(
        "providers.*.quirks.max_tokens_key",
        Kind::Text,
        "\"max_tokens\"",
        "Chat Completions: the name of the output limit",
    ),
    set(
        "providers.*.quirks.stream_usage",
        Kind::Flag,
        "true",
        "Chat Completions: whether a stream is asked for its usage",
    ),
    set(
        "providers.*.quirks.required_word",
        Kind::Text,
        "\"required\"",
        "Chat Completions: the word for \"some tool must be used\"",
    ),
    set(
        "providers.*.quirks.effort_key",
        Kind::Text,
        "\"reasoning_effort\"",
        "Chat Completions: where the effort goes",
    ),
    set(
        "providers.*.quirks.developer_role",
        Kind::Text,
        "\"system\"",
        "Chat Completions: the role of the system prompt",
    ),
    key(
        "chains.*",
        Kind::Models,
        "The models that are asked when this one cannot answer, in order",
    ),
    key("models.*.window", Kind::Number, "The most tokens of conversation and reply together"),
    key("models.*.max_output", Kind::Number, "The most tokens of one reply"),
    key("models.*.price", Kind::Prices, "Dollars for a million tokens, by size of the request"),
    key(
        "models.*.abilities",
        Kind::Texts,
        "What the model can do: tools, images, documents, thinking, schema, cache",
    ),
    key("models.*.source", Kind::Text, "Where the figures are from"),
    key("models.*.checked", Kind::Text, "When they were looked up, as YYYY-MM-DD"),
    set(
        "retry.max_tries",
        Kind::Number,
        "3",
        "`bosun ask`: all tries of a request, the first one included",
    ),
    set(
        "retry.base_ms",
        Kind::Number,
        "1000",
        "The longest wait before the second try; it doubles",
    ),
    set("retry.cap_ms", Kind::Number, "60000", "Where the doubling ends"),
    set(
        "retry.longest_wait_ms",
        Kind::Number,
        "60000",
        "The longest wait that a provider may ask for",
    ),
    key(
        "retry.patience_ms",
        Kind::Number,
        "How long it is tried in all; without it, `max_tries` counts",
    ),
    set(
        "retry.whole_replies",
        Kind::Flag,
        "false",
        "Whether a reply that broke off is asked for again",
    ),
    set("deadlines.connect_ms", Kind::Number, "15000", "The longest wait for a connection"),
    set(
        "deadlines.first_byte_ms",
        Kind::Number,
        "180000",
        "The longest wait for the first byte of an answer",
    ),
    set("deadlines.idle_ms", Kind::Number, "120000", "The longest silence within an answer"),
    set("deadlines.total_ms", Kind::Number, "1800000", "The longest answer"),
    set(
        "breaker.failures",
        Kind::Number,
        "5",
        "How many failed requests in a row stop requests to a model",
    ),
    set("breaker.open_ms", Kind::Number, "30000", "For how long"),
];

/// The environment variables that set a key, each with that key.
pub const VARIABLES: [(&str, &str); 6] = [
    ("BOSUN_MODEL", "model"),
    ("BOSUN_PLANNER_MODEL", "roles.planner.model"),
    ("BOSUN_CODER_MODEL", "roles.coder.model"),
    ("BOSUN_EFFORT", "effort"),
    ("BOSUN_INSTRUCTION", "instruction"),
    ("BOSUN_PRESET", "preset"),
];

/// The meaning of a path in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Key(&'static Key),
    /// A table that has keys below it.
    Table,
    Nothing,
}

/// Looks a path up.
pub(super) fn place(path: &[String]) -> Place {
    let mut found = Place::Nothing;
    for key in KEYS {
        let parts: Vec<&str> = key.path.split('.').collect();
        let fits = parts.iter().zip(path).all(|(part, name)| *part == "*" || part == name);
        match parts.len().cmp(&path.len()) {
            std::cmp::Ordering::Equal if fits => return Place::Key(key),
            std::cmp::Ordering::Greater if fits => found = Place::Table,
            _ => {}
        }
    }
    found
}

/// The names that may follow a path.
pub(super) fn names_below(path: &[String]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = vec![];
    for key in KEYS {
        let parts: Vec<&'static str> = key.path.split('.').collect();
        let fits = parts.iter().zip(path).all(|(part, name)| *part == "*" || part == name);
        if let Some(next) = parts.get(path.len()).filter(|next| fits && **next != "*")
            && !names.contains(next)
        {
            names.push(next);
        }
    }
    names
}

/// The JSON Schema of `config.toml`.
#[must_use]
pub fn schema() -> Value {
    let mut root = table("Bosun's config.toml");
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    for key in KEYS {
        put(&mut root, key);
    }
    root
}

/// The JSON Schema of `models.toml`, which has the keys about models, and `default` for the model to work with.
#[must_use]
pub fn models_schema() -> Value {
    let mut root = table("Bosun's models.toml");
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["properties"]["default"] = schema_of(&KEYS[0]);
    for key in KEYS.iter().filter(|key| of_models(key.path)) {
        put(&mut root, key);
    }
    root
}

/// Whether a key is allowed in `models.toml`.
pub(super) fn of_models(path: &str) -> bool {
    let first = path.split('.').next().unwrap_or_default();
    ["providers", "chains", "models", "retry", "deadlines", "breaker"].contains(&first)
}

fn put(root: &mut Value, key: &Key) {
    let mut at = root;
    let parts: Vec<&str> = key.path.split('.').collect();
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        let new = if last { schema_of(key) } else { table("") };
        let slot = match *part {
            "*" => &mut at["additionalProperties"],
            name => &mut at["properties"][name],
        };
        if last || !slot.is_object() {
            *slot = new;
        }
        at = slot;
    }
}

fn table(about: &str) -> Value {
    let mut table = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    if !about.is_empty() {
        table["description"] = json!(about);
    }
    table
}

fn schema_of(key: &Key) -> Value {
    let model = json!({ "type": "string", "pattern": "^[^/]+/.+$" });
    let mut schema = match key.kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Model => model,
        Kind::Number => json!({ "type": "integer", "minimum": 0 }),
        Kind::Money => json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,9})?$" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Models => json!({ "type": "array", "items": model }),
        Kind::Prices => json!({ "type": "array", "items": {
            "type": "object", "additionalProperties": false, "required": ["input", "output"],
            "properties": {
                "up_to_input": { "type": "integer" }, "input": { "type": "string" },
                "output": { "type": "string" }, "cache_read": { "type": "string" },
                "cache_write": { "type": "string" },
            },
        } }),
    };
    schema["description"] = json!(key.about);
    schema
}
