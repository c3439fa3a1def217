//! The arguments of the server and of those who may use it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
The link that is printed logs one browser in, once. Programs use tokens: bosun user add NAME. Runs work in projects:
bosun project add NAME DIR; without any, the repository of the current folder becomes one.

Ctrl-C parks all runs; the next start goes on with them.

Examples:
  bosun serve
  bosun serve --listen 127.0.0.1:8000 --log json
  bosun serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --host bosun.example.org:8443
  bosun serve --behind-proxy --host bosun.example.org --webhook https://example.org/hooks/bosun")]
pub(crate) struct Serve {
    /// The address to listen on; another than this machine's own takes TLS
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4280")]
    pub(crate) listen: SocketAddr,
    /// A name under which browsers reach the server, with its port if it is not the usual one; may be given several times
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// The certificate chain for TLS, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy in front of the server speaks TLS
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) behind_proxy: bool,
    /// Leave runs alone that nobody drives
    #[arg(long)]
    pub(crate) no_resume: bool,
    /// Requests a second that one user may send in the long run
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) rate: u32,
    /// Post questions and ends of runs there, signed with the secret in BOSUN_WEBHOOK_SECRET
    #[arg(long, value_name = "URL")]
    pub(crate) webhook: Option<String>,
    /// How the log on standard error is written
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
    /// Let somebody use the server, and print their token, once
    Add {
        /// A name of letters, digits, dots, dashes and underscores
        name: String,
        /// What they may do
        #[arg(long, value_enum, default_value_t = Role::Operator)]
        role: Role,
        /// A project that they may see; may be given several times [default: all]
        #[arg(long = "project", value_name = "NAME")]
        projects: Vec<String>,
    },
    /// Print a link that logs one browser in, once; without a name, the owner's
    Link {
        /// Whose browser it is
        #[arg(default_value = "owner")]
        name: String,
        /// Where browsers reach the server
        #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:4280")]
        url: String,
    },
    /// List everybody
    List {
        /// Print a JSON line for each
        #[arg(long)]
        json: bool,
    },
    /// Revoke somebody's access: their token, and the browsers where they are logged in
    Remove {
        /// Whose access
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Look at everything in their projects
    Viewer,
    /// Also start runs, answer, review, accept
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
    /// Give a repository a name, so that the server can work in it
    Add {
        /// A name of letters, digits, dots, dashes and underscores
        name: String,
        /// A folder in the repository
        #[arg(default_value = ".")]
        path: PathBuf,
    },
    /// List all projects
    List {
        /// Print a JSON line for each
        #[arg(long)]
        json: bool,
    },
    /// Forget a project's name; its repository and its runs stay
    Remove {
        /// Which one
        name: String,
    },
}
