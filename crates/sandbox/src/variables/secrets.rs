//! Detects secrets by the name or the value of a variable. It errs on the side of withholding: a variable that is
//! needed can be named explicitly. Callers decide how to treat a secret.

/// Whether a name contains a word that marks a secret: as a whole word, so that MONKEY and TOKENIZERS pass, or
/// anywhere, if it has no other meaning.
pub(super) fn secret_name(name: &str) -> bool {
    const WORDS: [&str; 25] = [
        "TOKEN",
        "TOKENS",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "PASS",
        "CREDENTIAL",
        "CREDENTIALS",
        "CREDS",
        "KEY",
        "KEYS",
        "APIKEY",
        "AUTH",
        "COOKIE",
        "COOKIES",
        "PAT",
        "PW",
        "PASSCODE",
        "BEARER",
        "JWT",
        "DSN",
        "WEBHOOK",
        "OTP",
    ];
    const ANYWHERE: [&str; 10] = [
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "SECRET",
        "CREDENTIAL",
        "APIKEY",
        "PRIVATEKEY",
        "ACCESSKEY",
        "CONNECTIONSTRING",
        "CONNECTION_STRING",
    ];
    const ENDINGS: [&str; 3] = ["TOKEN", "PASS", "PWD"];
    let name = name.to_ascii_uppercase();
    if ANYWHERE.iter().any(|part| name.contains(part)) {
        return true;
    }
    // The current and the previous folder of the shell.
    let folder = matches!(name.as_str(), "PWD" | "OLDPWD");
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let ordinary = |word: &str| matches!(word, "BYPASS" | "COMPASS" | "OVERPASS" | "UNDERPASS");
    let ends = |word: &str| ENDINGS.iter().any(|end| word.ends_with(end)) && !ordinary(word);
    !folder && words.any(|word| WORDS.contains(&word) || ends(word))
}

/// Whether a value has the shape of a well-known key, to find those under an innocent name.
pub(super) fn secret_value(value: &str) -> bool {
    const BEGINNINGS: [&str; 36] = [
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "sk-",
        "sk_live_",
        "rk_live_",
        "xoxb-",
        "xoxp-",
        "xoxa-",
        "AIza",
        "ya29.",
        "npm_",
        "pypi-",
        "hf_",
        "AKIA",
        "ASIA",
        "xoxe-",
        "xoxs-",
        "xapp-",
        "gsk_",
        "r8_",
        "dop_v1_",
        "shpat_",
        "SG.",
        "whsec_",
        "dckr_pat_",
        "hvs.",
        "tskey-",
        "lin_api_",
        "figd_",
        "glptt-",
        "AGE-SECRET-KEY-",
    ];
    let key = BEGINNINGS.iter().any(|start| value.starts_with(start) && value.len() >= 20);
    let signed = value.starts_with("eyJ") && value.matches('.').count() == 2;
    let login = value.split_once("://").is_some_and(|(_, rest)| {
        let host = rest.split('/').next().unwrap_or(rest);
        host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':') || user.len() >= 16)
    });
    key || signed || login || value.contains("-----BEGIN ") || in_pairs(value) || is_random(value)
}

/// Whether a value contains a password: in the pairs of a connection string, a URL, JSON, or a header.
fn in_pairs(value: &str) -> bool {
    const NAMES: [&str; 10] = [
        "password",
        "passwd",
        "pwd",
        "accountkey",
        "sharedaccesskey",
        "sharedaccesssignature",
        "private_key",
        "client_secret",
        "access_token",
        "api_key",
    ];
    let pairs = value.split([';', '&', '?', ',', '{', ' ']);
    let named = |pair: &str| {
        let Some((name, said)) = pair.split_once(['=', ':']) else { return false };
        let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
        NAMES.contains(&name.as_str()) && said.len() > 1
    };
    let lower = value.to_ascii_lowercase();
    let header = ["bearer ", "basic "].iter().any(|word| lower.starts_with(word));
    let object = ["\"private_key\"", "\"client_secret\"", "\"refresh_token\""];
    let in_object = object.iter().any(|name| lower.contains(name));
    in_object || (header && value.len() > 16) || pairs.into_iter().any(named)
}

/// Whether a value is a long word that mixes upper case, lower case and digits like no text that people write.
fn is_random(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '=');
    let count = |like: fn(&char) -> bool| value.chars().filter(like).count();
    (24..=512).contains(&value.len())
        && value.chars().all(plain)
        && count(char::is_ascii_digit) >= 3
        && count(char::is_ascii_uppercase) >= 4
        && count(char::is_ascii_lowercase) >= 4
}
