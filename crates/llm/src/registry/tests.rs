//! Available models, their keys, and requests to them.

use futures::FutureExt;
use futures::future::BoxFuture;
use secrecy::ExposeSecret;

use super::*;
use crate::repair::tests::request;
use crate::{Answer, Exchange};

/// A network on which every server gives the same answer.
#[derive(Debug, Default)]
pub(super) struct Echo {
    pub(super) seen: Mutex<Vec<Exchange>>,
    status: u16,
    body: String,
}

impl Transport for Echo {
    fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
        self.seen.lock().expect("a lock").push(exchange);
        let bytes = bytes::Bytes::from(self.body.clone());
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        let answer = Answer {
            status: self.status,
            headers: headers.into_iter().collect(),
            bytes: stream::iter([Ok(bytes)]).boxed(),
        };
        async { Ok(answer) }.boxed()
    }
}

const KEY: &str = "sk-very-secret-123";

fn registry(settings: &str, transport: Arc<dyn Transport>) -> Registry {
    let variable = |name: &str| match name {
        "ANTHROPIC_API_KEY" | "GOOGLE_API_KEY" | "OPENROUTER_API_KEY" => Some(KEY.to_owned()),
        "OLLAMA_HOST" => Some("box:11434".to_owned()),
        _ => None,
    };
    Registry::new(Settings::parse(settings).expect("valid"), variable, transport)
        .expect("a registry")
}

pub(super) fn answering(status: u16, body: &str) -> Arc<Echo> {
    Arc::new(Echo { status, body: body.to_owned(), ..Echo::default() })
}

pub(super) async fn ask(registry: &Registry, model: &str) -> Result<ModelReply, Fault> {
    registry.complete(request(model, vec![types::Message::user("hi")]), |_| {}).await
}

/// K10, K11, A88: a model that cannot be asked is a clear error.
#[tokio::test]
async fn a_missing_key_and_an_unknown_provider_are_told_with_what_to_do() {
    let registry = registry("", answering(200, ""));
    let fault = ask(&registry, "openai/gpt-5").await.expect_err("no key");
    assert_eq!(fault.code, "model.authentication");
    assert!(fault.what.contains("OPENAI_API_KEY"), "{}", fault.what);
    let fault = ask(&registry, "nobody/m").await.expect_err("no provider");
    assert_eq!(fault.code, "model.not_found");
    assert!(fault.what.contains("anthropic"), "{}", fault.what);
}

/// K11, A90: native endpoints and headers; keys come from variables and are never shown.
#[tokio::test]
async fn each_provider_gets_its_key_in_its_own_header_and_it_shows_nowhere() {
    let echo = answering(401, &format!("{{\"error\": {{\"message\": \"bad key {KEY}\"}}}}"));
    let registry = registry("", echo.clone());
    for (model, header, value) in [
        ("anthropic/claude", "x-api-key", KEY.to_owned()),
        ("gemini/gemini-2.5-pro", "x-goog-api-key", KEY.to_owned()),
        ("openrouter/a/b", "authorization", format!("Bearer {KEY}")),
    ] {
        let fault = ask(&registry, model).await.expect_err("refused");
        assert_eq!(fault.code, "model.authentication");
        assert!(!fault.what.contains(KEY), "{}", fault.what);
        let exchange = echo.seen.lock().expect("a lock").pop().expect("one exchange");
        let (name, secret) = exchange.secrets.first().expect("a key");
        assert_eq!((*name, secret.expose_secret()), (header, value.as_str()));
        assert!(!format!("{exchange:?}").contains(KEY));
        assert!(!exchange.url.contains(KEY));
    }
    let quiet = self::registry("", answering(200, ""));
    assert!(!format!("{quiet:?}").contains(KEY));
}

/// A88: registration from the environment.
#[tokio::test]
async fn a_local_server_needs_no_key_and_is_found_by_its_variable() {
    let body = r#"{"message": {"content": "yes"}, "done": true, "eval_count": 1}"#;
    let echo = answering(200, body);
    let registry = registry("", echo.clone());
    let reply = ask(&registry, "ollama/qwen3").await.expect("a reply");
    assert_eq!(reply.text(), "yes");
    assert_eq!(reply.cost, Some(types::Money::ZERO), "its own machine costs nothing");
    let exchange = echo.seen.lock().expect("a lock").pop().expect("one exchange");
    assert_eq!(exchange.url, "http://box:11434/api/chat");
    assert!(exchange.secrets.is_empty());
}

/// Users in several organisations select the one to bill with the usual variables, which are sent to OpenAI only.
#[tokio::test]
async fn the_organisation_and_the_project_are_sent_where_their_variables_are_set() {
    let echo = answering(401, "{}");
    let variable = |name: &str| match name {
        "OPENAI_API_KEY" | "GROQ_API_KEY" => Some(KEY.to_owned()),
        "OPENAI_ORG_ID" => Some(" org-1 ".to_owned()),
        "OPENAI_PROJECT_ID" => Some("proj_2".to_owned()),
        _ => None,
    };
    let registry = Registry::new(Settings::default(), variable, echo.clone()).expect("a registry");
    for (model, expected) in [
        ("openai/gpt-5", vec!["org-1", "proj_2"]),
        ("openai-chat/gpt-5", vec!["org-1", "proj_2"]),
        ("groq/llama", vec![]),
    ] {
        ask(&registry, model).await.expect_err("refused");
        let exchange = echo.seen.lock().expect("a lock").pop().expect("one exchange");
        let names = ["OpenAI-Organization", "OpenAI-Project"];
        let sent: Vec<&str> = exchange
            .headers
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, value)| value.as_str())
            .collect();
        assert_eq!(sent, expected, "{model}");
    }
}

/// K12: usage and cost are reported, and an unknown cost is unknown.
#[tokio::test]
async fn an_unknown_models_cost_is_unknown_and_a_missing_count_is_an_estimate() {
    let body = r#"{"choices": [{"message": {"content": "12345678"}, "finish_reason": "stop"}]}"#;
    let registry = registry("", answering(200, body));
    let reply = ask(&registry, "openrouter/some/model").await.expect("a reply");
    assert_eq!(reply.cost, None);
    assert_eq!(reply.provenance.usage, None);
    assert_eq!(reply.usage.output, 2, "eight characters");
    assert!(reply.usage.input > 0);
}

#[tokio::test(start_paused = true)]
async fn a_chain_goes_on_to_the_next_that_has_a_key() {
    let settings = r#"
[chains]
"anthropic/claude" = ["openai/gpt-5", "ollama/qwen3"]
"#;
    let echo = answering(529, r#"{"error": {"type": "overloaded_error", "message": "busy"}}"#);
    let registry = registry(settings, echo.clone());
    let fault = ask(&registry, "anthropic/claude").await.expect_err("all are busy");
    assert_eq!(fault.code, "model.overloaded");
    let urls: Vec<String> =
        echo.seen.lock().expect("a lock").iter().map(|exchange| exchange.url.clone()).collect();
    assert_eq!(urls.iter().filter(|url| url.contains("anthropic")).count(), 3, "three tries");
    assert_eq!(urls.iter().filter(|url| url.contains("box")).count(), 3);
    assert_eq!(urls.len(), 6, "openai has no key and is passed over");
}

/// When a model fails, its breaker counts the requests of all callers, and then blocks them.
#[tokio::test(start_paused = true)]
async fn a_breaker_counts_requests_and_is_shared_by_all_who_ask() {
    let echo = answering(500, r#"{"error": {"message": "down"}}"#);
    let registry = registry("", echo.clone());
    let name: ModelRef = "anthropic/claude".parse().expect("a model");
    let asked = || echo.seen.lock().expect("a lock").len();
    assert_eq!(ask(&registry, "anthropic/claude").await.expect_err("down").code, "model.server");
    assert_eq!(asked(), 3);
    let once = registry.once(&name).expect("a model");
    let fault = gather(once.stream(Arc::new(request("anthropic/claude", vec![]))), |_| {}).await;
    assert_eq!((fault.expect_err("down").code.as_str(), asked()), ("model.server", 4));
    assert_eq!(
        ask(&registry, "anthropic/claude").await.expect_err("open").code,
        "model.breaker_open"
    );
    assert_eq!(asked(), 5, "the fifth failure opens it in the middle of the tries");
    tokio::time::advance(std::time::Duration::from_secs(31)).await;
    assert_eq!(
        ask(&registry, "anthropic/claude").await.expect_err("still down").code,
        "model.breaker_open"
    );
    assert_eq!(asked(), 6, "it is tried with one request");
}

#[test]
fn the_providers_can_be_listed_with_the_state_of_their_keys() {
    let registry = registry("default = \"ollama/qwen3\"", answering(200, ""));
    let state = |name: &str| registry.providers().find(|one| one.name == name).map(|one| one.key);
    assert_eq!(state("anthropic"), Some(KeyState::There));
    assert_eq!(state("openai"), Some(KeyState::Missing));
    assert_eq!(state("ollama"), Some(KeyState::NotNeeded));
    assert_eq!(registry.default_model(), Some("ollama/qwen3".parse().expect("a model")));
}
