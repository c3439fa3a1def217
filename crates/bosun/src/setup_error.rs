//! Errors about the configuration and the models of this machine. Their exit codes are in `exit.rs`.

/// A problem with the configuration that the user has to fix.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error(
        "this repository brings files that change how agents work ({files}), and they are not trusted yet; read them, then \
         trust them with: bosun trust {folder}; --no-project leaves them out"
    )]
    Untrusted { folder: String, files: String },
    #[error("{flag}: the policy has no role {role}; there are {known}")]
    NoRole { flag: &'static str, role: &'static str, known: String },
    #[error(
        "nothing answers at {address}, where {model} would be asked ({cause}); start that server, set its address \
         (docs/providers.md), or name another model with --model"
    )]
    Away { model: types::ModelRef, address: String, cause: String },
    #[error(
        "no model is named and no key is set, but a server on this machine has {model}: add --model {model}, or set it in \
         your config.toml (`bosun config path` says where that is)"
    )]
    OnlyLocal { model: types::ModelRef },
    #[error("--base-url: {url:?} is no http or https address")]
    NoUrl { url: String },
    #[error(
        "--base-url: the address contains a user, a password or a key, and it would be recorded with the run; describe the \
         server in your config.toml, with its key in a variable (docs/providers.md)"
    )]
    SecretInUrl,
    #[error("there is no schema {name:?}; there are {known}")]
    NoSchema { name: String, known: String },
}
