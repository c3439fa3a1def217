//! Idle WebSockets: two thousand connections, each subscribed to everything, while nothing happens. Memory is measured
//! after the server has sent its first pings.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures::{SinkExt as _, StreamExt as _, TryStreamExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::{Figures, Ready, megabytes};

const SOCKETS: usize = 2_000;
/// The number of files that a process opens besides the sockets.
const OTHERS: usize = 100;
/// The number of connections opened concurrently.
const AT_ONCE: usize = 32;
const PATIENCE: Duration = Duration::from_secs(120);
/// The memory limit of the server, in MB.
const MOST: f64 = 150.0;
/// The buffer size of a connection on the client side.
const BUFFER: usize = 1_024;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(super) async fn measure(binary: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let most = most_files()?;
    ensure!(
        most >= SOCKETS + OTHERS,
        "only {most} files can be open at once, so {SOCKETS} sockets were NOT measured; raise the limit (ulimit -n)"
    );
    let Ready { served, client, site: _site } = Ready::start(binary, &[]).await?;
    let token = client.token().context("a token")?;
    let opened = futures::stream::iter(0..SOCKETS).map(|_| open(served.address(), token));
    let opened = opened.buffer_unordered(AT_ONCE).try_collect::<Vec<Socket>>();
    let mut sockets = timeout(PATIENCE, opened).await.context("sockets cannot be opened")??;
    figures.show("memory with that many sockets, just opened", megabytes(served.memory()?), "MB");
    for socket in &mut sockets {
        let message = timeout(PATIENCE, socket.next()).await.context("no ping came")?;
        let message = message.context("the server closed an idle socket")??;
        ensure!(message.is_ping(), "nothing happens, but {message:?} came");
    }
    let what = format!("memory with {SOCKETS} idle WebSockets");
    figures.judge(&what, megabytes(served.memory()?), "MB", MOST);
    Ok(())
}

async fn open(address: &str, token: &str) -> anyhow::Result<Socket> {
    let mut request = format!("ws://{address}/api/v1/ws").into_client_request()?;
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
    let config = WebSocketConfig::default().read_buffer_size(BUFFER).write_buffer_size(BUFFER);
    let (mut socket, _) = connect_async_with_config(request, Some(config), true).await?;
    socket.send(Message::text("{\"subscribe\": {}}")).await?;
    let hello = socket.next().await.context("a first message")??;
    ensure!(hello.to_text()?.contains("\"hello\""), "{hello:?}");
    Ok(socket)
}

/// The most files that this process may open, and the server, which inherits the limit.
fn most_files() -> anyhow::Result<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").context("reading limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let most =
        line.and_then(|line| line.split_whitespace().next()).context("the limit of files")?;
    Ok(if most == "unlimited" { usize::MAX } else { most.parse()? })
}
