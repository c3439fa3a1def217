//! Which variables of this machine hold secrets: the keys of our own providers, and values that are named like secrets
//! and look like them. Ordinary values are none: whatever is taken for a secret is redacted wherever it is shown.
//! Keys that are known by their form are found elsewhere, whatever variable they are in.

/// The values of all variables that hold secrets. `keys` are the names of those with a key of a provider.
pub(crate) fn known(
    variables: impl Iterator<Item = (String, String)>,
    keys: &[String],
) -> Vec<String> {
    let secret = |(name, value): &(String, String)| keys.contains(name) || is_secret(name, value);
    variables.filter(secret).map(|(_, value)| value).collect()
}

/// Shorter values are not taken for secrets.
const SHORTEST: usize = 12;
/// From here on also words are taken for a secret, where the name says that it is one that people type.
const PHRASE: usize = 20;

/// What a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// A key or token, which machines make.
    Key,
    /// A password or phrase, which people make.
    Password,
}

fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    let Some(named) = named(name) else { return false };
    if value.len() < SHORTEST || is_placeholder(value) || is_place(value) {
        return false;
    }
    let wordy = |c: char| c.is_alphabetic() || matches!(c, ' ' | '-' | '_' | '.' | ':' | ',');
    if value.chars().all(wordy) {
        let mixed = is_mixed(value);
        return mixed || (named == Named::Password && value.len() >= PHRASE);
    }
    value.chars().any(char::is_alphabetic)
}

/// What the words of a name say; numbers are none. Some words say it wherever they stand, unless the last one says that
/// the value is about a secret.
fn named(name: &str) -> Option<Named> {
    const KEYS: [&str; 9] =
        ["KEY", "KEYS", "TOKEN", "TOKENS", "APIKEY", "CREDENTIAL", "CREDENTIALS", "CREDS", "JWT"];
    const PASSWORDS: [&str; 6] =
        ["PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "SECRET", "SECRETS"];
    const LAST_KEY: [&str; 3] = ["PAT", "AUTH", "COOKIE"];
    const LAST_PASSWORD: [&str; 2] = ["PASS", "PWD"];
    const ABOUT: [&str; 12] = [
        "ID", "NAME", "PATH", "FILE", "DIR", "URL", "URI", "TYPE", "TTL", "LENGTH", "SIZE",
        "FORMAT",
    ];
    let name = name.to_ascii_uppercase();
    let is_word = |word: &&str| !word.is_empty() && !word.bytes().all(|b| b.is_ascii_digit());
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_word).collect();
    let last = words.last()?;
    if matches!(name.as_str(), "PWD" | "OLDPWD") || ABOUT.contains(last) {
        return None;
    }
    // `GITHUBTOKEN`, `PGPASSWORD`; nothing else ends like these.
    let any = |list: &[&str], endings: &[&str]| {
        let ends = |word: &str| endings.iter().any(|end| word.ends_with(end));
        words.iter().any(|word| list.contains(word) || ends(word))
    };
    if LAST_PASSWORD.contains(last)
        || any(&PASSWORDS, &["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET"])
    {
        Some(Named::Password)
    } else if LAST_KEY.contains(last) || any(&KEYS, &["TOKEN", "APIKEY", "ACCESSKEY", "PRIVATEKEY"])
    {
        Some(Named::Key)
    } else {
        None
    }
}

/// What stands there until somebody puts a secret in its place, or refers to it.
fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 8] =
        ["changeme", "change-me", "change_me", "your-", "your_", "placeholder", "example", "dummy"];
    let lower = value.to_lowercase();
    let refers = lower.starts_with(['$', '<', '%']) || lower.starts_with("{{");
    let mut different: Vec<char> = value.chars().collect();
    different.sort_unstable();
    different.dedup();
    refers || different.len() < 5 || WORDS.iter().any(|word| lower.contains(word))
}

/// A path, or an address without a name and password in it.
fn is_place(value: &str) -> bool {
    if let Some((scheme, rest)) = value.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        return scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
            && !host.contains('@');
    }
    let starts = ["/", "~/", "./", "../", "C:\\"].iter().any(|start| value.starts_with(start));
    starts && !value.split(['/', '\\']).any(is_random)
}

/// A long word with digits, small and capital letters, as no folder is called.
fn is_random(word: &str) -> bool {
    let count = |like: fn(&char) -> bool| word.chars().filter(like).count();
    let letters = count(char::is_ascii_lowercase).min(count(char::is_ascii_uppercase));
    word.len() >= 16 && letters >= 4 && count(char::is_ascii_digit) >= 3
}

/// Whether small and capital letters are mixed as in nothing that a person writes.
fn is_mixed(text: &str) -> bool {
    let chars: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).collect();
    let changes = chars.windows(2).filter(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    // `camelCaseLikeThis` changes once in a word; four letters are a short one.
    changes.count() * 4 >= text.len().max(12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_named_like_secrets_and_look_like_them_are_secrets() {
        for (name, value) in [
            ("OPENAI_API_KEY", "f3Kq9ZpL0vTnW8xY"),
            ("my_service_token", "0a1b2c3d4e5f6a7b"),
            ("GITHUBTOKEN", "550e8400-e29b-41d4-a716-446655440000"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ4tT0wN2d"),
            ("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnF4MI7K7MDENGbPxRfiCYzQ4tT0wN2d"),
            ("DB_PASSWORD", "tr0ub4dor&3xyz"),
            ("DB_PASSWORD_2", "tr0ub4dor&3xyz"),
            ("PGPASSWORD", "correct horse battery staple"),
            ("SESSION_SECRET", "qWeRtYuIoPaSdFgH"),
            ("SIGNING_KEY", "QmFzZTY0IGVuY29kZWQga2V5"),
            ("REDIS_PASS", "redis://user:pw@host:6379/0"),
            ("DJANGO-SECRET", "k9#x!2_s8d@fjw0q"),
            ("SECRET_KEY_BASE", "0a1b2c3d4e5f6a7b"),
            ("DB_PASSWORD_PROD", "tr0ub4dor&3xyz"),
            ("STRIPE_KEY_LIVE", "f3Kq9ZpL0vTnW8xY"),
            ("TOKEN_GITHUB", "0a1b2c3d4e5f6a7b"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn ordinary_names_and_ordinary_values_are_no_secrets() {
        for (name, value) in [
            ("MONKEY", "banana1234567890"),
            ("KEYBOARD_LAYOUT", "us-intl-with-dead-keys-105"),
            ("TOKENIZERS_PARALLELISM", "false-but-long-enough-1"),
            ("KEY_ID", "f3Kq9ZpL0vTnW8xY"),
            ("SECRET_NAME", "projects/1/secrets/db-7"),
            ("SSH_AUTH_SOCK", "agent-f3Kq9ZpL0v"),
            ("TOKEN_FORMAT", "f3Kq9ZpL0vTnW8xY"),
            ("PWD", "/srv/work/f3Kq9ZpL0vTnW8xY"),
            ("COMPASS", "north-by-north-west-11"),
            ("API_KEY", "true"),
            ("API_KEY", "short1"),
            ("API_TOKEN", "development"),
            ("CACHE_KEY", "customer_created_at_desc"),
            ("SORT_KEY", "com.example.app.Signing"),
            ("APP_KEY", "1234567890123456"),
            ("APP_KEY", "2026-11-16 10:15:36"),
            ("SSH_KEY", "/srv/me/.ssh/id_ed25519"),
            ("SSH_KEY", "~/.ssh/id_ed25519_work"),
            ("TLS_KEY", "./certs/server-2024.pem"),
            ("TOKEN", "https://auth.example.org/v1/token?x=1"),
            ("API_KEY", "${VAULT_API_KEY_2}"),
            ("API_KEY", "<insert-your-key-1>"),
            ("API_KEY", "your-api-key-here-1"),
            ("DB_PASSWORD", "changeme12345"),
            ("DB_PASSWORD", "xxxxxxxxxxxxxxxx1"),
            ("DB_PASSWORD", "development"),
            ("SECRET", ""),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn the_keys_of_our_own_providers_are_secrets_whatever_they_look_like() {
        let all = [("VLLM", "plainword"), ("HOME", "/srv/me")];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(known(all.into_iter(), &["VLLM".to_owned()]), ["plainword"]);
    }
}
