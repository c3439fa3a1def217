//! Statements in DSSE envelopes, one per line: an in-toto bundle. Wraps and unwraps only; signatures over the bytes of
//! [`pae`] are made and checked elsewhere.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use serde::{Deserialize, Serialize};

/// The payload type of the envelopes.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// An envelope may use either base64 alphabet.
const READERS: [GeneralPurpose; 2] = [
    GeneralPurpose::new(&alphabet::STANDARD, LENIENT),
    GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT),
];

/// A DSSE envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    #[serde(default)]
    signatures: Vec<Signature>,
}

/// A signature in an envelope. The key id is a hint and proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub keyid: String,
    pub sig: String,
}

/// An opened envelope. Check the signatures before reading the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub payload: Vec<u8>,
    /// Each as text for ssh-keygen.
    pub signatures: Vec<String>,
}

impl Opened {
    /// The bytes that the signatures are over.
    #[must_use]
    pub fn signed_bytes(&self) -> Vec<u8> {
        pae(PAYLOAD_TYPE, &self.payload)
    }
}

/// The signed bytes: type and payload with their lengths, so that neither can be mistaken for the other.
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// Puts a statement into an envelope. The signature is the text written by ssh-keygen.
#[must_use]
pub fn seal(statement: &str, signature: Option<(&str, &str)>) -> Sealed {
    let standard = general_purpose::STANDARD;
    let signatures = signature
        .into_iter()
        .map(|(keyid, text)| Signature { keyid: keyid.to_owned(), sig: standard.encode(text) });
    Sealed {
        payload: standard.encode(statement),
        payload_type: PAYLOAD_TYPE.to_owned(),
        signatures: signatures.collect(),
    }
}

/// Extracts the statements of a bundle and counts all other lines. A bundle may contain such lines; if statements are
/// missing because of them, the reader notices.
#[must_use]
pub fn open(text: &str) -> (Vec<Opened>, usize) {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<Option<Opened>> = lines.map(opened).collect();
    let ignored = lines.iter().filter(|line| line.is_none()).count();
    (lines.into_iter().flatten().collect(), ignored)
}

fn opened(line: &str) -> Option<Opened> {
    let sealed: Sealed = serde_json::from_str(line).ok()?;
    if sealed.payload_type != PAYLOAD_TYPE {
        return None;
    }
    let payload = decoded(&sealed.payload)?;
    // ssh-keygen writes text; anything else is no signature.
    let signature = |one: &Signature| String::from_utf8(decoded(&one.sig)?).ok();
    let signatures =
        sealed.signatures.iter().map(|one| signature(one).unwrap_or_default()).collect();
    Some(Opened { payload, signatures })
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    READERS.iter().find_map(|reader| reader.decode(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_as_the_protocol_has_it() {
        let bytes = pae("http://example.com/HelloWorld", b"hello world");
        assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn a_statement_comes_out_as_it_went_in_and_other_lines_are_counted() {
        let sealed = seal("{\"a\":\"\u{fffd}??>\"}", Some(("SHA256:x", "the signature\n")));
        let line = serde_json::to_string(&sealed).expect("JSON");
        assert!(sealed.payload.contains(['/', '+']), "the alphabets differ: {}", sealed.payload);
        let payload = sealed.payload.replace('+', "-").replace('/', "_").replace('=', "");
        let url_safe = serde_json::to_string(&Sealed { payload, ..sealed }).expect("JSON");
        let foreign = line.replace(PAYLOAD_TYPE, "application/json");
        let (opened, ignored) = open(&format!("{line}\n\n{foreign}\nnot an envelope\n{{}}\n"));
        assert_eq!((opened.len(), ignored), (1, 3));
        assert_eq!(opened[0].payload, "{\"a\":\"\u{fffd}??>\"}".as_bytes());
        assert_eq!(opened[0].signatures, ["the signature\n"]);
        assert_eq!(open(&url_safe).0, opened);
    }
}
