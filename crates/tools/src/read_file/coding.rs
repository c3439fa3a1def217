//! Encodings in which a file can be read. Unknown names are rejected, with a list of the known ones.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Ascii,
    Latin1,
    Utf16,
    Base64,
    Base64Url,
    Hex,
}

const NAMES: [(&str, Encoding); 12] = [
    ("utf8", Encoding::Utf8),
    ("utf-8", Encoding::Utf8),
    ("ascii", Encoding::Ascii),
    ("latin1", Encoding::Latin1),
    ("binary", Encoding::Latin1),
    ("base64", Encoding::Base64),
    ("base64url", Encoding::Base64Url),
    ("hex", Encoding::Hex),
    ("ucs2", Encoding::Utf16),
    ("ucs-2", Encoding::Utf16),
    ("utf16le", Encoding::Utf16),
    ("utf-16le", Encoding::Utf16),
];

/// A file as text.
pub(super) enum Text {
    /// Text, shown line by line.
    Lines(String),
    /// Bytes encoded as text.
    Code(String),
}

impl Encoding {
    /// Looks up an encoding by name; the error is a message for the model.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, encoding)| *encoding).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            let name: String = name.chars().take(40).collect();
            format!("the encoding {name:?} is not supported; there are {}", names.join(", "))
        })
    }

    pub(super) fn text(self, bytes: &[u8]) -> Text {
        match self {
            Self::Utf8 => Text::Lines(String::from_utf8_lossy(bytes).into_owned()),
            Self::Ascii => Text::Lines(bytes.iter().map(|b| char::from(b & 0x7f)).collect()),
            Self::Latin1 => Text::Lines(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Self::Utf16 => {
                let pairs =
                    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
                let units: Vec<u16> = pairs.collect();
                Text::Lines(String::from_utf16_lossy(&units))
            }
            Self::Base64 => Text::Code(STANDARD.encode(bytes)),
            Self::Base64Url => Text::Code(URL_SAFE_NO_PAD.encode(bytes)),
            Self::Hex => Text::Code(
                bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")),
            ),
        }
    }
}
