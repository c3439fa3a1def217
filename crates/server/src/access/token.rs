//! Tokens, codes and cookies: 256 random bits as text, of which only a digest is stored. They are long and random, so a
//! plain digest cannot be searched through; nobody chooses them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use types::Digest;

/// A new secret.
pub(super) fn draw() -> String {
    let (one, two) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    let (three, mut bytes) = (uuid::Uuid::new_v4(), Vec::with_capacity(48));
    for part in [one, two, three] {
        bytes.extend_from_slice(part.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

/// What is stored of it. Equal digests are compared, never the secrets, so the time of a comparison says nothing.
pub(super) fn digest(secret: &str) -> String {
    Digest::of(secret.as_bytes()).to_string()
}
