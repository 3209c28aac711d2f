//! Prices, sizes and capabilities of models at well-known providers, from a compiled-in table.
//!
//! The table is `data/model-facts.tsv`; its header names the source of the data.

const TABLE: &str = include_str!("../../../data/model-facts.tsv");
const COLUMNS: usize = 16;

/// Known facts about one model at one provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelFacts {
    /// `text`, `embedding`, another type by LiteLLM's name, or empty if unknown.
    pub(super) model_type: &'static str,
    pub(super) price: Option<KnownPrice>,
    pub(super) context_tokens: Option<u64>,
    pub(super) max_completion_tokens: Option<u64>,
    pub(super) dimensions: Option<u64>,
    pub(super) capabilities: Vec<&'static str>,
}

/// Rates in USD per million tokens, as decimals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KnownPrice {
    pub(super) base: KnownRates,
    /// The context size above which other rates apply, and those rates.
    pub(super) extended: Option<(u64, KnownRates)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KnownRates {
    pub(super) input: String,
    pub(super) output: String,
    pub(super) cache_input: Option<String>,
    pub(super) cache_write: Option<String>,
}

/// Returns the facts of a model by LiteLLM's prefix and the provider's model name. If the name is
/// unknown, a date or `-latest` at its end is removed.
pub(super) fn find_facts(prefix: &str, id: &str) -> Option<ModelFacts> {
    let found = |id: &str| read_table_rows().find(|row| row[0] == prefix && row[1] == id);
    let row = found(id).or_else(|| found(strip_model_date(id)?))?;
    let number = |index: usize| row[index].parse().ok();
    let optional = |index: usize| (!row[index].is_empty()).then(|| row[index].to_owned());
    let rates = |first: usize| {
        Some(KnownRates {
            input: optional(first)?,
            output: optional(first + 1).unwrap_or_else(|| "0".to_owned()),
            cache_input: optional(first + 2),
            cache_write: optional(first + 3),
        })
    };
    let extended = number(7).zip(rates(8));
    Some(ModelFacts {
        model_type: row[2],
        price: rates(3).map(|base| KnownPrice { base, extended }),
        context_tokens: number(12),
        max_completion_tokens: number(13),
        dimensions: number(14),
        capabilities: row[15].split(',').filter(|it| !it.is_empty()).collect(),
    })
}

fn read_table_rows() -> impl Iterator<Item = [&'static str; COLUMNS]> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// Removes the date or `-latest`: `gpt-4o-2024-08-06`, `claude-sonnet-4-20250514`, `x-latest`.
fn strip_model_date(id: &str) -> Option<&str> {
    if let Some(name) = id.strip_suffix("-latest") {
        return Some(name);
    }
    let is_date = |text: &str, form: &str| {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                _ => byte == wanted,
            })
    };
    ["-00000000", "-0000-00-00"].into_iter().find_map(|form| {
        let (name, date) = id.split_at_checked(id.len().checked_sub(form.len())?)?;
        is_date(date, form).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use domain::catalogue::{NamedVariants, TextCapability};
    use money::{Price, PriceUnits};

    use super::*;

    #[test]
    fn every_line_of_the_table_can_be_read() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(read_table_rows().count(), lines);
        for row in read_table_rows() {
            for amount in row[3..7].iter().chain(&row[8..12]).filter(|it| !it.is_empty()) {
                assert!(Price::parse(amount, PriceUnits::Million).is_ok(), "{row:?}");
            }
            for word in row[15].split(',').filter(|it| !it.is_empty()) {
                assert!(TextCapability::NAMES.contains(&word), "{row:?}");
            }
        }
    }

    #[test]
    fn a_model_is_found_with_and_without_its_date() {
        let facts = find_facts("openai", "gpt-4o").unwrap();
        let base = facts.price.unwrap().base;
        assert_eq!((base.input.as_str(), base.output.as_str()), ("2.5", "10"));
        assert!(facts.capabilities.contains(&"tools") && facts.capabilities.contains(&"vision"));
        assert_eq!(strip_model_date("gpt-4o-2024-08-06"), Some("gpt-4o"));
        assert_eq!(strip_model_date("claude-sonnet-4-20250514"), Some("claude-sonnet-4"));
        assert_eq!(strip_model_date("gpt-4o"), None);
        assert_eq!(strip_model_date("llama-3-70b"), None);
        assert!(find_facts("anthropic", "gpt-4o").is_none());
    }
}
