//! One exchange with a server: a request goes out, an answer comes back as bytes. The key is kept apart
//! from the headers, so that printing or storing an exchange cannot reveal it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::pin::pin;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use secrecy::SecretString;
use types::Fault;

use crate::faults::Cause;

/// Carries exchanges: the network, a recorder, a replayer.
pub trait Transport: Send + Sync + Debug {
    fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>>;
}

/// An outgoing request.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// Headers that carry the key, with the key and its prefix.
    pub secrets: Vec<(&'static str, SecretString)>,
    /// JSON, unless a header says otherwise.
    pub body: Bytes,
}

/// A response. Header names are in lower case.
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub bytes: BoxStream<'static, Result<Bytes, Fault>>,
}

impl Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Reads the bytes of an answer to their end; more than `most` are a fault, in these words.
pub(crate) async fn whole(
    bytes: impl Stream<Item = Result<Bytes, Fault>>,
    most: usize,
    too_long: &str,
) -> Result<Vec<u8>, Fault> {
    let (mut body, mut bytes) = (vec![], pin!(bytes));
    while let Some(chunk) = bytes.next().await {
        body.extend_from_slice(&chunk?);
        if body.len() > most {
            return Err(Cause::BadReply.fault(too_long));
        }
    }
    Ok(body)
}

impl Answer {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}
