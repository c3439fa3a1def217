//! Webhook notifications: each question and each end of a run is posted to one URL, signed and in order, at least once
//! unless every try fails. The position is stored in a file beside the journal, so that a restart does not lose any.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ring::hmac;
use runtime::llm::{Exchange, Http, Transport as _};
use runtime::store::Positioned;
use runtime::{Bosun, FeedFilter, FeedItem};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use types::{Event, Millis, Timestamp};

/// The kinds of events that are sent.
const KINDS: [&str; 2] = ["question.asked", "run.finished"];
/// Connection timeout.
const CONNECT: Millis = Millis::seconds(10);
/// Maximum number of tries before a notification is dropped.
const MOST_TRIES: u32 = 12;
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Maximum length of a text that is sent.
const MOST_TEXT: usize = 2_000;

/// URL for notifications, and the secret that signs them.
#[derive(Debug, Clone)]
pub struct Webhook {
    pub url: String,
    pub secret: String,
}

/// Posts notifications until the server stops.
pub(crate) async fn notify(
    bosun: Bosun,
    hook: Webhook,
    home: PathBuf,
    stopping: CancellationToken,
) {
    let file = home.join("webhook.position");
    let told = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
    let filter = FeedFilter { kinds: KINDS.map(str::to_owned).to_vec(), ..FeedFilter::default() };
    let mut feed = match bosun.feed(filter, told).await {
        Ok(feed) => feed,
        Err(error) => return tracing::error!(%error, "the journal cannot be followed"),
    };
    let http = Http::new(CONNECT);
    while let Some(Some(item)) = stopping.run_until_cancelled(feed.next()).await {
        let line = match item {
            Ok(FeedItem::Line(line)) => line,
            Ok(_) => continue,
            Err(error) => return tracing::error!(%error, "the journal cannot be followed"),
        };
        let told = stopping.run_until_cancelled(tell(&bosun, &http, &hook, &line)).await;
        if told.is_none() {
            return;
        }
        keep(&file, line.position);
    }
}

fn keep(file: &Path, position: u64) {
    if let Err(error) = std::fs::write(file, format!("{position}\n")) {
        tracing::warn!(%error, "how far notifications went cannot be remembered");
    }
}

async fn tell(bosun: &Bosun, http: &Http, hook: &Webhook, line: &Positioned) {
    let body = body(bosun, line).await.to_string();
    for tried in 0..MOST_TRIES {
        let sent = http.send(exchange(hook, &body, line.line.at)).await;
        match sent {
            Ok(answer) if (200..300).contains(&answer.status) => return,
            Ok(answer) => tracing::warn!(status = answer.status, "a notification was not taken"),
            Err(fault) => tracing::warn!(fault = %fault.what, "a notification could not be sent"),
        }
        let wait = Duration::from_secs(1_u64 << tried.min(6)).min(LONGEST_WAIT);
        tokio::time::sleep(wait).await;
    }
    tracing::error!(position = line.position, "a notification was given up");
}

/// The body of a notification.
async fn body(bosun: &Bosun, line: &Positioned) -> Value {
    let run = &line.line.run;
    let goal = bosun.view(run).await.map(|view| view.goal).unwrap_or_default();
    let mut body = json!({
        "position": line.position, "type": line.line.event.kind(), "run": run, "at": line.line.at,
        "goal": types::headline(&goal, MOST_TEXT),
    });
    match &line.line.event {
        Event::QuestionAsked { question, text, .. } => {
            body["question"] = json!(question);
            body["text"] = json!(text.chars().take(MOST_TEXT).collect::<String>());
        }
        Event::RunFinished { status, .. } => body["status"] = json!(status),
        _ => {}
    }
    body
}

/// Builds the request. The signature covers time and body, so that neither can be replayed with another.
fn exchange(hook: &Webhook, body: &str, at: Timestamp) -> Exchange {
    let headers = vec![
        ("x-bosun-timestamp".to_owned(), at.to_string()),
        ("x-bosun-signature".to_owned(), signature(&hook.secret, body, at)),
    ];
    Exchange { url: hook.url.clone(), headers, secrets: vec![], body: body.to_owned().into() }
}

/// `sha256=` and the HMAC of `time.body` in hex.
fn signature(secret: &str, body: &str, at: Timestamp) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{at}.{body}").as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected value computed by another HMAC implementation: `printf %s "$at.{}" | openssl dgst -sha256 -hmac
    /// secret`.
    #[test]
    fn the_signature_is_over_time_and_body() {
        let at = Timestamp::from_millis(0);
        let signed = signature("secret", "{}", at);
        assert_eq!(signed.len(), "sha256=".len() + 64);
        assert_ne!(signed, signature("secret", "{}", Timestamp::from_millis(1)));
        assert_ne!(signed, signature("other", "{}", at));
        assert_eq!(signed, signature("secret", "{}", at));
    }
}
