//! Redacts keys that servers echo back. A key is found whole or in part, literally or in an encoding used by programs
//! that log headers: base64, percent-encoding, hexadecimal, JSON, lower case. A part shorter than [`PIECE`] is of no
//! use to an attacker and stays. A key that a model deliberately paraphrases cannot be found.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::zeroize::Zeroizing;

/// Shortest part of a longer key that is redacted, in bytes.
const PIECE: usize = 16;

/// Shorter keys are only searched for literally: their encoded forms may be ordinary words.
const SHORTEST_ENCODED: usize = 8;

const INSTEAD: &str = "[key]";

/// Redacts these keys in a text.
pub(crate) fn without<'a>(text: &'a str, keys: &[&str]) -> Cow<'a, str> {
    let forms: Vec<_> = keys.iter().flat_map(|key| forms(key)).collect();
    let mut covered = vec![];
    for form in &forms {
        cover(text.as_bytes(), form.as_bytes(), &mut covered);
    }
    if covered.is_empty() {
        return Cow::Borrowed(text);
    }
    covered.sort_unstable();
    let (mut clean, mut end) = (vec![], None);
    for (from, to) in covered {
        // Overlapping and adjacent ranges become one.
        if end.is_none_or(|end| from > end) {
            clean.extend_from_slice(&text.as_bytes()[end.unwrap_or(0)..from]);
            clean.extend_from_slice(INSTEAD.as_bytes());
        }
        end = end.max(Some(to));
    }
    clean.extend_from_slice(&text.as_bytes()[end.unwrap_or(0)..]);
    Cow::Owned(String::from_utf8_lossy(&clean).into_owned())
}

/// Finds every part of a form in a text.
fn cover(text: &[u8], form: &[u8], covered: &mut Vec<(usize, usize)>) {
    let length = form.len().min(PIECE);
    if length == 0 {
        return;
    }
    let pieces: HashSet<&[u8]> = form.windows(length).collect();
    let found = text.windows(length).enumerate().filter(|(_, window)| pieces.contains(window));
    covered.extend(found.map(|(from, _)| (from, from + length)));
}

/// Forms in which a key may be written.
fn forms(key: &str) -> Vec<Zeroizing<String>> {
    let mut forms = vec![Zeroizing::new(key.to_owned())];
    if key.len() < SHORTEST_ENCODED {
        return forms;
    }
    forms.push(Zeroizing::new(key.to_lowercase()));
    for lower in [false, true] {
        forms.push(Zeroizing::new(percent(key, lower)));
        forms.push(Zeroizing::new(hexadecimal(key, lower)));
    }
    if let Ok(quoted) = serde_json::to_string(key) {
        let quoted = Zeroizing::new(quoted);
        forms.push(Zeroizing::new(quoted.trim_matches('"').to_owned()));
    }
    // The number of bytes before the key determines its bit offset in the base64 characters.
    for before in 0..3 {
        let mut bytes = Zeroizing::new(vec![0; before]);
        bytes.extend_from_slice(key.as_bytes());
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let whole = Zeroizing::new(engine.encode(&*bytes));
            // Characters that also encode bits of neighbouring bytes are left out.
            let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
            forms.push(Zeroizing::new(whole.get(from..to).unwrap_or_default().to_owned()));
        }
    }
    forms
}

fn percent(key: &str, lower: bool) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let write = |byte: &u8| match (plain(byte), lower) {
        (true, _) => char::from(*byte).to_string(),
        (false, true) => format!("%{byte:02x}"),
        (false, false) => format!("%{byte:02X}"),
    };
    key.as_bytes().iter().map(write).collect()
}

fn hexadecimal(key: &str, lower: bool) -> String {
    let write = |byte: &u8| if lower { format!("{byte:02x}") } else { format!("{byte:02X}") };
    key.as_bytes().iter().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-Proj+a/b=0123456789abcdefghij";

    fn encoded(text: &str) -> String {
        base64::engine::general_purpose::STANDARD.encode(text)
    }

    #[test]
    fn a_key_is_found_however_it_is_written() {
        let echoes = [
            KEY.to_owned(),
            format!("Bearer {KEY}"),
            KEY.to_lowercase(),
            encoded(KEY),
            encoded(&format!("user:{KEY}")),
            encoded(&format!("Bearer {KEY}!")),
            URL_SAFE_NO_PAD.encode(format!("??{KEY}")),
            percent(KEY, false),
            percent(KEY, true),
            hexadecimal(KEY, false),
            hexadecimal(KEY, true),
            KEY[..20].to_owned(),
            format!("...{}", &KEY[12..]),
        ];
        for echo in echoes {
            let text = format!("wrong key: {echo}; try again");
            let clean = without(&text, &["another-key-of-ours", KEY]);
            assert!(clean.starts_with("wrong key: ") && clean.contains("[key]"), "{clean}");
            assert!(clean.ends_with("; try again"), "{clean}");
            for form in forms(KEY) {
                let piece = &form[form.len() - 12..];
                assert!(!clean.contains(piece), "{clean} holds {piece}");
            }
        }
    }

    #[test]
    fn what_is_no_key_stays() {
        let text = "the model sk-Proj does not exist; é";
        assert_eq!(without(text, &[KEY, ""]), text);
        assert_eq!(without("the right one is right", &["right"]), "the [key] one is [key]");
        assert_eq!(without(&format!("{KEY}{KEY}"), &[KEY]), "[key]");
        assert_eq!(without(KEY, &[KEY]), "[key]");
        assert_eq!(without("aaaa", &["aa"]), "[key]");
    }
}
