//! The front matter of a document: the keys between two lines of dashes at its top. Flat keys only; unreadable front
//! matter counts as none.

use crate::reading::Reading;

/// Maximum number of lines of front matter that are read.
const MOST_LINES: usize = 50;
/// The shortest word that also matches words that begin with it.
const STEM: usize = 4;

/// The keys that rules use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
    /// The domains of the document; none means all.
    pub(super) domains: Vec<String>,
}

impl FrontMatter {
    pub(super) fn of(text: &str) -> Self {
        let mut front_matter = Self::default();
        let mut lines = text.trim_start_matches('\u{feff}').lines();
        if lines.next().map(str::trim_end) != Some("---") {
            return front_matter;
        }
        let mut in_domains = false;
        for line in lines.take(MOST_LINES) {
            if matches!(line.trim_end(), "---" | "...") {
                return front_matter;
            }
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                if in_domains {
                    front_matter.domains.extend(values(item));
                }
                continue;
            }
            let Some((key, value)) = line.split_once(':') else { continue };
            let key = key.trim().to_lowercase();
            in_domains = matches!(key.as_str(), "domain" | "domains");
            match key.as_str() {
                "kind" | "type" => front_matter.kind = values(value).next(),
                "status" => front_matter.status = values(value).next(),
                "domain" | "domains" => front_matter.domains.extend(values(value)),
                _ => {}
            }
        }
        // Without an end it is no front matter.
        Self::default()
    }

    /// Whether the request mentions a domain of the document.
    pub(super) fn concerns(&self, reading: &Reading) -> bool {
        let mentioned = |word: &str| {
            reading.words().iter().any(|own| {
                own.text == word
                    || (word.chars().count() >= STEM && own.text.starts_with(word))
                    || (own.text.chars().count() >= STEM && word.starts_with(&own.text))
            })
        };
        let all = |domain: &String| {
            let mut words = domain.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
            words.all(mentioned)
        };
        self.domains.is_empty() || self.domains.iter().any(all)
    }
}

/// `a`, `"a"`, `[a, b]`, `a, b # remark`.
fn values(text: &str) -> impl Iterator<Item = String> + '_ {
    let text = text.split(" #").next().unwrap_or_default().trim();
    text.trim_matches(['[', ']'])
        .split(',')
        .map(|value| value.trim().trim_matches(['"', '\'']).to_lowercase())
        .filter(|value| !value.is_empty())
}
