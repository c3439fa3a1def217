//! Finds model servers on this machine by their usual ports. Only the loopback is queried, with a short timeout; a
//! server's answer is untrusted and checked before it becomes a name.

use std::time::Duration;

use serde_json::Value;
use types::ModelRef;

use crate::Http;

/// Timeout for a server's answer.
const PATIENCE: Duration = Duration::from_millis(400);
/// Limits of a model list: bytes read, and models kept.
const MOST_BYTES: usize = 1 << 20;
const MOST_MODELS: usize = 50;

/// Known servers: provider, name, usual port, path of the model list, and keys of the names in that list.
const KINDS: [(&str, &str, u16, &str, [&str; 2]); 4] = [
    ("ollama", "Ollama", 11434, "/api/tags", ["models", "name"]),
    ("llamacpp", "llama.cpp", 8080, "/v1/models", ["data", "id"]),
    ("lmstudio", "LM Studio", 1234, "/v1/models", ["data", "id"]),
    ("vllm", "vLLM", 8000, "/v1/models", ["data", "id"]),
];

/// A server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Provider under which its models are addressed.
    pub provider: &'static str,
    /// Name of the server software.
    pub name: &'static str,
    pub address: String,
    pub models: Vec<ModelRef>,
}

/// Returns the servers that answer on their usual ports.
pub async fn local_servers(http: &Http) -> Vec<LocalServer> {
    let asked = KINDS.map(|(provider, name, port, path, keys)| async move {
        let address = format!("http://127.0.0.1:{port}");
        let models = models_at(http, &address, path, provider, keys).await?;
        Some(LocalServer { provider, name, address, models })
    });
    futures::future::join_all(asked).await.into_iter().flatten().collect()
}

/// Models listed by a server; `None` if it is not of this kind.
async fn models_at(
    http: &Http,
    address: &str,
    path: &str,
    provider: &str,
    [list, name]: [&str; 2],
) -> Option<Vec<ModelRef>> {
    let url = format!("{address}{path}");
    let body = tokio::time::timeout(PATIENCE, http.get(&url, MOST_BYTES)).await.ok()?.ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let listed = body.get(list)?.as_array()?.iter().filter_map(|model| model.get(name)?.as_str());
    let plain = |name: &&str| name.len() <= 200 && name.chars().all(|c| c.is_ascii_graphic());
    let models = listed.filter(plain).filter_map(|name| format!("{provider}/{name}").parse().ok());
    Some(models.take(MOST_MODELS).collect())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use types::Millis;

    use super::*;

    async fn serve(body: &'static str) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let mut asked = [0; 1024];
                let _read = connection.read(&mut asked).await;
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _sent = connection.write_all(format!("{head}{body}").as_bytes()).await;
            }
        });
        address
    }

    #[tokio::test]
    async fn a_server_is_known_by_its_list_and_strange_names_are_left_out() {
        let http = Http::new(Millis::seconds(1));
        let ask = async |body: &'static str, path: &str, keys: [&'static str; 2]| {
            models_at(&http, &serve(body).await, path, "p", keys).await
        };
        let names = |models: Option<Vec<ModelRef>>| -> Vec<String> {
            models.expect("a server").iter().map(ToString::to_string).collect()
        };
        let tags = r#"{"models":[{"name":"qwen3:8b"},{"name":"a\u001b[2Jb"}]}"#;
        assert_eq!(names(ask(tags, "/api/tags", ["models", "name"]).await), ["p/qwen3:8b"]);
        let list = r#"{"object":"list","data":[{"id":"org/model"}]}"#;
        assert_eq!(names(ask(list, "/v1/models", ["data", "id"]).await), ["p/org/model"]);
        assert_eq!(ask("<html>", "/v1/models", ["data", "id"]).await, None);
        assert_eq!(ask("{}", "/v1/models", ["data", "id"]).await, None);
    }
}
