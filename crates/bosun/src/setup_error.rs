//! Errors about the configuration and the models of this machine. Their exit codes are in `exit.rs`.

/// A problem with the configuration that the user has to fix.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error(
        "this repository has untrusted files that change how agents work ({files}); review them, then trust them with: \
         bosun trust {folder}; --no-project ignores them"
    )]
    Untrusted { folder: String, files: String },
    #[error("{flag}: the policy has no role {role}; its roles: {known}")]
    NoRole { flag: &'static str, role: &'static str, known: String },
    #[error(
        "no server for {model} at {address} ({cause}); start it, set its address (docs/providers.md), or choose \
         another model with --model"
    )]
    Away { model: types::ModelRef, address: String, cause: String },
    #[error(
        "no model given and no provider key set, but a local server has {model}: add --model {model}, or set it in \
         your config.toml (`bosun config path` shows where)"
    )]
    OnlyLocal { model: types::ModelRef },
    #[error("{option}: {url:?} is not an HTTP or HTTPS URL")]
    NoUrl { option: &'static str, url: String },
    #[error(
        "--base-url: the URL contains a user name, password or key, which would be recorded with the run; configure \
         the server in your config.toml, with its key in an environment variable (docs/providers.md)"
    )]
    SecretInUrl,
    #[error("unknown schema {name:?}; available: {known}")]
    NoSchema { name: String, known: String },
}
