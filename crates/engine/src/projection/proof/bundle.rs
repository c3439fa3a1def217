//! Statements in DSSE envelopes, one to a line: an in-toto bundle. Wraps and unwraps; signatures are made and checked
//! elsewhere, over the bytes that [`pae`] gives.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use serde::{Deserialize, Serialize};

/// What the envelopes contain.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// Both alphabets are allowed in an envelope.
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

/// A signature in an envelope. The key's id is a hint and proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub keyid: String,
    pub sig: String,
}

/// What was in an envelope. Signatures are checked before the payload is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub payload_type: String,
    pub payload: Vec<u8>,
    /// Each as the text that ssh-keygen reads.
    pub signatures: Vec<String>,
}

impl Opened {
    /// The bytes that the signatures are over.
    #[must_use]
    pub fn signed_bytes(&self) -> Vec<u8> {
        pae(&self.payload_type, &self.payload)
    }
}

/// A file that is no bundle of statements: the line, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBundle(pub String);

/// What is signed: type and payload with their lengths, so that neither can be taken for the other.
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// Puts a statement into an envelope. The signature is kept as the text that ssh-keygen writes.
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

/// Takes the statements of a bundle out of their envelopes.
pub fn open(text: &str) -> Result<Vec<Opened>, BadBundle> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let opened: Result<Vec<Opened>, BadBundle> = lines
        .map(|(line, number)| {
            opened(line).map_err(|cause| BadBundle(format!("line {number}: {cause}")))
        })
        .collect();
    let opened = opened?;
    if opened.is_empty() {
        return Err(BadBundle("there is no envelope in it".to_owned()));
    }
    Ok(opened)
}

fn opened(line: &str) -> Result<Opened, String> {
    let sealed: Sealed =
        serde_json::from_str(line).map_err(|error| format!("not a DSSE envelope: {error}"))?;
    if sealed.payload_type != PAYLOAD_TYPE {
        return Err(format!("the payload is {:?}, not {PAYLOAD_TYPE}", sealed.payload_type));
    }
    let payload = decoded(&sealed.payload).ok_or("the payload is not base64")?;
    let signature = |one: &Signature| {
        let bytes = decoded(&one.sig).ok_or("a signature is not base64")?;
        String::from_utf8(bytes).map_err(|_| "a signature is not the text of an SSH signature")
    };
    let signatures = sealed.signatures.iter().map(signature).collect::<Result<_, _>>()?;
    Ok(Opened { payload_type: sealed.payload_type, payload, signatures })
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    READERS.iter().find_map(|reader| reader.decode(text).ok())
}
