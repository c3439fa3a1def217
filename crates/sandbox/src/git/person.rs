//! Who the person is, by their own git configuration. Nothing else of it is read here.

use std::path::Path;

use super::call::{Git, complete, described};

impl Git {
    /// The name and the address that the person's own configuration has for commits in a folder, if it has both. Reading
    /// that much of it is safe.
    pub(super) async fn person(&self, folder: &Path) -> Option<(String, String)> {
        let home = std::env::var_os("HOME")?;
        let mut found = Vec::new();
        for key in ["user.name", "user.email"] {
            let mut command = self.plain();
            command.current_dir(folder).env("HOME", &home).env_remove("GIT_CONFIG_GLOBAL");
            if let Some(settings) = std::env::var_os("XDG_CONFIG_HOME") {
                command.env("XDG_CONFIG_HOME", settings);
            }
            let args = ["config", "--get", key];
            command.args(args);
            let answer = complete(command, described(&args), &[]).await.ok()?;
            let line = answer.succeeded().then(|| answer.line().ok()).flatten()?;
            found.push(line.to_str()?.trim().to_owned());
        }
        let address = found.pop()?;
        Some((found.pop()?, address))
            .filter(|(name, address)| !name.is_empty() && !address.is_empty())
    }
}
