//! Records real exchanges as files, for bug reports and tests, and replays them without a network. Keys,
//! and every header that could hold one, are left out; the conversation itself is kept.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Digest, Fault};

use crate::echo;
use crate::faults::Cause;
use crate::transport::{Answer, Exchange, Transport};

/// Headers that are worth keeping and hold no secrets.
const KEPT: &[&str] = &[
    "content-type",
    "date",
    "retry-after",
    "retry-after-ms",
    "request-id",
    "x-request-id",
    "anthropic-version",
    "anthropic-beta",
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Recorded {
    request: RecordedRequest,
    response: RecordedResponse,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecordedRequest {
    url: String,
    headers: BTreeMap<String, String>,
    body: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecordedResponse {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

/// Error reading recordings.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("reading the recordings in {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("understanding the recording {path}")]
    Parse { path: PathBuf, source: serde_json::Error },
}

/// A transport that records each exchange as a file in a folder.
#[derive(Debug)]
pub struct Recorder {
    inner: Arc<dyn Transport>,
    folder: PathBuf,
    number: Arc<AtomicU32>,
}

impl Recorder {
    #[must_use]
    pub fn new(inner: Arc<dyn Transport>, folder: PathBuf) -> Self {
        Self { inner, folder, number: Arc::new(AtomicU32::new(1)) }
    }
}

impl Transport for Recorder {
    fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
        let secrets = exchange.secrets.iter().map(|(_, secret)| secret.clone()).collect();
        let request = RecordedRequest {
            url: exchange.url.clone(),
            headers: kept(exchange.headers.iter().cloned()),
            body: read(&exchange.body),
        };
        let sending = self.inner.send(exchange);
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("exchange-{number:04}.json"));
        async move {
            let answer = sending.await?;
            let response = RecordedResponse {
                status: answer.status,
                headers: kept(answer.headers.clone()),
                body: String::new(),
            };
            let recorded = Recorded { request, response };
            let mut tape = Tape { path, recorded, bytes: vec![], secrets };
            let bytes = answer.bytes.inspect(move |chunk| {
                if let Ok(chunk) = chunk {
                    tape.bytes.extend_from_slice(chunk);
                }
            });
            Ok(Answer { bytes: bytes.boxed(), ..answer })
        }
        .boxed()
    }
}

fn kept(headers: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    headers.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str())).collect()
}

/// An exchange being recorded; it is written when the answer is over, however it ends.
struct Tape {
    path: PathBuf,
    recorded: Recorded,
    bytes: Vec<u8>,
    secrets: Vec<SecretString>,
}

impl Drop for Tape {
    fn drop(&mut self) {
        self.recorded.response.body = String::from_utf8_lossy(&self.bytes).into_owned();
        let written = serde_json::to_string_pretty(&self.recorded).map_err(std::io::Error::other);
        let written = written.and_then(|text| {
            let keys = self.secrets.iter().map(ExposeSecret::expose_secret);
            let keys: Vec<&str> = keys.map(|key| key.trim_start_matches("Bearer ")).collect();
            std::fs::write(&self.path, echo::without(&text, &keys).as_bytes())
        });
        if let Err(error) = written {
            // A failed recording must not break the call that it records.
            tracing::warn!(path = %self.path.display(), %error, "the exchange was not recorded");
        }
    }
}

/// A transport that answers from recordings.
#[derive(Debug)]
pub struct Replayer {
    answers: Mutex<HashMap<Digest, VecDeque<RecordedResponse>>>,
}

impl Replayer {
    /// Reads all recordings of a folder.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        let wrong = |source| RecordError::Read { path: folder.to_owned(), source };
        let entries = std::fs::read_dir(folder).map_err(wrong)?;
        let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut paths = paths.map_err(wrong)?;
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
        paths.sort();
        let mut answers: HashMap<Digest, VecDeque<RecordedResponse>> = HashMap::new();
        for path in paths {
            let text = std::fs::read(&path).map_err(wrong)?;
            let recorded: Recorded = serde_json::from_slice(&text)
                .map_err(|source| RecordError::Parse { path, source })?;
            let name = digest(&recorded.request.body);
            answers.entry(name).or_default().push_back(recorded.response);
        }
        Ok(Self { answers: Mutex::new(answers) })
    }
}

impl Transport for Replayer {
    fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let found = answers.get_mut(&digest(&read(&exchange.body))).and_then(VecDeque::pop_front);
        let answer = found.map(|found| Answer {
            status: found.status,
            headers: found.headers,
            bytes: stream::iter([Ok(Bytes::from(found.body))]).boxed(),
        });
        let none = || {
            let what = "no recording has this request; what was recorded and what is asked differ";
            let mut fault = Cause::BadReply.fault(what);
            "replay.no_exchange".clone_into(&mut fault.code);
            fault
        };
        std::future::ready(answer.ok_or_else(none)).boxed()
    }
}

/// Bodies are JSON; anything else is recorded as null.
fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

/// Requests match if their bodies are equal, whatever server they went to.
fn digest(body: &Value) -> Digest {
    Digest::of(body.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-never-to-be-seen";

    #[derive(Debug)]
    struct Fixed;

    impl Transport for Fixed {
        fn send(&self, _: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
            let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            let headers = [pair("content-type", "text/event-stream"), pair("set-cookie", KEY)];
            let body = format!("data: your key is {KEY}\n\n");
            let chunks = [Ok(Bytes::from(body)), Ok(Bytes::from_static(b"data: [DONE]\n\n"))];
            let bytes = stream::iter(chunks).boxed();
            let headers = headers.into_iter().collect();
            std::future::ready(Ok(Answer { status: 200, headers, bytes })).boxed()
        }
    }

    fn exchange(text: &str) -> Exchange {
        Exchange {
            url: "http://a/v1/messages".to_owned(),
            headers: vec![("x-custom".to_owned(), KEY.to_owned())],
            secrets: vec![("authorization", format!("Bearer {KEY}").into())],
            body: serde_json::json!({ "text": text }).to_string().into(),
        }
    }

    async fn body(transport: &dyn Transport, text: &str) -> Result<String, Fault> {
        let answer = transport.send(exchange(text)).await?;
        let chunks: Vec<_> = answer.bytes.collect().await;
        let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.expect("bytes")).collect();
        Ok(String::from_utf8(bytes).expect("text"))
    }

    #[tokio::test]
    async fn what_was_recorded_is_played_back_without_the_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = Recorder::new(Arc::new(Fixed), folder.path().to_owned());
        let live = body(&recorder, "hi").await.expect("an answer");
        assert!(live.contains(KEY), "the caller gets the real bytes");
        let file = folder.path().join("exchange-0001.json");
        let text = std::fs::read_to_string(file).expect("a recording");
        assert!(!text.contains(KEY), "{text}");
        assert!(!text.contains("x-custom") && !text.contains("cookie"), "{text}");

        let replayer = Replayer::open(folder.path()).expect("recordings");
        assert_eq!(body(&replayer, "hi").await.expect("it"), live.replace(KEY, "[key]"));
        let fault = body(&replayer, "hi").await.expect_err("it was recorded once");
        assert_eq!(fault.code, "replay.no_exchange");
        assert!(body(&replayer, "something else").await.is_err());
    }

    #[tokio::test]
    async fn an_answer_that_is_dropped_in_the_middle_is_recorded_up_to_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = Recorder::new(Arc::new(Fixed), folder.path().to_owned());
        let mut answer = recorder.send(exchange("hi")).await.expect("an answer");
        let _first = answer.bytes.next().await;
        drop(answer);
        let text = std::fs::read_to_string(folder.path().join("exchange-0001.json")).expect("it");
        assert!(!text.contains("DONE"), "{text}");
    }
}
