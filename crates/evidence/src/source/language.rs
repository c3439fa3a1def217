//! The known languages, by the name or the first line of a file.

/// The known languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Rust,
    Go,
    Shell,
    Java,
    Kotlin,
    CSharp,
    Ruby,
    Php,
    C,
}

impl Language {
    /// The language of a file by its name, or by its first line if it has no extension.
    pub(crate) fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((_, end)) = name.rsplit_once('.') else { return by_first_line(text) };
        Some(match end {
            "py" | "pyi" => Self::Python,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
                Self::JavaScript
            }
            "rs" => Self::Rust,
            "go" => Self::Go,
            "sh" | "bash" | "bats" | "zsh" | "ksh" => Self::Shell,
            "java" | "scala" | "groovy" => Self::Java,
            "kt" | "kts" => Self::Kotlin,
            "cs" => Self::CSharp,
            "rb" => Self::Ruby,
            "php" => Self::Php,
            "c" | "h" | "cc" | "cpp" | "hpp" | "cxx" | "m" | "swift" | "dart" => Self::C,
            _ => return None,
        })
    }

    /// Whether indentation marks blocks, as far as this crate reads them.
    pub(crate) fn is_indented(self) -> bool {
        matches!(self, Self::Python | Self::Ruby)
    }

    /// Whether it has comments between `/*` and `*/`.
    pub(crate) fn has_block_comments(self) -> bool {
        !matches!(self, Self::Python | Self::Ruby | Self::Shell)
    }

    /// Whether a line break can end a statement.
    pub(crate) fn ends_at_line(self) -> bool {
        matches!(self, Self::JavaScript | Self::Go | Self::Kotlin | Self::Shell)
    }

    /// Whether single quotes enclose a single character.
    pub(crate) fn has_characters(self) -> bool {
        matches!(self, Self::Rust | Self::Go | Self::Java | Self::Kotlin | Self::CSharp | Self::C)
    }
}

fn by_first_line(text: &str) -> Option<Language> {
    let first = text.trim_start().lines().next()?.strip_prefix("#!")?;
    let named = |words: &[&str]| words.iter().any(|word| first.contains(word));
    if named(&["python"]) {
        Some(Language::Python)
    } else if named(&["node", "deno", "bun"]) {
        Some(Language::JavaScript)
    } else if named(&["ruby"]) {
        Some(Language::Ruby)
    } else if named(&["php"]) {
        Some(Language::Php)
    } else {
        named(&["sh"]).then_some(Language::Shell)
    }
}
