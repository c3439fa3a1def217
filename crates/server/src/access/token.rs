//! Tokens, codes and cookies: 366 random bits (three version 4 UUIDs) as text, of which only a digest is stored. They
//! are random rather than chosen by users, so a plain, unsalted digest cannot be brute-forced.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use types::Digest;

/// Generates a new secret.
pub(super) fn draw() -> String {
    let (one, two) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    let (three, mut bytes) = (uuid::Uuid::new_v4(), Vec::with_capacity(48));
    for part in [one, two, three] {
        bytes.extend_from_slice(part.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The stored form of a secret. Only digests are compared, never secrets, so the timing of a comparison reveals
/// nothing.
pub(super) fn digest(secret: &str) -> String {
    Digest::of(secret.as_bytes()).to_string()
}
