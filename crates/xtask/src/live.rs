//! Real model servers on this machine, started, queried and stopped: the parity table of `llm::parity`. A missing
//! server is skipped, with installation hints. Not needed to build or test the product.

mod line;
mod server;
mod session;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use server::{KEY, Server};

const HELP: &str = "\
usage: cargo xtask live FOLDER [--record | --session | --run]

Starts the model servers that are in FOLDER, asks each of them fifteen things in every dialect that it speaks,
prints the table, and stops them. --record also writes the exchanges to crates/llm/recordings, from which the
same table is made in the tests. --session asks nothing of that: the largest model there is works as one agent,
with the program as it is built, and must read a file to answer a question, and edit a file. --run gives it a goal
of one task on a small repository, which goes through the whole line: done only where that is true, or else a report.

FOLDER holds, as far as wanted:
  models/server/llama-server and models/*.gguf   llama.cpp's server and a small model (with MODEL.gguf.jinja
                                                 beside it, if the model needs another chat template)
  aimock/    npm install --prefix FOLDER/aimock @copilotkit/aimock
  venv/      python3 -m venv FOLDER/venv && FOLDER/venv/bin/pip install 'litellm[proxy]'";

/// The key for LiteLLM.
const LITELLM_KEY: &str = "sk-right";

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let (folder, record) = match words {
        ["help" | "--help"] => {
            println!("{HELP}");
            return Ok(());
        }
        [folder, "--session"] => {
            return with_the_program(root, Path::new(folder), |binary, scratch, server| {
                session::run(root, binary, scratch, server)
            });
        }
        [folder, "--run"] => return with_the_program(root, Path::new(folder), line::run),
        [folder] => (*folder, false),
        [folder, "--record"] => (*folder, true),
        _ => bail!("{HELP}"),
    };
    let folder = std::path::absolute(folder).context("finding the folder")?;
    let scratch = root.join("target/live");
    std::fs::create_dir_all(&scratch).context("making a folder for logs")?;
    let llama = start("llama.cpp", llama(&folder, &scratch, Pick::First));
    let aimock = start("aimock", aimock(root, &folder, &scratch));
    let behind = llama.as_ref().context("LiteLLM has no model without llama.cpp");
    let litellm = start("litellm", behind.and_then(|llama| litellm(&folder, &scratch, llama)));
    let mut endpoints = vec![];
    let mut endpoint = |dialect: &str, server: &Option<Server>, path: &str, key: &str| {
        if let Some(server) = server {
            let words = [dialect, server.name, &format!("{}{path}", server.url), "local", key];
            endpoints.extend(words.map(str::to_owned));
        }
    };
    for (dialect, path) in [("messages", ""), ("responses", "/v1"), ("chat", "/v1")] {
        endpoint(dialect, &llama, path, KEY);
        endpoint(dialect, &aimock, path, KEY);
    }
    endpoint("gemini", &litellm, "/v1beta", LITELLM_KEY);
    endpoint("gemini", &aimock, "/v1beta", KEY);
    endpoint("ollama", &aimock, "", KEY);
    if endpoints.is_empty() {
        bail!("there is no server in {}\n\n{HELP}", folder.display());
    }
    parity(root, &endpoints, record)
}

fn with_the_program(
    root: &Path,
    folder: &Path,
    work: impl FnOnce(&Path, &Path, &Server) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = std::path::absolute(folder).context("finding the folder")?;
    let scratch = root.join("target/live");
    std::fs::create_dir_all(&scratch).context("making a folder for logs")?;
    let binary = crate::attacks::binary(root)?;
    let server = llama(&folder, &scratch, Pick::Largest)?;
    work(&binary, &scratch, &server)
}

/// A started server, or a message about why not.
fn start(name: &str, started: anyhow::Result<Server>) -> Option<Server> {
    match started {
        Ok(server) => {
            println!("{name} answers at {}", server.url);
            Some(server)
        }
        Err(error) => {
            println!("without {name}: {error:#}");
            None
        }
    }
}

fn parity(root: &Path, endpoints: &[String], record: bool) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args([
        "run",
        "--quiet",
        "--locked",
        "--package",
        "testkit",
        "--example",
        "parity",
        "--",
    ]);
    if record {
        let recordings = root.join("crates/llm/recordings");
        for old in ["messages", "responses", "chat", "gemini", "ollama"] {
            let old = recordings.join(old);
            if old.is_dir() {
                std::fs::remove_dir_all(old).context("removing the old recordings")?;
            }
        }
        command.arg("--record").arg(recordings);
    }
    let status = command.args(endpoints).current_dir(root).status().context("running cargo")?;
    if status.success() { Ok(()) } else { bail!("the table could not be made") }
}

/// The choice among several models.
#[derive(Clone, Copy)]
enum Pick {
    First,
    Largest,
}

fn llama(folder: &Path, scratch: &Path, pick: Pick) -> anyhow::Result<Server> {
    let models = folder.join("models");
    let program = there(models.join("server/llama-server"))?;
    let mut weights: Vec<PathBuf> = std::fs::read_dir(&models)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "gguf"))
        .collect();
    match pick {
        Pick::First => weights.sort_by(|a, b| b.cmp(a)),
        Pick::Largest => weights.sort_by_key(|file| file.metadata().map_or(0, |file| file.len())),
    }
    let weights = weights.last().context("there is no .gguf file")?;
    let mut command = Command::new(&program);
    command.env("LD_LIBRARY_PATH", models.join("server")).arg("-m").arg(weights);
    command.args(["--alias", "local", "-c", "16384", "--jinja", "--offline", "-np", "1"]);
    command.args(["--api-key", KEY, "--host", "127.0.0.1"]);
    let template = PathBuf::from(format!("{}.jinja", weights.display()));
    if template.exists() {
        command.arg("--chat-template-file").arg(template);
    }
    Server::start("llama.cpp", command, "--port", scratch)
}

fn aimock(root: &Path, folder: &Path, scratch: &Path) -> anyhow::Result<Server> {
    let program = there(folder.join("aimock/node_modules/.bin/llmock"))?;
    let mut command = Command::new(program);
    command.arg("-f").arg(root.join("crates/llm/recordings/aimock.json"));
    Server::start("aimock", command, "-p", scratch)
}

/// LiteLLM translates llama.cpp's chat into Gemini's API.
fn litellm(folder: &Path, scratch: &Path, llama: &Server) -> anyhow::Result<Server> {
    let program = there(folder.join("venv/bin/litellm"))?;
    let config = format!(
        "model_list:\n- model_name: local\n  litellm_params:\n    model: openai/local\n    \
         api_base: {}/v1\n    api_key: {KEY}\n\
         general_settings:\n  custom_auth: only_one_key.check\n\
         litellm_settings:\n  drop_params: true\n  num_retries: 0\n  telemetry: false\n",
        llama.url
    );
    let check = format!(
        "from fastapi import HTTPException\nfrom litellm.proxy._types import UserAPIKeyAuth\n\n\
         async def check(request, api_key: str) -> UserAPIKeyAuth:\n    \
         if api_key.removeprefix('Bearer ') != '{LITELLM_KEY}':\n        \
         raise HTTPException(status_code=401, detail='this key is not known here')\n    \
         return UserAPIKeyAuth(api_key=api_key)\n"
    );
    std::fs::write(scratch.join("litellm.yaml"), config)?;
    std::fs::write(scratch.join("only_one_key.py"), check)?;
    let mut command = Command::new(program);
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").current_dir(scratch);
    // The check above is its authentication; a master key would bypass it.
    command.env("LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY", "true");
    command.args(["--config", "litellm.yaml", "--host", "127.0.0.1"]);
    Server::start("litellm", command, "--port", scratch)
}

fn there(path: PathBuf) -> anyhow::Result<PathBuf> {
    if path.exists() { Ok(path) } else { bail!("{} is not there", path.display()) }
}
