//! `bosun models`: the known models, their prices, and the providers that have a key.

use std::path::Path;

use runtime::llm::{self, Entry, Http, KeyState};
use runtime::settings::{self, ConfigError};
use serde_json::json;
use types::Millis;

use crate::args;
use crate::exit::{CliError, Exit};
use crate::{config, files, models, print};

/// Time limit for connecting to a server on this machine.
const SOON: Millis = Millis::seconds(1);

pub(crate) async fn models(args: &args::Models) -> anyhow::Result<Exit> {
    if let Some(file) = &args.refresh {
        return refresh(file, args.json);
    }
    let registry = models::registry(models::settings()?, None)?;
    for provider in registry.providers() {
        let key = match provider.key {
            _ if !provider.address_env.is_empty() => "no address",
            KeyState::There => "key set",
            KeyState::Missing => "no key",
            KeyState::NotNeeded => "no key needed",
        };
        let (name, dialect) = (&provider.name, provider.dialect.as_str());
        let (url, has_key) = (&provider.base_url, provider.key != KeyState::Missing);
        let object = json!({
            "provider": name, "dialect": dialect, "base_url": url, "key_env": provider.key_env,
            "usable": has_key,
        });
        let names = match provider.address_env.is_empty() {
            true => provider.key_env.first().into_iter().cloned().collect(),
            false => provider.address_env.clone(),
        };
        let wanted =
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let said = format!("{name:<16} {dialect:<10} {key}{wanted}  {url}\n");
        print::result(args.json, &object, &said)?;
    }
    for server in llm::local_servers(&Http::new(SOON)).await {
        let models: Vec<String> = server.models.iter().map(ToString::to_string).collect();
        let object = json!({
            "local_server": server.name, "provider": server.provider, "address": server.address, "models": models,
        });
        let names = if models.is_empty() { "no models".to_owned() } else { models.join(", ") };
        let said = format!("local server   {} at {}: {names}\n", server.name, server.address);
        print::result(args.json, &object, &said)?;
    }
    if !args.json {
        print::line(
            "\nmodel                                     window   output   $ in / out per million tokens",
        )?;
    }
    for (name, entry) in registry.catalogue().list() {
        print::result(args.json, &json!({ "model": name, "known": entry }), &row(name, entry))?;
    }
    Ok(Exit::Done)
}

/// Merges a catalogue file into the user's own; its entries replace those with the same name.
fn refresh(file: &Path, json: bool) -> anyhow::Result<Exit> {
    let target =
        config::folder().ok_or_else(|| anyhow::anyhow!("no configuration folder; set HOME"))?;
    let target = target.join("models.toml");
    let before = match std::fs::read_to_string(&target) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => {
            return Err(CliError::Unreadable { path: target.display().to_string(), source }.into());
        }
    };
    let merged = settings::merged_models(&before, &files::read(file)?)
        .map_err(|cause| ConfigError { place: file.display().to_string(), cause })?;
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder)?;
    }
    files::write(&target, &merged.text)?;
    let path = print::one_line(&target.display().to_string(), 300);
    let object = json!({ "file": target, "new": merged.new, "changed": merged.changed });
    let said = format!("{path}: {} new, {} changed\n", merged.new, merged.changed);
    print::result(json, &object, &said)?;
    Ok(Exit::Done)
}

fn row(name: &str, entry: &Entry) -> String {
    let number =
        |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let price = match entry.prices.as_slice() {
        [] => "unknown".to_owned(),
        [price, more @ ..] => {
            let tiers = if more.is_empty() { "" } else { ", more for long requests" };
            format!("{} / {}{tiers}", price.input, price.output)
        }
    };
    format!("{name:<38} {:>9} {:>8}   {price}\n", number(entry.window), number(entry.max_output))
}
