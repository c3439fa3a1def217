//! The environment of cases: the binary, a scratch folder, the variables of every process, and the available tools.
//! pytest is put into a virtual environment if Python has none; nothing else is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;

use super::case_dir::Variables;

/// The tools that a case may need, with a probe command for each.
pub(crate) const PROBES: &[(&str, &str)] = &[
    ("python3", "python3 --version"),
    ("pytest", "python3 -m pytest --version"),
    ("node", "node --version"),
    ("npm", "npm --version"),
    ("cargo", "cargo --version && rustc --version"),
    ("rustup", "rustup --version"),
    ("make", "make --version"),
    ("go", "go version"),
];

/// Tools that a build machine may lack: they cannot always be installed there.
const OPTIONAL: &[&str] = &["pytest", "go", "rustup"];

/// Variables for toolchains; the product passes these to commands if they are set.
const TOOLCHAINS: &[&str] =
    &["PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "NVM_DIR", "VOLTA_HOME", "GOROOT", "GOPATH"];

pub(crate) struct Environment {
    /// The program under test; `None` in a self-test.
    pub(crate) binary: Option<PathBuf>,
    pub(crate) scratch: PathBuf,
    pub(crate) variables: Variables,
    probed: Mutex<BTreeMap<String, bool>>,
}

impl Environment {
    pub(crate) fn prepare(
        binary: Option<PathBuf>,
        scratch: PathBuf,
        venv: &Path,
    ) -> anyhow::Result<Self> {
        let home = scratch.join("home");
        std::fs::create_dir_all(&home).context("making a home")?;
        let mut variables = variables(&home);
        if !succeeds("python3", &["-m", "pytest", "--version"], &variables)
            && with_pytest(venv, &variables)
        {
            let path = variables.get("PATH").cloned().unwrap_or_default();
            variables.insert("PATH".to_owned(), format!("{}/bin:{path}", venv.display()));
            variables.insert("VIRTUAL_ENV".to_owned(), venv.display().to_string());
        }
        Ok(Self { binary, scratch, variables, probed: Mutex::default() })
    }

    /// Which of these tools cannot be used; with a binary: by its checks, in its sandbox.
    pub(crate) fn missing(&self, tools: &[String]) -> anyhow::Result<Vec<String>> {
        // Concurrent cases do not probe the same tool twice.
        let mut probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing = Vec::new();
        for tool in tools {
            let there = match probed.get(tool) {
                Some(there) => *there,
                None => self.probe(tool)?,
            };
            probed.insert(tool.clone(), there);
            if !there {
                missing.push(tool.clone());
            }
        }
        Ok(missing)
    }

    fn probe(&self, tool: &str) -> anyhow::Result<bool> {
        let line = PROBES.iter().find(|(name, _)| *name == tool).map(|(_, line)| *line);
        let line = line.with_context(|| format!("nobody knows how to look for {tool:?}"))?;
        let folder = self.scratch.join("probe");
        std::fs::create_dir_all(&folder).context("making a folder for probes")?;
        let Some(binary) = &self.binary else {
            return Ok(succeeds("sh", &["-c", line], &self.variables));
        };
        let call = serde_json::json!({ "command": line }).to_string();
        let (binary, folder) = (binary.display().to_string(), folder.display().to_string());
        let words = ["tool", "shell", "--args", &call, "--workspace", &folder];
        Ok(succeeds(&binary, &words, &self.variables))
    }
}

/// Whether a build machine must have these tools.
pub(crate) fn required(missing: &BTreeSet<String>) -> Vec<&str> {
    missing.iter().map(String::as_str).filter(|tool| !OPTIONAL.contains(tool)).collect()
}

fn variables(home: &Path) -> Variables {
    let own = |name: &str| std::env::var(name).ok();
    let mut all = Variables::new();
    let mut set = |name: &str, value: String| all.insert(name.to_owned(), value);
    let path = own("PATH").unwrap_or_default();
    for name in TOOLCHAINS {
        if let Some(value) = own(name) {
            set(name, value);
        }
    }
    let real = own("HOME").map(PathBuf::from).unwrap_or_default();
    let cargo = path.split(':').map(|folder| Path::new(folder).join("cargo"));
    let cargo = cargo.into_iter().find(|program| program.is_file()).unwrap_or_default();
    let beside = cargo.ancestors().nth(3).unwrap_or(&real).to_path_buf();
    for (name, folder, holds) in
        [("CARGO_HOME", ".cargo", "bin"), ("RUSTUP_HOME", ".rustup", "toolchains")]
    {
        let near = [beside.join(folder), real.join(folder)];
        let near = near.into_iter().find(|folder| folder.join(holds).is_dir());
        if let Some(folder) = own(name).or_else(|| near.map(|folder| folder.display().to_string()))
        {
            set(name, folder);
        }
    }
    set("PATH", path);
    set("HOME", home.display().to_string());
    set("LANG", "C.UTF-8".to_owned());
    for who in ["AUTHOR", "COMMITTER"] {
        set(&format!("GIT_{who}_NAME"), "base".to_owned());
        set(&format!("GIT_{who}_EMAIL"), "base@example.org".to_owned());
        set(&format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z".to_owned());
    }
    set("GIT_CONFIG_GLOBAL", "/dev/null".to_owned());
    all
}

/// A virtual environment with pytest, made once if a package index can be reached.
fn with_pytest(venv: &Path, variables: &Variables) -> bool {
    let python = venv.join("bin/python3").display().to_string();
    let there = || succeeds(&python, &["-m", "pytest", "--version"], variables);
    if there() {
        return true;
    }
    println!("putting pytest into {}", venv.display());
    // A proxy or another index is set by variables that cases do not get.
    let own: Variables = std::env::vars().collect();
    succeeds("python3", &["-m", "venv", &venv.display().to_string()], &own)
        && succeeds(&python, &["-m", "pip", "install", "-q", "pytest"], &own)
        && there()
}

fn succeeds(program: &str, words: &[&str], variables: &Variables) -> bool {
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(variables);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
