//! The server itself: connections, replies, and the record of every request and broken rule.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use runtime::Models;
use runtime::llm::{Dialect, Http, Registry, Settings};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{Family, Millis, ModelRef};

use super::answer::{Answer, Refusal, Reply};
use super::asked::Asked;
use super::http::{Connection, Heard};
use super::native::{Keepsake, Spoken};
use super::{broken_rules, chat, gemini, messages, responses};

/// A model of each family, named as in [`WireServer::settings`].
pub const MODELS: [(Family, &str); 4] = [
    (Family::OpenAi, "openai/gpt-5"),
    (Family::Anthropic, "anthropic/claude-sonnet-4-5"),
    (Family::Gemini, "gemini/gemini-2.5-pro"),
    (Family::Portable, "local/coder"),
];

type Story = dyn Fn(&Asked) -> Answer + Send + Sync;

/// A model server on the loopback. Stops when dropped.
#[derive(Debug)]
pub struct WireServer {
    url: String,
    book: Arc<Book>,
    stop: CancellationToken,
}

struct Book {
    story: Box<Story>,
    pages: Mutex<Pages>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Pages {
    asked: Vec<Asked>,
    broken: Vec<String>,
    /// The items that each dialect requires back; other dialects do not accept them.
    keepsakes: Vec<(Dialect, Keepsake)>,
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Book").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl WireServer {
    /// Answers each request by a function.
    pub async fn start(
        story: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let (pages, count) = (Mutex::default(), watch::Sender::new(0));
        let book = Arc::new(Book { story: Box::new(story), pages, count });
        let stop = CancellationToken::new();
        tokio::spawn(accept(listener, book.clone(), stop.clone()));
        Ok(Self { url, book, stop })
    }

    /// Answers by the number of the model's turns in the session; the last answer repeats. A request repeated after a
    /// crash gets the same answer.
    pub async fn telling(answers: Vec<Answer>) -> io::Result<Self> {
        Self::start(move |asked| {
            let at = asked.turn().min(answers.len().saturating_sub(1));
            answers.get(at).cloned().unwrap_or_else(|| Reply::say("done").into())
        })
        .await
    }

    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.book.pages().asked.clone()
    }

    /// Waits for the request with this number, counted from 0.
    pub async fn request(&self, number: usize) -> Asked {
        let mut count = self.book.count.subscribe();
        // The sender lives as long as the record, which we hold.
        count.wait_for(|count| *count > number).await.ok();
        self.book.pages().asked[number].clone()
    }

    /// The rules broken by requests so far.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        self.book.pages().broken.clone()
    }

    /// Settings in TOML, as in `models.toml`, that make this server every provider.
    #[must_use]
    pub fn settings(&self) -> String {
        let url = &self.url;
        let known = ["anthropic", "openai", "gemini"];
        let mut text = String::new();
        for name in known {
            text.push_str(&format!(
                "[providers.{name}]\nbase_url = \"{url}\"\nkey_env = []\nkey_needed = false\n"
            ));
        }
        text.push_str(&format!(
            "[providers.local]\ndialect = \"chat\"\nbase_url = \"{url}/v1\"\nkey_env = []\n\
             key_needed = false\n[models.\"local/coder\"]\nwindow = 32768\n"
        ));
        text
    }

    /// A registry in which this server is every provider.
    pub fn registry(&self) -> anyhow::Result<Registry> {
        let settings = Settings::parse(&self.settings())?;
        let transport = Arc::new(Http::new(Millis::seconds(10)));
        Ok(Registry::new(settings, |_| None, transport)?)
    }

    /// The same, in the form that [`runtime::Config`] takes.
    pub fn models(&self) -> anyhow::Result<Models> {
        Ok(Models::default().with_registry(Arc::new(self.registry()?)))
    }

    /// The name of the model of a family.
    #[must_use]
    #[expect(clippy::expect_used, reason = "every family is in the table, with a model's name")]
    pub fn model(family: Family) -> ModelRef {
        let found = MODELS.iter().find(|(known, _)| *known == family);
        found.expect("every family is in the table").1.parse().expect("a model's name")
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Book {
    fn pages(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, book: Arc<Book>, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = stream else { return };
        let (book, stop) = (book.clone(), stop.clone());
        // A client that disconnects does not want the response.
        tokio::spawn(async move { stop.run_until_cancelled(serve(stream, &book)).await });
    }
}

async fn serve(stream: TcpStream, book: &Book) -> io::Result<()> {
    let mut connection = Connection::new(stream);
    while let Some(heard) = connection.hear().await? {
        let Some(dialect) = dialect(&heard.path) else {
            connection.answer(404, "{}").await?;
            continue;
        };
        let (asked, broken) = note(book, dialect, &heard);
        let mut answer = match broken.first() {
            Some(rule) => {
                let (status, body) = broke(dialect, rule);
                connection.answer(status, &body.to_string()).await?;
                continue;
            }
            None => (book.story)(&asked),
        };
        while let Answer::Held(go, inner) = answer {
            go.cancelled().await;
            answer = *inner;
        }
        match answer {
            Answer::Refuse(refusal) => {
                let (status, body) = refuse(dialect, refusal);
                connection.answer(status, &body.to_string()).await?;
            }
            Answer::Reply(reply) => {
                let spoken = speak(dialect, &reply, &asked);
                let keepsakes = spoken.keepsakes.into_iter().map(|kept| (dialect, kept));
                book.pages().keepsakes.extend(keepsakes);
                connection.stream(&spoken.events).await?;
            }
            Answer::Held(..) => {}
        }
    }
    Ok(())
}

/// Records a request, with the rules that it breaks.
fn note(book: &Book, dialect: Dialect, heard: &Heard) -> (Asked, Vec<String>) {
    let body: Value = serde_json::from_slice(&heard.body).unwrap_or_default();
    let mut pages = book.pages();
    let number = pages.asked.len();
    let mut broken = broken_rules(dialect, &body);
    for (call, there) in companions(dialect, &body) {
        let own = pages.keepsakes.iter().filter(|(of, _)| *of == dialect);
        let kept = own.map(|(_, kept)| kept).filter(|kept| kept.call == call);
        let mut kept = kept.peekable();
        // A verbatim repeated call has the same identity and one of the signatures.
        if kept.peek().is_some() && !kept.any(|kept| there.contains(&kept.token)) {
            broken.push(format!("the thinking that came with {call} was not sent back"));
        }
    }
    let asked = Asked { number, dialect, body, bytes: heard.body.len() };
    pages.asked.push(asked.clone());
    pages.broken.extend(broken.iter().map(|rule| format!("request {number}, {rule}")));
    book.count.send_replace(number + 1);
    (asked, broken)
}

fn dialect(path: &str) -> Option<Dialect> {
    let path = path.split('?').next().unwrap_or(path);
    match path {
        _ if path.ends_with("/messages") => Some(Dialect::Messages),
        _ if path.ends_with("/responses") => Some(Dialect::Responses),
        _ if path.ends_with(":streamGenerateContent") => Some(Dialect::Gemini),
        _ if path.ends_with("/chat/completions") => Some(Dialect::Chat),
        _ => None,
    }
}

fn speak(dialect: Dialect, reply: &Reply, asked: &Asked) -> Spoken {
    match dialect {
        Dialect::Messages => messages::speak(reply, asked.number, &asked.body),
        Dialect::Responses => responses::speak(reply, asked.number, &asked.body),
        Dialect::Gemini => gemini::speak(reply, asked.number, &asked.body),
        Dialect::Chat | Dialect::Ollama => chat::speak(reply, asked.number, &asked.body),
    }
}

fn refuse(dialect: Dialect, refusal: Refusal) -> (u16, Value) {
    match dialect {
        Dialect::Messages => messages::refuse(refusal),
        Dialect::Responses => responses::refuse(refusal),
        Dialect::Gemini => gemini::refuse(refusal),
        Dialect::Chat | Dialect::Ollama => chat::refuse(refusal),
    }
}

fn broke(dialect: Dialect, rule: &str) -> (u16, Value) {
    match dialect {
        Dialect::Messages => messages::broke(rule),
        Dialect::Responses => responses::broke(rule),
        Dialect::Gemini => gemini::broke(rule),
        Dialect::Chat | Dialect::Ollama => chat::broke(rule),
    }
}

fn companions(dialect: Dialect, body: &Value) -> Vec<(String, String)> {
    match dialect {
        Dialect::Messages => messages::companions(body),
        Dialect::Responses => responses::companions(body),
        Dialect::Gemini => gemini::companions(body),
        Dialect::Chat | Dialect::Ollama => vec![],
    }
}
