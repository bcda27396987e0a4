//! What models cost, from a file with dates.

use crate::{ModelConfig, Price, Provider};
use atlas_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::path::Path;

const BUILTIN: &str = include_str!("prices.json");

/// Prices and context windows of models: one that is shipped with this crate, or a JSON file of the same form that
/// takes its place. What is not in it is unknown, and never 0.
///
/// ```json
/// {"schema_version": 1, "models": [
///   {"model": "my-model*", "input": 0.5, "cached_input": 0.05, "output": 2.0, "currency": "USD",
///    "context_window": 32768, "as_of": "2026-11-01"}
/// ], "batches": [{"provider": "openai", "factor": 0.5, "as_of": "2026-11-01"}]}
/// ```
///
/// ```
/// use atlas_llm::{ModelConfig, PriceTable};
/// let table = PriceTable::builtin();
/// let known: ModelConfig = "openai:gpt-4o-mini".parse()?;
/// assert_eq!(table.find(&known).map(|entry| entry.as_of.as_str()), Some("2025-04"));
/// let elsewhere: ModelConfig = "https://example.org/v1#gpt-4o-mini".parse()?;
/// assert!(table.find(&elsewhere).is_none());
/// # Ok::<(), atlas_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    models: Vec<PricedModel>,
    /// What batches cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    batches: Vec<BatchPrice>,
}

/// What is paid of the usual price for questions in batches at a provider's own address, and since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchPrice {
    /// The provider.
    pub provider: Provider,
    /// The part of the usual price: 0.5 is half.
    pub factor: f64,
    /// When this was known to be so: `2025-08` or `2025-08-07`.
    pub as_of: String,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What is known of a model, and since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricedModel {
    /// The model's name at its provider; `*` stands for any text.
    pub model: String,
    /// Only at this provider's own address. Default: wherever a model of that name is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// What a million tokens read cost.
    pub input: f64,
    /// What a million tokens read from the server's cache cost. Default: as those that are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// What a million tokens written cost.
    pub output: f64,
    /// In which currency: `USD`. One for the whole file, for sums are made.
    pub currency: String,
    /// Most tokens of a question and its answer together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// When this was known to be so: `2025-08` or `2025-08-07`.
    pub as_of: String,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl PricedModel {
    /// The price alone.
    pub fn price(&self) -> Price {
        Price {
            input: self.input,
            output: self.output,
            cached_input: self.cached_input,
            batch: None,
        }
    }

    fn fits(&self, config: &ModelConfig) -> bool {
        let is_there = self
            .provider
            .is_none_or(|provider| is_at_home(provider, config));
        is_there && matches(&self.model, &config.model)
    }
}

/// Whether a model is asked at this provider's own address.
fn is_at_home(provider: Provider, config: &ModelConfig) -> bool {
    let at_home = |base: &str| {
        let host = |url: &str| url.split('/').nth(2).map(str::to_ascii_lowercase);
        provider
            .usual_url()
            .is_some_and(|usual| host(usual) == host(base))
    };
    provider == config.provider && config.base_url.as_deref().is_none_or(at_home)
}

/// Whether a name has the form of a pattern with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(behind) = name.strip_prefix(head) else {
        return false;
    };
    let mut ends = (0..=behind.len()).filter(|at| behind.is_char_boundary(*at));
    ends.any(|at| matches(rest, &behind[at..]))
}

impl PriceTable {
    /// The one that is shipped. Its prices are those of their dates; they change.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the shipped table is read in a test"
    )]
    pub fn builtin() -> Self {
        Self::parse(BUILTIN, "prices.json").expect("the shipped table is read in a test")
    }

    /// Reads a table; `name` stands in errors.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] that names the file with line and key, or the entry: no such JSON, another
    /// `schema_version`, a price below 0, no date, two currencies.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let wrong = |why: String| {
            Error::new(
                ErrorKind::InvalidInput,
                "read the prices",
                format!("`{name}`"),
            )
            .with_source(why)
        };
        let table: Self = serde_json::from_str(text).map_err(|why| wrong(why.to_string()))?;
        if table.schema_version != 1 {
            return Err(wrong(format!(
                "`schema_version` is {}; 1 is read here",
                table.schema_version
            )));
        }
        for (at, entry) in table.models.iter().enumerate() {
            let wrong = |key: &str, why: &str| {
                Err(wrong(format!(
                    "`models[{at}]`, `{}`: `{key}`: {why}",
                    entry.model
                )))
            };
            let amounts = [
                ("input", Some(entry.input)),
                ("cached_input", entry.cached_input),
                ("output", Some(entry.output)),
            ];
            for (key, amount) in amounts {
                if amount.is_some_and(|amount| !amount.is_finite() || amount < 0.0) {
                    return wrong(
                        key,
                        "an amount from 0 on expected; leave the model out if it is unknown",
                    );
                }
            }
            if entry.model.is_empty() {
                return wrong("model", "a name expected, with `*` for any text");
            }
            if !is_date(&entry.as_of) {
                return wrong("as_of", "a date expected, as `2025-08` or `2025-08-07`");
            }
            if entry.currency != table.models[0].currency {
                return wrong(
                    "currency",
                    "another one than before; one file has one, for sums are made",
                );
            }
        }
        for (at, entry) in table.batches.iter().enumerate() {
            let wrong = |key: &str, why: &str| {
                Err(wrong(format!(
                    "`batches[{at}]`, `{}`: `{key}`: {why}",
                    entry.provider
                )))
            };
            if !(0.0..=1.0).contains(&entry.factor) {
                return wrong("factor", "a part of the price from 0 to 1 expected");
            }
            if !is_date(&entry.as_of) {
                return wrong("as_of", "a date expected, as `2025-08` or `2025-08-07`");
            }
        }
        Ok(table)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read; as [`PriceTable::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|why| Error::io("read the prices", path, why))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// What is known of a model: the first entry that fits its name, and its provider where that is said.
    pub fn find(&self, config: &ModelConfig) -> Option<&PricedModel> {
        self.models.iter().find(|entry| entry.fits(config))
    }

    /// A model with what is known of it where its own table says nothing: `price`, also in batches, and
    /// `context_window`.
    #[must_use]
    pub fn fill(&self, mut config: ModelConfig) -> ModelConfig {
        if let Some(known) = self.find(&config) {
            let (price, window) = (known.price(), known.context_window);
            config.price.get_or_insert(price);
            config.context_window = config.context_window.or(window);
        }
        let is_known = |entry: &&BatchPrice| is_at_home(entry.provider, &config);
        let batch = self.batches.iter().find(is_known).map(|entry| entry.factor);
        if let Some(price) = &mut config.price {
            price.batch = price.batch.or(batch);
        }
        config
    }
}

/// `YYYY-MM` or `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let are_digits = parts
        .iter()
        .all(|part| part.bytes().all(|sign| sign.is_ascii_digit()));
    let within = |at: usize, most: u8| {
        let part = parts.get(at).map(|part| part.parse::<u8>());
        part.is_none_or(|number| number.is_ok_and(|number| (1..=most).contains(&number)))
    };
    are_digits && matches!(lengths[..], [4, 2] | [4, 2, 2]) && within(1, 12) && within(2, 31)
}
