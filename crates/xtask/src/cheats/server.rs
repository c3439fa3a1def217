//! A server on the loopback that answers every request with the same text, for agents that fetch a result instead of
//! computing it. It understands no HTTP beyond that.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;

const EVERY: Duration = Duration::from_millis(10);

pub(crate) struct Server {
    pub(crate) port: u16,
    over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "it plays a server that an agent may ask")]
    pub(crate) fn start(answer: String) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("listening")?;
        let port = listener.local_addr().context("listening")?.port();
        listener.set_nonblocking(true).context("listening")?;
        let over = Arc::<AtomicBool>::default();
        let seen = Arc::clone(&over);
        let listening = std::thread::spawn(move || {
            while !seen.load(Ordering::SeqCst) {
                match listener.accept() {
                    // A client that disconnects gets no answer.
                    Ok((stream, _)) => _ = respond(stream, &answer),
                    Err(_) => std::thread::park_timeout(EVERY),
                }
            }
        });
        Ok(Self { port, over, listening: Some(listening) })
    }
}

fn respond(mut stream: TcpStream, answer: &str) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    _ = stream.read(&mut [0; 4096])?;
    let length = answer.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}"
    )
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.listening.take() {
            thread.thread().unpark();
            thread.join().ok();
        }
    }
}
