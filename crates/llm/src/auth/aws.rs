//! AWS Signature Version 4: signs one request with an access key supplied by the caller.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};
use types::{Digest, Timestamp};

use crate::transport::Exchange;

/// An access key for one service in one region.
#[derive(Debug, Clone)]
pub struct Signer {
    pub(crate) access_key: String,
    pub(crate) secret_key: SecretString,
    pub(crate) session_token: Option<SecretString>,
    pub(crate) region: String,
    pub(crate) service: &'static str,
}

impl Signer {
    /// Signs a POST request: its URL, its body, and the headers for date, host and session token.
    pub(crate) fn sign(&self, exchange: &mut Exchange, now: Timestamp) {
        let time = compact(now);
        let mut signed: BTreeMap<String, String> = BTreeMap::new();
        let (host, path, query) = parts(&exchange.url);
        signed.insert("host".to_owned(), host.to_owned());
        signed.insert("x-amz-date".to_owned(), time.clone());
        if let Some(token) = &self.session_token {
            let token = token.expose_secret().to_owned();
            signed.insert("x-amz-security-token".to_owned(), token);
        }
        let authorization =
            self.authorization("POST", (path, query), &signed, &exchange.body, &time);
        exchange.headers.push(("x-amz-date".to_owned(), time));
        if let Some(token) = &self.session_token {
            exchange.secrets.push(("x-amz-security-token", token.clone()));
        }
        exchange.secrets.push(("authorization", authorization.into()));
    }

    /// Value of the `authorization` header. Header names must be lower-case; values are trimmed.
    fn authorization(
        &self,
        method: &str,
        (path, query): (&str, &str),
        headers: &BTreeMap<String, String>,
        body: &[u8],
        time: &str,
    ) -> String {
        let names = headers.keys().map(String::as_str).collect::<Vec<_>>().join(";");
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let canonical = format!(
            "{method}\n{}\n{query}\n{lines}\n{names}\n{}",
            encoded_path(path),
            Digest::of(body)
        );
        let date = time.get(..8).unwrap_or_default();
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let hash = Digest::of(canonical.as_bytes());
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}");
        let first = format!("AWS4{}", self.secret_key.expose_secret());
        let mut key = mac(first.as_bytes(), date);
        for part in [self.region.as_str(), self.service, "aws4_request"] {
            key = mac(key.as_ref(), part);
        }
        let signature = hex(mac(key.as_ref(), &text).as_ref());
        let access = &self.access_key;
        format!(
            "AWS4-HMAC-SHA256 Credential={access}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
    }
}

fn mac(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// Formats a time as `20150830T123600Z`.
fn compact(now: Timestamp) -> String {
    let text = now.to_string();
    let seconds = text.split(['.', 'Z']).next().unwrap_or_default();
    let digits: String = seconds.chars().filter(|c| *c != '-' && *c != ':').collect();
    format!("{digits}Z")
}

/// Splits a URL into host, path and query.
fn parts(url: &str) -> (&str, &str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    (host, path, query)
}

/// Encodes a path for signing. Every service but S3 signs each segment encoded once more than it is sent.
fn encoded_path(path: &str) -> String {
    path.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

/// Percent-encodes a path segment, except for unreserved characters.
pub(crate) fn encoded(part: &str) -> String {
    part.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _written = write!(text, "%{byte:02X}");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(token: Option<&str>) -> Signer {
        Signer {
            access_key: "AKIDEXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: token.map(Into::into),
            region: "us-east-1".to_owned(),
            service: "service",
        }
    }

    fn signature(method: &str, more: &[(&str, &str)], body: &[u8], query: &str) -> String {
        let own = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        let pairs = own.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let said = signer(None).authorization(
            method,
            ("/", query),
            &pairs.collect(),
            body,
            "20150830T123600Z",
        );
        said.rsplit('=').next().expect("a signature").to_owned()
    }

    /// Vectors from the Signature Version 4 test suite published by AWS.
    #[test]
    fn the_published_vectors_are_signed_as_published() {
        assert_eq!(
            signature("GET", &[], b"", ""),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert_eq!(
            signature("POST", &[], b"", ""),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
        let form = [("content-type", "application/x-www-form-urlencoded")];
        assert_eq!(
            signature("POST", &form, b"Param1=value1", ""),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
        assert_eq!(
            signature("POST", &[], b"", "Param1=value1"),
            "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"
        );
    }

    #[test]
    fn a_request_carries_time_token_and_signature_and_the_path_is_encoded_twice() {
        assert_eq!(encoded_path("/model/a%3A0/invoke"), "/model/a%253A0/invoke");
        let mut exchange = Exchange {
            url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/invoke".to_owned(),
            headers: vec![],
            secrets: vec![],
            body: bytes::Bytes::from_static(b"{}"),
        };
        signer(Some("token")).sign(&mut exchange, Timestamp::from_millis(1_440_938_160_000));
        assert_eq!(exchange.headers, [("x-amz-date".to_owned(), "20150830T123600Z".to_owned())]);
        let names: Vec<&str> = exchange.secrets.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["x-amz-security-token", "authorization"]);
        let said = exchange.secrets[1].1.expose_secret();
        assert!(said.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"), "{said}");
    }
}
