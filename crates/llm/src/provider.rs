//! A model behind a provider: one request, one exchange, one reply. It asks once; retries, breaker and
//! failover are models around it. No fault that leaves it contains the key.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use secrecy::ExposeSecret;
use types::{Fault, ModelReply, ModelRequest, StreamItem, Timestamp};

use crate::deadline::{Deadlines, no_first_byte, within, without_long_gaps};
use crate::decode::{Decoding, streamed};
use crate::faults::Cause;
use crate::frames::Framing;
use crate::transport::{self, Answer, Exchange, Transport};
use crate::{
    Catalogue, Delivery, Model, Pace, Provider, RequestCache, echo, estimate, event_stream, meter,
    pace,
};

/// All models of one provider.
#[derive(Debug, Clone)]
pub struct ProviderModel {
    pub provider: Arc<Provider>,
    pub transport: Arc<dyn Transport>,
    pub deadlines: Deadlines,
    pub catalogue: Arc<Catalogue>,
    pub delivery: Delivery,
    pub pace: Arc<Pace>,
    /// Cache of earlier requests.
    pub before: RequestCache,
}

/// Maximum bytes of an answer that is not streamed.
const BODY_LIMIT: usize = 32 << 20;

impl Model for ProviderModel {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let (model, sent) = (self.clone(), request.clone());
        let items = stream::once(async move {
            let place = model.pace.enter().await;
            match model.ask(&request).await {
                Ok(items) => {
                    let end = move |item| {
                        // The slot is held for as long as the answer is read.
                        let _kept = &place;
                        model.finish(item, &request)
                    };
                    items.map(end).boxed()
                }
                Err(fault) => {
                    let failed = StreamItem::Failed(model.provider.scrubbed(fault));
                    stream::iter([failed]).boxed()
                }
            }
        });
        let items = within(items.flatten().boxed(), self.deadlines.total_ms);
        meter::metered(items, self.catalogue.clone(), sent)
    }
}

impl ProviderModel {
    async fn ask(&self, request: &ModelRequest) -> Result<BoxStream<'static, StreamItem>, Fault> {
        let provider = &self.provider;
        let mut exchange = provider.exchange(request, self.delivery, &self.before)?;
        let key = (provider.dialect, provider.key.as_ref());
        provider.auth.authorize(&mut exchange, key, &*self.transport, now()).await?;
        let first_byte = self.deadlines.first_byte_ms;
        let answer = tokio::time::timeout(first_byte.duration(), self.transport.send(exchange));
        let mut answer = answer.await.map_err(|_| no_first_byte(first_byte))??;
        self.pace.learn(answer.status, &answer.headers, now());
        answer.bytes = without_long_gaps(answer.bytes, self.deadlines.idle_ms);
        match answer.status {
            200..300 => self.read(answer).await,
            status @ 300..400 => {
                let place = answer.header("location").unwrap_or("nowhere");
                let what = format!(
                    "the server answered {status} and points to {place}; redirects are not \
                     followed: set the base URL to where the server is"
                );
                Err(Cause::InvalidRequest.fault(what))
            }
            status => {
                let wait = pace::retry_after(&answer.headers, now())
                    .or_else(|| pace::reset(status, &answer.headers, now()));
                let body = whole(answer).await.unwrap_or_default();
                let fault = provider.dialect.fault(status, &body);
                Err(match Cause::of(&fault) {
                    Some(cause) if wait.is_some() => cause.fault_after(fault.what, wait),
                    _ => fault,
                })
            }
        }
    }

    async fn read(&self, answer: Answer) -> Result<BoxStream<'static, StreamItem>, Fault> {
        let dialect = self.provider.dialect;
        let kind = answer.header("content-type").unwrap_or_default().to_lowercase();
        if kind.contains(event_stream::CONTENT_TYPE) {
            return Ok(streamed(dialect, event_stream::as_server_sent(answer.bytes)));
        }
        if kind.contains("text/html") {
            let what =
                format!("the server answered with {kind}; is something else at this address?");
            return Err(Cause::BadReply.fault(what));
        }
        let in_one_piece = self.delivery == Delivery::Whole
            || (kind.contains("application/json") && dialect.framing() != Framing::Lines);
        if in_one_piece {
            let body = whole(answer).await?;
            return Ok(stream::iter(Decoding::new(dialect).whole(&body)).boxed());
        }
        Ok(streamed(dialect, answer.bytes))
    }

    /// Completes the last item: adds the cost and removes secrets.
    fn finish(&self, item: StreamItem, request: &ModelRequest) -> StreamItem {
        match item {
            StreamItem::Finished(mut reply) => {
                self.count(&mut reply, request);
                StreamItem::Finished(reply)
            }
            StreamItem::Failed(fault) => StreamItem::Failed(self.provider.scrubbed(fault)),
            item => item,
        }
    }

    fn count(&self, reply: &mut ModelReply, request: &ModelRequest) {
        if reply.provenance.usage.is_none() {
            reply.usage.input = estimate::estimate_input(request);
        }
        // No content costs zero tokens, whatever the server claims.
        if reply.provenance.usage.is_none() || reply.usage.output == 0 {
            reply.usage.output = estimate::estimate_blocks(&reply.blocks);
        }
        reply.cost = self.catalogue.cost(&request.model, reply.usage);
    }
}

impl Provider {
    fn exchange(
        &self,
        request: &ModelRequest,
        delivery: Delivery,
        before: &RequestCache,
    ) -> Result<Exchange, Fault> {
        let wire = before.encode(self.dialect, request, delivery, &self.quirks)?;
        let own = self.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        let headers = wire.headers.into_iter().map(|(name, value)| (name.to_owned(), value));
        let headers: Vec<(String, String)> = headers.chain(own).collect();
        let exchange = Exchange { url: String::new(), headers, secrets: vec![], body: wire.body };
        Ok(self.addressed(request.model.name(), &wire.path, exchange))
    }

    /// Redacts keys: providers repeat them in error messages, and gateways repeat whole headers.
    fn scrubbed(&self, mut fault: Fault) -> Fault {
        let named = self.headers.iter().filter(|(name, _)| is_secret(name));
        // A short value is a setting, and would match in every text.
        let long = named.map(|(_, value)| value.as_str()).filter(|value| value.len() >= 8);
        let mut keys: Vec<&str> = long.collect();
        keys.extend(self.key.iter().map(|key| key.expose_secret()));
        fault.what = echo::without(&fault.what, &keys).into_owned();
        fault
    }
}

/// Whether a header set by the user holds a credential, judging by its name.
fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["auth", "key", "token", "secret", "cookie"].iter().any(|word| name.contains(word))
}

async fn whole(answer: Answer) -> Result<Vec<u8>, Fault> {
    let too_long = format!("the answer is larger than {} MB", BODY_LIMIT >> 20);
    transport::whole(answer.bytes, BODY_LIMIT, &too_long).await
}

/// Wall-clock time, for signatures, token expiry, and retry times given as a date.
#[expect(clippy::disallowed_methods, reason = "a date in a header means nothing without the time")]
fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since.map(|since| since.as_millis()).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::endpoint;
    use crate::{Auth, Dialect, Quirks};

    #[test]
    fn a_server_that_repeats_headers_tells_nobody_the_keys_in_them() {
        let headers = [("X-Gateway-Token", "gateway-secret-1"), ("x-team", "painters-of-walls")];
        let provider = Provider {
            name: "p".to_owned(),
            dialect: Dialect::Chat,
            base_url: "http://127.0.0.1".to_owned(),
            key: Some("sk-0123456789abcdef".into()),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            quirks: Quirks::default(),
            auth: Auth::default(),
            api_version: None,
        };
        let what = "authorization: Bearer sk-0123456789abcdef, x-gateway-token: gateway-secret-1, \
            x-team: painters-of-walls, basic dTpzay0wMTIzNDU2Nzg5YWJjZGVm";
        let fault = provider.scrubbed(Cause::Authentication.fault(what));
        let clean = "authorization: Bearer [key], x-gateway-token: [key], x-team: painters-of-walls, basic ";
        assert!(fault.what.starts_with(clean), "{}", fault.what);
        assert!(!fault.what.contains("zay0wMTIzNDU2"), "{}", fault.what);
    }

    #[test]
    fn base_urls_are_understood_with_and_without_their_version() {
        for (dialect, base, path, url) in [
            (Dialect::Messages, "https://a.com/", "/v1/messages", "https://a.com/v1/messages"),
            (Dialect::Messages, "https://a.com/v1", "/v1/messages", "https://a.com/v1/messages"),
            (Dialect::Chat, "http://l:80", "/chat/completions", "http://l:80/v1/chat/completions"),
            (
                Dialect::Chat,
                "http://l/api/v1/",
                "/chat/completions",
                "http://l/api/v1/chat/completions",
            ),
            (
                Dialect::Gemini,
                "https://g.com",
                "/v1beta/models/x:y",
                "https://g.com/v1beta/models/x:y",
            ),
            (
                Dialect::Gemini,
                "https://g.com/v1",
                "/v1beta/models/x:y",
                "https://g.com/v1/models/x:y",
            ),
            (Dialect::Ollama, "127.0.0.1:11434", "/api/chat", "http://127.0.0.1:11434/api/chat"),
            (Dialect::Ollama, "http://o/api", "/api/chat", "http://o/api/chat"),
        ] {
            assert_eq!(endpoint(dialect, base, path), url);
        }
    }
}
