//! The arguments of `bosun serve`, `bosun user` and `bosun project`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Prints a link that logs one browser in, once. Programs use tokens (bosun user add NAME). Runs work in projects
(bosun project add NAME DIR); if there are none, the current repository becomes one.

Ctrl-C suspends all runs; the next start resumes them.

Examples:
  bosun serve
  bosun serve --listen 127.0.0.1:8000 --log json
  bosun serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --host bosun.example.org:8443
  bosun serve --behind-proxy --host bosun.example.org --webhook https://example.org/hooks/bosun")]
pub(crate) struct Serve {
    /// Address to listen on; addresses other than loopback require TLS
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4280")]
    pub(crate) listen: SocketAddr,
    /// Host name by which browsers reach the server, with the port if it is not the default; repeatable
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// TLS certificate chain, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// TLS is terminated by a reverse proxy in front of the server
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) behind_proxy: bool,
    /// Do not resume unfinished runs at startup
    #[arg(long)]
    pub(crate) no_resume: bool,
    /// Sustained rate limit per user, in requests per second
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) rate: u32,
    /// Webhook for questions and finished runs, signed with the secret in BOSUN_WEBHOOK_SECRET
    #[arg(long, value_name = "URL")]
    pub(crate) webhook: Option<String>,
    /// Format of the log on standard error
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun project add shop ../shop
  bosun user add ann --role operator --project shop
  bosun user link ann
  bosun user remove ann")]
pub(crate) struct User {
    #[command(subcommand)]
    pub(crate) command: UserCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user and print their token, which is shown only once
    Add {
        /// User name: letters, digits, dots, dashes and underscores
        name: String,
        /// Role of the user
        #[arg(long, value_enum, default_value_t = Role::Operator)]
        role: Role,
        /// Project the user may access; repeatable [default: all]
        #[arg(long = "project", value_name = "NAME")]
        projects: Vec<String>,
    },
    /// Print a login link for one browser, valid once
    Link {
        /// User to log in
        #[arg(default_value = "owner")]
        name: String,
        /// Base URL of the server
        #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:4280")]
        url: String,
    },
    /// List users
    List {
        /// Print JSON Lines, one per user
        #[arg(long)]
        json: bool,
    },
    /// Revoke a user's access: their token and browser logins
    Remove {
        /// User name
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// View everything in their projects
    Viewer,
    /// Also start runs, answer, review, accept and chat
    Operator,
    /// Also manage users and projects
    Admin,
}

impl From<Role> for server::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Operator => Self::Operator,
            Role::Admin => Self::Admin,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun project add shop ../shop
  bosun project list
  bosun project remove shop")]
pub(crate) struct Project {
    #[command(subcommand)]
    pub(crate) command: ProjectCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Add a repository as a project for the server to work in
    Add {
        /// Project name: letters, digits, dots, dashes and underscores
        name: String,
        /// Folder in the repository
        #[arg(default_value = ".")]
        path: PathBuf,
    },
    /// List projects
    List {
        /// Print JSON Lines, one per project
        #[arg(long)]
        json: bool,
    },
    /// Remove a project; its repository and runs are kept
    Remove {
        /// Project name
        name: String,
    },
}
