//! Detects the kind of a file that is not text by its first bytes. File names are not trusted.

/// A file that is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) word: &'static str,
    /// Media type, if a model can view it.
    pub(super) picture: Option<&'static str>,
}

const fn other(word: &'static str) -> Kind {
    Kind { word, picture: None }
}

const fn picture(word: &'static str, media_type: &'static str) -> Kind {
    Kind { word, picture: Some(media_type) }
}

const BEGINNINGS: &[(&[u8], Kind)] = &[
    (b"\x89PNG\r\n\x1a\n", picture("PNG", "image/png")),
    (b"\xff\xd8\xff", picture("JPEG", "image/jpeg")),
    (b"GIF87a", picture("GIF", "image/gif")),
    (b"GIF89a", picture("GIF", "image/gif")),
    (b"\x7fELF", other("ELF program")),
    (b"%PDF-", other("PDF document")),
    (b"PK\x03\x04", other("ZIP archive")),
    (b"\x1f\x8b", other("gzip archive")),
    (b"BZh", other("bzip2 archive")),
    (b"\xfd7zXZ\0", other("xz archive")),
    (b"\x28\xb5\x2f\xfd", other("zstd archive")),
    (b"SQLite format 3\0", other("SQLite database")),
    (b"\0asm", other("WebAssembly module")),
    (b"\xca\xfe\xba\xbe", other("Java class")),
];

/// Kind of a file; `None` if it can be read as text.
pub(super) fn of(bytes: &[u8]) -> Option<Kind> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(picture("WebP", "image/webp"));
    }
    let known = BEGINNINGS.iter().find(|(beginning, _)| bytes.starts_with(beginning));
    // Text may begin with the same letters, but has no zero byte.
    let has_zero = bytes.iter().take(8192).any(|byte| *byte == 0);
    match known {
        Some((beginning, kind)) if has_zero || !beginning.is_ascii() => Some(*kind),
        Some((_, kind)) if kind.picture.is_some() || kind.word.starts_with("PDF") => Some(*kind),
        _ if bytes.starts_with(b"\xff\xfe") && has_zero => {
            Some(other("UTF-16 text; read it with the encoding utf16le"))
        }
        _ => has_zero.then_some(other("unknown kind")),
    }
}

/// Media type of a picture that a model can view.
#[must_use]
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    of(bytes)?.picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_it_begins_with() {
        assert_eq!(of(b"\x89PNG\r\n\x1a\n").and_then(|kind| kind.picture), Some("image/png"));
        assert_eq!(of(b"RIFF\0\0\0\0WEBPVP8 ").map(|kind| kind.word), Some("WebP"));
        assert_eq!(of(b"\x7fELF\x02\0").map(|kind| kind.word), Some("ELF program"));
        assert_eq!(of(b"\0\0").map(|kind| kind.word), Some("unknown kind"));
        assert_eq!(of(b"BZh is how this text begins"), None);
        assert_eq!(of("\u{e9}t\u{e9} \u{feff}".as_bytes()), None);
        assert_eq!(of(b""), None);
    }
}
