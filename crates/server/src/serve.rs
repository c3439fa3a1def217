//! Binding, serving and stopping. A stop parks runs instead of killing them: streams end, handlers finish, every log is
//! complete, and the next start resumes the runs.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use runtime::{Bosun, Clock, RealClock};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, AccessError};
use crate::app::{App, Parts};
use crate::connections::Connections;
use crate::drivers::Drivers;
use crate::factory::RunFactory;
use crate::limit::{RateLimit, StreamLimit};
use crate::listen::Door;
use crate::openapi::document;
use crate::router::router;
use crate::routes::operations;
use crate::stream::MOST_STREAMS;
use crate::tls::{TlsError, tls_config};
use crate::turns::Turns;
use crate::webhook::{self, Webhook};

/// How long open connections may stay open after a stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Configuration of the server.
#[derive(Debug)]
pub struct ServerConfig {
    pub bosun: Bosun,
    pub factory: Arc<dyn RunFactory>,
    pub access: Arc<Access>,
    /// The folder with the journal.
    pub home: PathBuf,
    pub listen: SocketAddr,
    /// Additional names under which browsers reach the server, `host` or `host:port`.
    pub hosts: Vec<String>,
    /// A certificate chain and its key, both PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether a proxy in front terminates TLS.
    pub behind_proxy: bool,
    /// Whether to resume runs that no process drives at the start.
    pub resume: bool,
    /// Sustained requests per second for each user.
    pub rate: u32,
    /// Maximum number of open connections; see [`crate::most_connections`].
    pub connections: usize,
    /// Where to post questions and ends of runs.
    pub webhook: Option<Webhook>,
    pub version: &'static str,
}

/// Error binding or serving.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen on {address}; name another address with --listen")]
    Bind {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "{address} is reachable from other machines and requires TLS: pass --tls-cert and --tls-key, or \
         --behind-proxy if a proxy terminates TLS"
    )]
    Exposed { address: SocketAddr },
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("serving")]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Runs(#[from] runtime::Error),
}

/// A bound server.
#[derive(Debug)]
pub struct Server {
    app: App,
    listener: TcpListener,
    connections: Arc<Connections>,
    tls: Option<Arc<rustls::ServerConfig>>,
    address: SocketAddr,
    /// The first of the additional names.
    name: Option<String>,
    resume: bool,
    webhook: Option<(Webhook, PathBuf)>,
}

impl Server {
    /// Reads the certificate and binds the address, without serving yet.
    pub async fn bind(config: ServerConfig) -> Result<Self, ServeError> {
        let has_tls = config.tls.is_some() || config.behind_proxy;
        if !config.listen.ip().is_loopback() && !has_tls {
            return Err(ServeError::Exposed { address: config.listen });
        }
        let tls =
            config.tls.map(|(certificate, key)| tls_config(&certificate, &key)).transpose()?;
        let bound = TcpListener::bind(config.listen).await;
        let listener =
            bound.map_err(|source| ServeError::Bind { address: config.listen, source })?;
        let address = listener.local_addr()?;
        let cookie = format!("bosun-{}", address.port());
        let (stopping, clock): (_, Arc<dyn Clock>) =
            (CancellationToken::new(), Arc::new(RealClock));
        let (version, named) = (config.version, cookie.clone());
        let written = move || document(&operations(), version, &named).to_string().into();
        let app = App::new(Parts {
            drivers: Drivers::new(
                config.bosun.clone(),
                clock.clone(),
                &config.home,
                stopping.clone(),
            ),
            bosun: config.bosun,
            factory: config.factory,
            access: config.access,
            listing: Mutex::default(),
            clock,
            limit: RateLimit::new(config.rate),
            // No user keeps all others out.
            streams: StreamLimit::new(MOST_STREAMS.min(config.connections.div_ceil(2))),
            turns: Turns::default(),
            hosts: hosts(address, &config.hosts),
            tls: has_tls,
            document: LazyLock::new(Box::new(written)),
            cookie,
            version: config.version,
            stopping,
        });
        let webhook = config.webhook.map(|hook| (hook, config.home));
        let (name, resume) = (config.hosts.into_iter().next(), config.resume);
        let connections = Connections::new(config.connections);
        Ok(Self { app, listener, connections, tls, address, name, resume, webhook })
    }

    /// The bound address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the page: with the first configured name, or else the local address.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.app.tls { "https" } else { "http" };
        let address = match self.address.ip().is_unspecified() {
            true => format!("localhost:{}", self.address.port()),
            false => self.address.to_string(),
        };
        format!("{scheme}://{}", self.name.as_ref().unwrap_or(&address))
    }

    /// Serves until `stop` is cancelled; then suspends all runs and returns.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ServeError> {
        if self.resume {
            let (entries, ours) = (self.app.entries().await?, self.app.of_projects()?);
            let entries = entries.iter().filter(|entry| ours.shows(entry));
            self.app.drivers.resume_all(entries).await;
        }
        if let Some((hook, home)) = self.webhook {
            let (bosun, stopping) = (self.app.bosun.clone(), self.app.stopping.clone());
            tokio::spawn(webhook::notify(bosun, hook, home, stopping));
        }
        let (app, router) = (self.app.clone(), router(&self.app));
        let stopping = app.stopping.clone();
        let stopped = async move {
            stop.cancelled().await;
            stopping.cancel();
        };
        let door = Door {
            listener: self.listener,
            tls: self.tls.map(TlsAcceptor::from),
            connections: self.connections,
            router,
        };
        let served = tokio::spawn(door.serve(app.stopping.clone()));
        tokio::spawn(stopped);
        app.stopping.cancelled().await;
        tracing::info!("stopping: runs are suspended");
        app.drivers.stop().await;
        match tokio::time::timeout(DRAIN_TIMEOUT, served).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(broken)) => Err(ServeError::Io(std::io::Error::other(broken))),
            // Connections still open after the timeout are cut.
            Err(_) => Ok(()),
        }
    }
}

/// The authorities accepted in Host and Origin headers.
fn hosts(address: SocketAddr, more: &[String]) -> BTreeSet<String> {
    let port = address.port();
    let local = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
    let named = more.iter().map(|host| host.to_ascii_lowercase());
    local.into_iter().chain([address.to_string()]).chain(named).collect()
}
