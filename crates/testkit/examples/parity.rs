//! Tests real servers on the fifteen rows of [`testkit::parity`] and prints the table. `cargo xtask live` starts the
//! servers and calls it: `parity [--record FOLDER] DIALECT SERVER URL MODEL KEY ...`, five arguments per server.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm::{Dialect, Http, Recorder, Transport};
use testkit::parity::{Endpoint, column, table};
use types::Millis;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let folder = match words.first().map(String::as_str) {
        Some("--record") => {
            words.remove(0);
            Some(PathBuf::from(words.remove(0)))
        }
        _ => None,
    };
    let endpoints: Result<Vec<Endpoint>, _> =
        words.chunks(5).map(|words| endpoint(words, folder.as_deref())).collect();
    let endpoints = endpoints?;
    let mut columns = vec![];
    for dialect in Dialect::ALL {
        let of: Vec<Endpoint> =
            endpoints.iter().filter(|endpoint| endpoint.dialect == dialect).cloned().collect();
        if let (Some(folder), false) = (&folder, of.is_empty()) {
            let servers: String =
                of.iter().map(|endpoint| format!("{}\n", endpoint.server)).collect();
            std::fs::write(folder.join(dialect.as_str()).join("servers.txt"), servers)?;
        }
        if !of.is_empty() {
            columns.push((dialect, column(&of).await));
        }
    }
    let table = table(&columns);
    print!("{table}");
    if let Some(folder) = folder {
        std::fs::write(folder.join("table.txt"), table)?;
    }
    Ok(())
}

fn endpoint(words: &[String], folder: Option<&Path>) -> Result<Endpoint, Box<dyn Error>> {
    let [dialect, server, base_url, model, key] = words else {
        return Err("five words for each server: dialect, name, address, model, key".into());
    };
    let found = Dialect::ALL.into_iter().find(|one| one.as_str() == dialect);
    let http: Arc<dyn Transport> = Arc::new(Http::new(Millis::seconds(5)));
    let transport = match folder {
        Some(folder) => {
            let folder = folder.join(dialect).join(server);
            std::fs::create_dir_all(&folder)?;
            Arc::new(Recorder::new(http, folder)) as Arc<dyn Transport>
        }
        None => http,
    };
    Ok(Endpoint {
        server: server.clone(),
        dialect: found.ok_or_else(|| format!("there is no dialect {dialect}"))?,
        base_url: base_url.clone(),
        key: key.clone().into(),
        model: model.clone(),
        transport,
    })
}
