//! A listener on TCP and UDP, and if requested on an abstract socket; and the servers that some attacks need. Records
//! whether anything connected.

use std::io::{Read as _, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use flate2::{Compress, Compression, FlushCompress};

/// The polling interval.
const EVERY: Duration = Duration::from_millis(10);

pub(crate) struct Sink {
    port: u16,
    reached: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    listening: Vec<JoinHandle<()>>,
}

impl Sink {
    #[expect(
        clippy::disallowed_methods,
        reason = "it plays the world outside, which an attack must not reach"
    )]
    pub(crate) fn open(kind: &str, workspace: &Path) -> anyhow::Result<Self> {
        let tcp = TcpListener::bind("127.0.0.1:0").context("listening")?;
        let port = tcp.local_addr().context("listening")?.port();
        tcp.set_nonblocking(true)?;
        let serves = Serves::named(kind);
        let mut sink =
            Self { port, reached: Arc::default(), over: Arc::default(), listening: vec![] };
        sink.listen(move || match tcp.accept() {
            Ok((stream, _)) => {
                std::thread::spawn(move || serves.answer(stream).ok());
                true
            }
            Err(_) => false,
        });
        if let Ok(udp) = UdpSocket::bind(("127.0.0.1", port)) {
            udp.set_nonblocking(true)?;
            sink.listen(move || udp.recv(&mut [0]).is_ok());
        }
        if let Some(name) = kind.strip_prefix("abstract_unix:") {
            let address = SocketAddr::from_abstract_name(name).context("naming the listener")?;
            let listener = UnixListener::bind_addr(&address).context("listening")?;
            listener.set_nonblocking(true)?;
            sink.listen(move || listener.accept().is_ok());
        }
        if let Some(name) = kind.strip_prefix("unix:") {
            let place = workspace.join(name);
            let listener = UnixListener::bind(&place).context("listening")?;
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o777))?;
            listener.set_nonblocking(true)?;
            sink.listen(move || listener.accept().is_ok());
        }
        Ok(sink)
    }

    /// Polls for connections until the attack is over.
    fn listen(&mut self, came: impl Fn() -> bool + Send + 'static) {
        let (reached, over) = (Arc::clone(&self.reached), Arc::clone(&self.over));
        self.listening.push(std::thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                if came() {
                    reached.store(true, Ordering::SeqCst);
                } else {
                    std::thread::park_timeout(EVERY);
                }
            }
        }));
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn was_reached(&self) -> bool {
        // A connection is noticed at the next poll.
        std::thread::park_timeout(EVERY * 3);
        self.reached.load(Ordering::SeqCst)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        for thread in self.listening.drain(..) {
            thread.thread().unpark();
            thread.join().ok();
        }
    }
}

/// The response to a connection.
#[derive(Debug, Clone, Copy)]
enum Serves {
    Nothing,
    Slowly,
    ElsewhereForbidden,
    Bomb,
    Endless,
}

impl Serves {
    fn named(kind: &str) -> Self {
        match kind {
            "slowloris" => Self::Slowly,
            "http_302_forbidden" => Self::ElsewhereForbidden,
            "endless" => Self::Endless,
            kind if kind.starts_with("gzip_bomb") => Self::Bomb,
            _ => Self::Nothing,
        }
    }

    fn answer(self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let _asked = stream.read(&mut [0; 4096]);
        match self {
            Self::Nothing => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"),
            Self::ElsewhereForbidden => stream.write_all(
                b"HTTP/1.1 302 Found\r\nlocation: http://forbidden.test/\r\ncontent-length: 0\r\n\r\n",
            ),
            Self::Slowly => loop {
                stream.write_all(b"H")?;
                std::thread::park_timeout(Duration::from_secs(1));
            },
            Self::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")?;
                loop {
                    stream.write_all(&[b'x'; 64 * 1024])?;
                }
            }
            Self::Bomb => bomb(&mut stream),
        }
    }
}

/// Ten gigabytes of zeros in ten megabytes: one compressed megabyte, repeated.
fn bomb(out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-type: text/plain\r\n\r\n",
    )?;
    out.write_all(b"\x1f\x8b\x08\0\0\0\0\0\0\x03")?;
    let mut packed = Vec::with_capacity(64 * 1024);
    Compress::new(Compression::best(), false)
        .compress_vec(&vec![b'0'; 1024 * 1024], &mut packed, FlushCompress::Sync)
        .map_err(std::io::Error::other)?;
    for _ in 0..10_000 {
        out.write_all(&packed)?;
    }
    Ok(())
}
