//! Cloud providers: URLs, authentication, and errors that name missing settings.

use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::tests::{answering, ask};
use super::*;

const REPLY: &str = r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"yes"}],
    "stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;

fn registry(variables: &'static [(&str, &str)], transport: Arc<dyn Transport>) -> Registry {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Registry::new(Settings::default(), variable, transport).expect("a registry")
}

#[tokio::test]
async fn bedrock_signs_its_requests_and_names_the_model_in_the_address() {
    let echo = answering(200, REPLY);
    let registry = registry(
        &[
            ("AWS_ACCESS_KEY_ID", "AKID"),
            ("AWS_SECRET_ACCESS_KEY", "hush"),
            ("AWS_REGION", "eu-west-1"),
        ],
        echo.clone(),
    );
    let reply = ask(&registry, "bedrock/eu.anthropic.claude-sonnet-4-5-v1:0").await;
    assert_eq!(reply.expect("a reply").text(), "yes");
    let exchange = echo.seen.lock().expect("a lock").pop().expect("one exchange");
    assert_eq!(
        exchange.url,
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-v1%3A0/\
         invoke-with-response-stream"
    );
    let (name, signature) = exchange.secrets.first().expect("a signature");
    let signed = signature.expose_secret();
    assert_eq!(*name, "authorization");
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=AKID/"), "{signed}");
    assert!(signed.contains("/eu-west-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date"));
    assert!(!format!("{exchange:?}{registry:?}").contains("hush"));
    let body: Value = serde_json::from_slice(&exchange.body).expect("JSON");
    assert_eq!(body["anthropic_version"], "bedrock-2023-05-31");
    assert!(body.get("model").is_none() && body.get("stream").is_none(), "{body}");
}

#[tokio::test]
async fn a_bedrock_key_is_sent_as_it_is() {
    let echo = answering(200, REPLY);
    let registry =
        registry(&[("AWS_BEARER_TOKEN_BEDROCK", "abc"), ("AWS_REGION", "us-east-1")], echo.clone());
    ask(&registry, "bedrock/m").await.expect("a reply");
    let exchange = echo.seen.lock().expect("a lock").pop().expect("one exchange");
    assert_eq!(exchange.secrets[0].1.expose_secret(), "Bearer abc");
}

#[tokio::test]
async fn azure_has_its_own_header_and_address() {
    let endpoint = ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/");
    let echo = answering(401, "{}");
    let dated = registry(
        &[
            ("AZURE_OPENAI_API_KEY", "k"),
            ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/"),
            ("OPENAI_API_VERSION", "2024-10-21"),
        ],
        echo.clone(),
    );
    assert_eq!(endpoint.0, dated.providers["azure"].key_env[0].replace("API_KEY", "ENDPOINT"));
    for (model, url) in [
        ("azure/my-gpt", "https://r.openai.azure.com/openai/v1/responses"),
        (
            "azure-chat/my-gpt",
            "https://r.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
        ),
    ] {
        ask(&dated, model).await.expect_err("refused");
        let exchange = echo.seen.lock().expect("a lock").pop().expect("one exchange");
        assert_eq!(exchange.url, url);
        let (name, key) = exchange.secrets.first().expect("a key");
        assert_eq!((*name, key.expose_secret()), ("api-key", "k"));
    }
}

#[tokio::test]
async fn vertex_asks_in_a_project_and_a_region() {
    let echo = answering(401, "{}");
    let registry = registry(
        &[
            ("GOOGLE_CLOUD_ACCESS_TOKEN", "t"),
            ("GOOGLE_CLOUD_PROJECT", "p"),
            ("GOOGLE_CLOUD_LOCATION", "global"),
        ],
        echo.clone(),
    );
    let base = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers";
    for (model, path) in [
        ("vertex/gemini-2.5-pro", "google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
        ("vertex-anthropic/claude-x", "anthropic/models/claude-x:streamRawPredict"),
    ] {
        ask(&registry, model).await.expect_err("refused");
        let exchange = echo.seen.lock().expect("a lock").pop().expect("one exchange");
        assert_eq!(exchange.url, format!("{base}/{path}"));
        assert_eq!(exchange.secrets[0].1.expose_secret(), "Bearer t");
    }
}

#[test]
fn what_is_wrong_with_a_model_is_found_before_it_is_asked() {
    let registry =
        registry(&[("ANTHROPIC_API_KEY", "k"), ("AZURE_OPENAI_API_KEY", "k")], answering(200, ""));
    let said = |model: &str| {
        let problem = registry.problem(&model.parse().expect("a model"));
        problem.map(|problem| problem.to_string()).unwrap_or_default()
    };
    assert!(said("antropic/claude-opus-5-5").contains("did you mean anthropic/claude-opus-5-5?"));
    assert!(said("nobody/x").contains("known are anthropic"));
    assert!(said("openai/gpt-5").contains("set OPENAI_API_KEY (keys are at https://"));
    assert!(said("azure/my-gpt").contains("set AZURE_OPENAI_ENDPOINT"));
    assert!(said("bedrock/m").contains("set AWS_REGION"));
    assert!(
        said("anthropic/claude-sonet-5-5").contains("did you mean anthropic/claude-sonnet-5-5?")
    );
    for fine in [
        "anthropic/claude-sonnet-5-5",
        "anthropic/claude-sonnet-5-6",
        "ollama/anything",
        "anthropic/new",
    ] {
        assert_eq!(said(fine), "", "{fine}");
    }
}
