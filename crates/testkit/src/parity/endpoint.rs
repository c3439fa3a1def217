//! A server under test, and the requests of the table: built once, the same for every dialect.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use secrecy::SecretString;
use serde_json::{Value, json};
use types::{
    AttemptId, Fault, Message, ModelOptions, ModelReply, ModelRequest, Origin, RoleId, SessionId,
    StreamItem, TaskId, ToolChoice, ToolSpec,
};

use llm::{
    Answer, Auth, Catalogue, Deadlines, Delivery, Dialect, Exchange, Model as _, Pace, Provider,
    ProviderModel, Quirks, RequestCache, Transport, gather,
};

/// The provider name of the endpoint's server during a test.
const PROVIDER: &str = "endpoint";

/// A server that speaks one dialect.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its name in the table.
    pub server: String,
    pub dialect: Dialect,
    pub base_url: String,
    pub key: SecretString,
    pub model: String,
    pub transport: Arc<dyn Transport>,
}

impl Endpoint {
    pub(super) fn request(&self, messages: Vec<Message>) -> ModelRequest {
        #[expect(clippy::expect_used, reason = "a provider and any name make one")]
        let model = format!("{PROVIDER}/{}", self.model).parse().expect("a model's name");
        ModelRequest {
            model,
            system: Arc::from("You are brief."),
            messages: messages.into_iter().map(Arc::new).collect(),
            tools: Arc::from([]),
            max_output: 64,
            origin: Origin {
                role: RoleId::fixed("parity"),
                attempt: AttemptId::new(TaskId::fixed("parity"), 1),
                session: SessionId::ROOT,
                turn: 1,
            },
            options: ModelOptions { temperature: Some(0.0), ..ModelOptions::default() },
        }
    }

    /// A request with one tool, and the choice of whether it must be used.
    pub(super) fn with_tool(&self, text: &str, choice: ToolChoice) -> ModelRequest {
        let mut request = self.request(vec![Message::user(text)]);
        let schema = json!({
            "type": "object", "properties": { "city": { "type": "string" } },
            "required": ["city"], "additionalProperties": false,
        });
        let (name, description) = ("weather".to_owned(), "Tells the weather of a city.".to_owned());
        request.tools = Arc::from([ToolSpec { name, description, schema }]);
        request.options.tool_choice = choice;
        request
    }

    pub(super) async fn ask(&self, request: ModelRequest) -> Result<ModelReply, Fault> {
        self.watch(request, |_| {}).await
    }

    pub(super) async fn ask_in_one_piece(
        &self,
        request: ModelRequest,
    ) -> Result<ModelReply, Fault> {
        let model = self.model(Delivery::Whole, self.key.clone(), self.transport.clone());
        gather(model.stream(Arc::new(request)), |_| {}).await
    }

    pub(super) async fn watch(
        &self,
        request: ModelRequest,
        each: impl FnMut(&StreamItem) + Send,
    ) -> Result<ModelReply, Fault> {
        let model = self.model(Delivery::Streamed, self.key.clone(), self.transport.clone());
        gather(model.stream(Arc::new(request)), each).await
    }

    pub(super) async fn ask_with_key(
        &self,
        key: &str,
        request: ModelRequest,
    ) -> Result<ModelReply, Fault> {
        let model = self.model(Delivery::Streamed, key.to_owned().into(), self.transport.clone());
        gather(model.stream(Arc::new(request)), |_| {}).await
    }

    /// The reply, and the body of the request as sent.
    pub(super) async fn overhear(
        &self,
        request: ModelRequest,
    ) -> (Result<ModelReply, Fault>, Value) {
        let ear = Arc::new(Ear { inner: self.transport.clone(), heard: Mutex::default() });
        let model = self.model(Delivery::Streamed, self.key.clone(), ear.clone());
        let reply = gather(model.stream(Arc::new(request)), |_| {}).await;
        let heard = std::mem::take(&mut *ear.heard.lock().unwrap_or_else(PoisonError::into_inner));
        (reply, heard)
    }

    fn model(
        &self,
        delivery: Delivery,
        key: SecretString,
        transport: Arc<dyn Transport>,
    ) -> ProviderModel {
        let provider = Provider {
            name: PROVIDER.to_owned(),
            dialect: self.dialect,
            base_url: self.base_url.clone(),
            key: Some(key),
            headers: BTreeMap::new(),
            quirks: Quirks::default(),
            auth: Auth::default(),
            api_version: None,
        };
        ProviderModel {
            provider: Arc::new(provider),
            transport,
            deadlines: Deadlines::default(),
            catalogue: Arc::new(Catalogue::default()),
            delivery,
            pace: Arc::new(Pace::new(1)),
            before: RequestCache::default(),
        }
    }

    /// An option that only this dialect has.
    pub(super) fn own_option(&self) -> (&'static str, Value) {
        match self.dialect {
            Dialect::Messages => ("metadata", json!({ "user_id": "parity" })),
            Dialect::Responses => ("metadata", json!({ "suite": "parity" })),
            Dialect::Chat => ("user", json!("parity")),
            Dialect::Gemini => ("labels", json!({ "suite": "parity" })),
            Dialect::Ollama => ("keep_alive", json!("1m")),
        }
    }
}

/// A transport that records the last body sent through it.
#[derive(Debug)]
struct Ear {
    inner: Arc<dyn Transport>,
    heard: Mutex<Value>,
}

impl Transport for Ear {
    fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
        let body = serde_json::from_slice(&exchange.body).unwrap_or_default();
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = body;
        self.inner.send(exchange)
    }
}
