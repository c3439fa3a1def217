//! `bosun models`: which models are known, what they cost, and for which there is a key.

use runtime::llm::{Entry, KeyState};
use serde_json::json;

use crate::args;
use crate::exit::Exit;
use crate::{models, print};

pub(crate) fn models(args: &args::Models) -> anyhow::Result<Exit> {
    let registry = models::registry(models::settings()?, None)?;
    for provider in registry.providers() {
        let key = match provider.key {
            KeyState::There => "there is a key",
            KeyState::Missing => "no key",
            KeyState::NotNeeded => "needs no key",
        };
        if args.json {
            let (name, dialect) = (&provider.name, provider.dialect.as_str());
            let has_key = provider.key != KeyState::Missing;
            print::json(&json!({
                "provider": name, "dialect": dialect, "base_url": provider.base_url,
                "key_env": provider.key_env, "usable": has_key,
            }))?;
        } else {
            let wanted =
                provider.key_env.first().map(|name| format!(" ({name})")).unwrap_or_default();
            print::line(&format!(
                "{:<14} {:<10} {key}{wanted}  {}",
                provider.name,
                provider.dialect.as_str(),
                provider.base_url
            ))?;
        }
    }
    if !args.json {
        print::line(
            "\nmodel                                     window   output   $ in / out for a million tokens",
        )?;
    }
    for (name, entry) in registry.catalogue().list() {
        if args.json {
            print::json(&json!({ "model": name, "known": entry }))?;
        } else {
            print::line(&row(name, entry))?;
        }
    }
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
    format!("{name:<38} {:>9} {:>8}   {price}", number(entry.window), number(entry.max_output))
}
