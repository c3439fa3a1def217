//! Calls over the loopback: how long one takes, and what two hundred at once take.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use llm::{Dialect, Http, Model as _, Provider, Quirks, Registry, Settings};
use types::{
    AttemptId, Message, Millis, ModelOptions, ModelRequest, Origin, RoleId, SessionId, StreamItem,
    TaskId,
};

use crate::{ALLOCATOR, plain};

pub(crate) const CALLS: usize = 300;
pub(crate) const STREAMS: usize = 200;

pub(crate) struct Calls {
    pub(crate) first_item: Duration,
    pub(crate) whole: Duration,
    pub(crate) bare: Duration,
}

pub(crate) struct Crowd {
    pub(crate) heap: u64,
    pub(crate) resident: u64,
    pub(crate) took: Duration,
    items: usize,
}

impl Crowd {
    pub(crate) fn items_per_second(&self) -> f64 {
        self.items as f64 / self.took.as_secs_f64()
    }
}

/// One call after the other: a short answer in the dialect of Chat Completions.
pub(crate) fn calls() -> Result<Calls, Box<dyn Error>> {
    let address = server(plain::answer(Dialect::Chat, 20, 3), 1)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let registry = registry(address)?;
    let mut times = (vec![], vec![], vec![]);
    for _ in 0..CALLS {
        let begin = Instant::now();
        bare(address)?;
        times.2.push(begin.elapsed());
        let begin = Instant::now();
        let (first, items) = runtime.block_on(ask(&registry));
        times.0.push(first.ok_or("nothing came")?.duration_since(begin));
        times.1.push(begin.elapsed());
        assert_eq!(items, 22, "start, twenty texts, end");
    }
    let [first_item, whole, bare] = [times.0, times.1, times.2].map(median);
    Ok(Calls { first_item, whole, bare })
}

/// Many streams at once, each of a thousand deltas that come in fifty pieces.
pub(crate) fn crowd() -> Result<Crowd, Box<dyn Error>> {
    let address = server(plain::answer(Dialect::Chat, 1_000, 3), 50)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let registry = Arc::new(registry(address)?);
    ALLOCATOR.forget_most();
    let begin = Instant::now();
    let items = runtime.block_on(async {
        let asked = (0..STREAMS).map(|_| {
            let registry = registry.clone();
            tokio::spawn(async move { ask(&registry).await.1 })
        });
        futures::future::join_all(asked).await.into_iter().map(Result::unwrap_or_default).sum()
    });
    let took = begin.elapsed();
    assert_eq!(items, STREAMS * 1_002, "every item of every stream");
    Ok(Crowd { heap: ALLOCATOR.most(), resident: resident()?, took, items })
}

async fn ask(registry: &Registry) -> (Option<Instant>, usize) {
    let mut stream = registry.stream(Arc::new(request()));
    let (mut first, mut items) = (None, 0);
    while let Some(item) = stream.next().await {
        if let StreamItem::Failed(fault) = item {
            println!("{}: {}", fault.code, fault.what);
            break;
        }
        first.get_or_insert_with(Instant::now);
        items += 1;
    }
    (first, items)
}

fn registry(address: SocketAddr) -> Result<Registry, Box<dyn Error>> {
    let settings = Settings::parse("")?;
    let mut registry = Registry::new(settings, |_| None, Arc::new(Http::new(Millis::seconds(5))))?;
    registry.add(Provider {
        name: "near".to_owned(),
        dialect: Dialect::Chat,
        base_url: format!("http://{address}"),
        key: Some("none".into()),
        headers: BTreeMap::new(),
        quirks: Quirks::default(),
        auth: llm::Auth::default(),
        api_version: None,
    });
    Ok(registry)
}

#[expect(clippy::expect_used, reason = "the name is written here")]
fn request() -> ModelRequest {
    ModelRequest {
        model: "near/model".parse().expect("a model"),
        system: Arc::from("You are brief."),
        messages: vec![Arc::new(Message::user("Say hello."))],
        tools: Arc::from([]),
        max_output: 100,
        origin: Origin {
            role: RoleId::fixed("bench"),
            attempt: AttemptId::new(TaskId::fixed("bench"), 1),
            session: SessionId::ROOT,
            turn: 1,
        },
        options: ModelOptions::default(),
    }
}

/// Answers every request with these bytes, in so many pieces. It lives as long as the process.
fn server(answer: Vec<u8>, pieces: usize) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let answer: Arc<[u8]> = answer.into();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let answer = answer.clone();
            let small = std::thread::Builder::new().stack_size(64 << 10);
            let served = small.spawn(move || {
                // A client that goes away ends its connection, which is all there is to do about it.
                let _gone = serve(connection, &answer, pieces);
            });
            if let Err(error) = served {
                println!("no thread for a connection: {error}");
            }
        }
    });
    Ok(address)
}

fn serve(mut connection: TcpStream, answer: &[u8], pieces: usize) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut buffer = [0; 8 << 10];
    loop {
        // The requests here are smaller than the buffer, and come in one piece.
        if connection.read(&mut buffer)? == 0 {
            return Ok(());
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        connection.write_all(head.as_bytes())?;
        for piece in answer.chunks(answer.len().div_ceil(pieces)) {
            connection.write_all(piece)?;
            std::thread::yield_now();
        }
    }
}

/// The same exchange without a client: a connection, the bytes out, the bytes in.
fn bare(address: SocketAddr) -> std::io::Result<usize> {
    let mut connection = TcpStream::connect(address)?;
    connection.set_nodelay(true)?;
    let request = "POST /chat/completions HTTP/1.1\r\nhost: near\r\ncontent-length: 2\r\n\r\n{}";
    connection.write_all(request.as_bytes())?;
    let mut seen = vec![];
    let mut buffer = [0; 16 << 10];
    loop {
        let count = connection.read(&mut buffer)?;
        seen.extend_from_slice(&buffer[..count]);
        if count == 0 || seen.ends_with(b"[DONE]\n\n") {
            return Ok(seen.len());
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// What this process has in memory.
fn resident() -> std::io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb =
        line.and_then(|line| line.split_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
    Ok(kb.unwrap_or(0) * 1024)
}
