//! Catalogue of known models: context windows, limits, prices, abilities. It ships as data, can be overlaid with the
//! user's own entries, and can be listed. A model that is not in it works; its cost is unknown, not zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use types::{ModelRef, Money, PriceCap, Usage};

const SHIPPED: &str = include_str!("catalogue.toml");

/// Known models, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalogue {
    models: BTreeMap<String, Entry>,
}

/// Facts about one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Context window: the most tokens of conversation and reply together.
    pub window: Option<u64>,
    pub max_output: Option<u64>,
    /// Price tiers. The first tier whose limit the input does not exceed applies; the last has no limit.
    #[serde(default, rename = "price")]
    pub prices: Vec<Price>,
    #[serde(default)]
    pub abilities: Vec<Ability>,
    /// Source of the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Date of the lookup, as `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
}

/// Dollars per million tokens, for requests up to a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub up_to_input: Option<u64>,
    pub input: Money,
    pub output: Money,
    /// Price of tokens read from a cache; defaults to the input price.
    pub cache_read: Option<Money>,
    pub cache_write: Option<Money>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    Tools,
    Images,
    Documents,
    Thinking,
    Schema,
    Cache,
}

/// A catalogue that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("reading the catalogue of models")]
pub struct CatalogueError(#[from] toml::de::Error);

impl Catalogue {
    /// The catalogue that ships with the product.
    pub fn shipped() -> Result<Self, CatalogueError> {
        Self::parse(SHIPPED)
    }

    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        Ok(Self { models: toml::from_str(text)? })
    }

    /// Overlays further entries over this catalogue.
    #[must_use]
    pub fn overlaid(mut self, models: BTreeMap<String, Entry>) -> Self {
        self.models.extend(models);
        self
    }

    /// Looks up a model by its name, then by its name without a trailing date, then by its provider's wildcard entry.
    #[must_use]
    pub fn find(&self, model: &ModelRef) -> Option<&Entry> {
        let name = model.to_string();
        let undated = without_date(&name);
        let all = format!("{}/*", model.provider());
        self.models
            .get(&name)
            .or_else(|| self.models.get(undated))
            .or_else(|| self.models.get(&all))
    }

    /// Cost of a call; `None` if the prices are unknown.
    #[must_use]
    pub fn cost(&self, model: &ModelRef, usage: Usage) -> Option<Money> {
        let prices = &self.find(model)?.prices;
        let fits = |price: &&Price| price.up_to_input.is_none_or(|limit| usage.input <= limit);
        prices.iter().find(fits).or(prices.last()).map(|price| price.cost(usage))
    }

    /// Highest price of a million tokens of a model, over all tiers, cached or not.
    #[must_use]
    pub fn dearest(&self, model: &ModelRef) -> Option<PriceCap> {
        let caps = self.find(model)?.prices.iter().map(Price::cap);
        caps.reduce(|one, other| PriceCap {
            input: one.input.max(other.input),
            output: one.output.max(other.output),
        })
    }

    /// All entries, sorted by name.
    pub fn list(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.models.iter().map(|(name, entry)| (name.as_str(), entry))
    }
}

impl Price {
    /// The highest price, cached or not.
    pub(crate) fn cap(&self) -> PriceCap {
        let input = self.input.max(self.cache_write.unwrap_or(self.input));
        PriceCap { input, output: self.output }
    }

    /// Input includes cache reads and writes, which have their own prices.
    pub(crate) fn cost(&self, usage: Usage) -> Money {
        let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        let read = self.cache_read.unwrap_or(self.input);
        let write = self.cache_write.unwrap_or(self.input);
        per_million(self.input, fresh)
            .plus(per_million(read, usage.cache_read))
            .plus(per_million(write, usage.cache_write))
            .plus(per_million(self.output, usage.output))
    }
}

/// Price of a number of tokens, from a price per million; fractions are rounded up.
fn per_million(price: Money, tokens: u64) -> Money {
    let nanos = u128::from(price.as_nanos()) * u128::from(tokens);
    Money::nanos(u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

/// `claude-x-20250929` and `gpt-x-2025-08-07` are dated names of `claude-x` and `gpt-x`.
fn without_date(name: &str) -> &str {
    let dated = |length: usize, dashes: usize| {
        let at = name.len().checked_sub(length)?;
        let tail = name.get(at..)?.strip_prefix('-')?;
        let digits = tail.bytes().filter(u8::is_ascii_digit).count();
        (digits == 8 && tail.len() == 8 + dashes && tail.starts_with("20")).then(|| &name[..at])
    };
    dated(9, 0).or_else(|| dated(11, 2)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> ModelRef {
        text.parse().expect("a model")
    }

    #[test]
    fn the_shipped_catalogue_is_valid_and_its_prices_hold_for_any_size() {
        let catalogue = Catalogue::shipped().expect("valid");
        assert!(catalogue.list().count() > 30);
        for (name, entry) in catalogue.list() {
            let limited = entry.prices.last().is_some_and(|last| last.up_to_input.is_some());
            assert!(!limited, "{name}: the last tier has a limit");
            assert_eq!(entry.source.is_some(), entry.checked.is_some(), "{name}: source and date");
            let dated = |day: &String| day.parse::<jiff::civil::Date>().is_ok();
            assert!(entry.checked.as_ref().is_none_or(dated), "{name}: no date");
        }
        let unpriced: ModelRef = model("anthropic/claude-haiku-5-5");
        assert_eq!(catalogue.cost(&unpriced, Usage::default()), None, "unknown is not nothing");
    }

    /// K12, A96: cost by kind of token, thinking included.
    #[test]
    fn the_cost_counts_each_sort_of_token_once() {
        let text = r#"
["a/b"]
price = [
  { up_to_input = 1000, input = "3", output = "15", cache_read = "0.3", cache_write = "3.75" },
  { input = "6", output = "30" },
]
"#;
        let catalogue = Catalogue::parse(text).expect("valid");
        let (cache_read, cache_write, estimated) = (600, 100, 0);
        let usage =
            Usage { input: 1000, output: 10, reasoning: 5, cache_read, cache_write, estimated };
        // 300 fresh at 3, 600 read at 0.3, 100 written at 3.75, 10 out at 15 (including thinking).
        let nanos = 300 * 3_000 + 600 * 300 + 100 * 3_750 + 10 * 15_000;
        assert_eq!(catalogue.cost(&model("a/b"), usage), Some(Money::nanos(nanos)));
        let large = Usage { input: 1001, output: 0, ..Usage::default() };
        assert_eq!(catalogue.cost(&model("a/b"), large), Some(Money::nanos(1001 * 6_000)));
        assert_eq!(catalogue.cost(&model("a/c"), usage), None, "unknown is not nothing");
        let cap = catalogue.dearest(&model("a/b")).expect("a price");
        assert_eq!(
            (cap.input, cap.output),
            (Money::nanos(6_000_000_000), Money::nanos(30_000_000_000))
        );
        assert!(
            cap.of(usage.input, usage.output)
                >= catalogue.cost(&model("a/b"), usage).expect("a price")
        );
        assert_eq!(catalogue.dearest(&model("a/c")), None);
    }

    #[test]
    fn dated_names_are_the_model_and_a_star_is_all_of_a_provider() {
        let text = "[\"a/b\"]\nwindow = 1\n[\"l/*\"]\nwindow = 2\n";
        let catalogue = Catalogue::parse(text).expect("valid");
        for (name, window) in [
            ("a/b-20250929", Some(1)),
            ("a/b-2025-08-07", Some(1)),
            ("l/any", Some(2)),
            ("a/b-2", None),
        ] {
            let found = catalogue.find(&model(name)).and_then(|entry| entry.window);
            assert_eq!(found, window, "{name}");
        }
    }
}
