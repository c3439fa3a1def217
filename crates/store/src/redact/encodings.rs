//! A secret as base64 or hexadecimal digits, wherever it begins in what was encoded. A secret of which only a part is
//! encoded, or which is encoded twice or compressed, is not found.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// Shorter texts would match everywhere.
const SHORTEST: usize = 10;

/// Every encoded form of these bytes that does not depend on what is around them.
pub(super) fn of(secret: &[u8]) -> Vec<String> {
    let mut forms = vec![hex(secret, false), hex(secret, true)];
    for engine in [STANDARD, URL_SAFE] {
        forms.extend((0..3).map(|before| base64(&engine, secret, before)));
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms.sort();
    forms.dedup();
    forms
}

fn hex(bytes: &[u8], upper: bool) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.map(|digit| if upper { digit.to_ascii_uppercase() } else { digit }).collect()
}

/// The characters that encode nothing but these bytes, if as many others were before them.
fn base64(engine: &impl Engine, bytes: &[u8], before: usize) -> String {
    let text = engine.encode([&[0; 3][..before], bytes].concat());
    let (first, end) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
    text.get(first..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_in_each_encoding_and_at_each_place() {
        let forms = of(b"swordfish-4711");
        // printf swordfish-4711 | base64; with one and two bytes before it; xxd -p.
        for encoded in [
            "c3dvcmRmaXNoLTQ3MTE=",
            "OnN3b3JkZmlzaC00NzExCg==",
            "dTpzd29yZGZpc2gtNDcxMQo=",
            "73776f7264666973682d34373131",
            "73776F7264666973682D34373131",
        ] {
            assert!(
                forms.iter().any(|form| encoded.contains(form.as_str())),
                "{encoded} {forms:?}"
            );
        }
        assert!(forms.iter().all(|form| form.len() >= SHORTEST), "{forms:?}");
    }
}
