//! Accepting connections, and answering the requests on each. Heads, bodies and idle connections have time limits, so a
//! peer that sends half a request does not keep its descriptor.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connections::{Connection, Connections};
use crate::transport::{MOST_HEAD, Transport};

/// Time limit for the head of a request, and for the pause between two requests.
const HEAD: Duration = Duration::from_secs(20);
/// Time limit for a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Maximum number of headers.
const MOST_HEADERS: usize = 100;

/// Where requests come in.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) router: Router,
}

impl Door {
    /// Answers requests until `stop` is cancelled and every connection is closed.
    pub(crate) async fn serve(mut self, stop: CancellationToken) {
        let (open, service) = (TaskTracker::new(), TowerToHyperService::new(self.router));
        // Running out of descriptors delays the next connection, and ends nothing.
        while let Some((stream, from)) =
            stop.run_until_cancelled(Listener::accept(&mut self.listener)).await
        {
            let Some(connection) = self.connections.open(from.ip()) else {
                tracing::warn!(%from, "too many connections; one was refused");
                continue;
            };
            let peer = Peer { from, connection: Arc::new(connection), stop: stop.clone() };
            open.spawn(peer.answer(stream, self.tls.clone(), service.clone()));
        }
        drop(self.listener);
        open.close();
        open.wait().await;
    }
}

type Routes = TowerToHyperService<Router>;

/// The other end of a connection.
struct Peer {
    from: SocketAddr,
    connection: Arc<Connection>,
    stop: CancellationToken,
}

impl Peer {
    async fn answer(self, stream: TcpStream, tls: Option<TlsAcceptor>, routes: Routes) {
        let closed = self.connection.closed();
        closed.run_until_cancelled(self.negotiated(stream, tls, routes)).await;
    }

    async fn negotiated(&self, stream: TcpStream, tls: Option<TlsAcceptor>, routes: Routes) {
        let Some(acceptor) = tls else { return self.requests(stream, routes).await };
        match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => self.requests(stream, routes).await,
            Ok(Err(error)) => tracing::debug!(from = %self.from, %error, "a TLS handshake failed"),
            Err(_) => tracing::debug!(from = %self.from, "a TLS handshake took too long"),
        }
    }

    async fn requests<I>(&self, io: I, routes: Routes)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let connection = self.connection.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(connection.clone());
            routes.call(request)
        });
        let io = TokioIo::new(Transport::new(io, self.connection.clone()));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(MOST_HEAD)
            .max_headers(MOST_HEADERS);
        let mut serving = std::pin::pin!(http.serve_connection(io, service).with_upgrades());
        let ended = tokio::select! {
            ended = serving.as_mut() => ended,
            () = self.stop.cancelled() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(from = %self.from, %error, "a connection broke off");
        }
    }
}
