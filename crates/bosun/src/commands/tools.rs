//! `bosun tools`: the tools of agents, with the names and arguments of a tool profile.

use std::path::Path;

use runtime::tools::{Registry, profile};
use serde_json::Value;
use types::ToolSpec;

use crate::args;
use crate::exit::Exit;
use crate::print;
use crate::rules::{self, rules};

pub(crate) fn tools(args: &args::Tools) -> anyhow::Result<Exit> {
    let policy = rules(None, None, Path::new("."))?.policy;
    let registry =
        profile::adapted(&rules::profile(&policy, &args.profile)?, &Registry::standard());
    for name in registry.names() {
        let Some(tool) = registry.get(name) else { continue };
        print::result(args.json, tool.spec(), &described(tool.spec()))?;
    }
    Ok(Exit::Done)
}

fn described(spec: &ToolSpec) -> String {
    let mut text = format!("{}\n", spec.name);
    for line in spec.description.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    let required: Vec<&str> = spec.schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, schema) in spec.schema["properties"].as_object().into_iter().flatten() {
        let kind = schema["type"].as_str().unwrap_or("one of several values");
        let must = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let about = schema["description"].as_str().unwrap_or_default();
        text.push_str(&format!("      {name} ({kind}{must}): {about}\n"));
    }
    text
}
