//! The few settings read from the user's own git configuration. Nothing else of it takes effect here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::call::{Git, complete, described};

impl Git {
    /// A setting as the user's own git has it in a folder. Reading this part of their configuration is safe.
    pub(super) async fn user_setting(&self, folder: &Path, name: &str) -> Option<String> {
        let mut command = self.plain();
        command.current_dir(folder).env_remove("GIT_CONFIG_GLOBAL");
        command.envs(std::env::var_os("HOME").map(|home| ("HOME", home)));
        command.envs(std::env::var_os("XDG_CONFIG_HOME").map(|home| ("XDG_CONFIG_HOME", home)));
        let args = ["config", "--get", name];
        command.args(args);
        let answer = complete(command, described(&args), &[]).await.ok()?;
        let set = answer.succeeded().then(|| answer.line().ok()).flatten()?;
        Some(set.to_string_lossy().trim().to_owned()).filter(|set| !set.is_empty())
    }

    /// The user's global list of ignored files, if any. Reading this part of the user's configuration is safe, and
    /// without it, files that the user ignores everywhere would count as uncommitted work.
    pub(super) async fn user_excludes(&self) -> Option<OsString> {
        let home = std::env::var_os("HOME")?;
        let mut command = self.plain();
        command.current_dir("/").env("HOME", &home).env_remove("GIT_CONFIG_GLOBAL");
        let args = ["config", "--global", "--type=path", "--get", "core.excludesFile"];
        command.args(args);
        let answer = complete(command, described(&args), &[]).await.ok()?;
        let set = answer.succeeded().then(|| answer.line().ok()).flatten();
        Some(set.unwrap_or_else(|| PathBuf::from(home).join(".config/git/ignore").into()))
    }
}
