//! Global options that apply before the command line is parsed: colours, and errors as JSON.

use std::ffi::OsString;

use clap::ValueEnum;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Applies the choice to all further output.
    pub(crate) fn set(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// The `--color` option of a command line, even if the rest of it is invalid.
    pub(crate) fn of(words: &[OsString]) -> Self {
        let words = before_dashes(words);
        let mut said = Self::Auto;
        for (at, word) in words.iter().enumerate() {
            let value = match word.to_str() {
                Some("--color") => words.get(at + 1).and_then(|next| next.to_str()),
                Some(word) => word.strip_prefix("--color="),
                None => None,
            };
            said = value.and_then(|value| Self::from_str(value, false).ok()).unwrap_or(said);
        }
        said
    }
}

/// Whether errors are printed as JSON.
pub(crate) fn wants_json(words: &[OsString]) -> bool {
    before_dashes(words).iter().any(|word| word == "--json")
}

/// The arguments before `--`.
fn before_dashes(words: &[OsString]) -> &[OsString] {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    &words[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn options_before_the_dashes_count() {
        assert!(wants_json(&words("bosun show r_1 --json")));
        assert!(!wants_json(&words("bosun answer r_1 -- --json")));
        assert_eq!(Color::of(&words("bosun --color never list")), Color::Never);
        assert_eq!(Color::of(&words("bosun list --color=always")), Color::Always);
        assert_eq!(Color::of(&words("bosun list --color=pink")), Color::Auto);
        assert_eq!(Color::of(&words("bosun answer r_1 -- --color=never")), Color::Auto);
    }
}
