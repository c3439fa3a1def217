//! Formats that are not in `Language`: JSON, TOML, YAML, SQL, style sheets, recipes. Finds their comments and strings
//! line by line.

use std::ops::Range;

use crate::source::{after, line_end};

/// The syntax class of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Plain,
    Keyword,
    String,
    Comment,
    Number,
}

/// Classified parts of a text, in order and without overlap.
pub(super) type Tokens = Vec<(Range<usize>, Class)>;

/// A format, by its syntax for comments and strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
    Yaml,
    Sql,
    Css,
    Markup,
    /// Comments with `#`: makefiles, container files, settings of many programs.
    Hash,
}

impl Format {
    pub(super) fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let recipe = ["Makefile", "makefile", "GNUmakefile", "Dockerfile", "Containerfile"];
        if recipe.contains(&name) {
            return Some(Self::Hash);
        }
        Some(match name.rsplit_once('.')?.1 {
            "json" | "jsonc" | "json5" | "jsonl" | "webmanifest" => Self::Json,
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            "sql" => Self::Sql,
            "css" | "scss" | "less" => Self::Css,
            "html" | "htm" | "xml" | "svg" => Self::Markup,
            "mk" | "cmake" | "conf" | "cfg" | "ini" | "properties" | "gitignore" => Self::Hash,
            _ => return None,
        })
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Json | Self::Toml => "true false null",
            Self::Yaml => "true false null yes no on off",
            Self::Sql => SQL,
            Self::Css => "important inherit initial unset none auto",
            Self::Markup => "",
            Self::Hash => "FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT WORKDIR",
        }
    }

    pub(super) fn ignores_case(self) -> bool {
        self == Self::Sql
    }

    /// The strings and comments of a text, in order.
    pub(super) fn quoted(self, text: &str) -> Tokens {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let token = self
                .comment(bytes, at)
                .map(|end| (end, Class::Comment))
                .or_else(|| self.string(bytes, at).map(|end| (end, Class::String)));
            match token {
                Some((end, class)) => {
                    found.push((at..end, class));
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }

    fn comment(self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = &bytes[at..];
        let block = |open: &[u8], close: &[u8]| {
            rest.starts_with(open).then(|| after(bytes, at + open.len(), close))
        };
        let to_line_end = |mark: &[u8]| rest.starts_with(mark).then(|| line_end(bytes, at));
        // `a#b` is not a comment in YAML, nor is `$#` in a recipe.
        let begins = at == 0 || bytes[at - 1].is_ascii_whitespace();
        match self {
            Self::Json => to_line_end(b"//").or_else(|| block(b"/*", b"*/")),
            Self::Toml => to_line_end(b"#"),
            Self::Yaml | Self::Hash => to_line_end(b"#").filter(|_| begins),
            Self::Sql => to_line_end(b"--").or_else(|| block(b"/*", b"*/")),
            Self::Css => block(b"/*", b"*/"),
            Self::Markup => block(b"<!--", b"-->"),
        }
    }

    /// The end of a string that begins here. It ends on its line, unless it has TOML's triple quotes.
    fn string(self, bytes: &[u8], at: usize) -> Option<usize> {
        let quotes: &[u8] = match self {
            Self::Json => b"\"",
            Self::Sql => b"'\"`",
            // An apostrophe in prose does not start a string.
            Self::Markup => b"\"",
            _ => b"\"'",
        };
        let quote = *bytes.get(at).filter(|byte| quotes.contains(byte))?;
        let in_word = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
        if in_word {
            return None;
        }
        let triple = [quote; 3];
        if self == Self::Toml && bytes[at..].starts_with(&triple) {
            return Some(after(bytes, at + 3, &triple));
        }
        let mut end = at + 1;
        while end < bytes.len() && bytes[end] != b'\n' {
            match bytes[end] {
                b'\\' if self != Self::Sql && quote == b'"' => end += 1,
                byte if byte == quote => return Some(end + 1),
                _ => {}
            }
            end += 1;
        }
        Some(line_end(bytes, at))
    }
}

const SQL: &str = "\
add all alter and as asc begin between by cascade case check column commit constraint create cross default \
delete desc distinct drop else end exists foreign from full group having if in index inner insert into is \
join key left like limit not null offset on or order outer primary references returning right rollback \
select set table then transaction trigger union unique update using values view when where with";
