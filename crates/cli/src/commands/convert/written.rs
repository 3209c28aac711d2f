//! Renders a converted configuration as TOML.

use std::cmp::Ordering;
use std::fmt::Write;

use money::{Per, Price};

use super::facts::{KnownPrice, KnownRates};
use super::{Converted, Draft, RouteDraft};
use crate::commands::look::{own_id, quoted};

/// Context size for models whose size is unknown; all current models support it.
const CONTEXT_TOKENS: u64 = 8192;

impl Draft {
    pub(super) fn finish(mut self) -> Converted {
        let mut toml = String::from("# Made from a LiteLLM configuration by `tollgate convert`.\n");
        for (id, entry) in &self.providers {
            let _ = write!(toml, "\n[[provider]]\nid = \"{id}\"\n{entry}");
        }
        let (mut has_default, mut unpriced) = (false, Vec::new());
        for (name, routes) in &self.models {
            let Some((first, others)) = routes.split_first() else { continue };
            let id = own_id(name);
            let is_embedding = first.facts.model_type == "embedding";
            let kind = if is_embedding { "embedding" } else { "text" };
            let _ = write!(
                toml,
                "\n[[model]]\nid = \"{id}\"\ntype = \"{kind}\"\nprovider = \"{}\"\nupstream_id = {}\n",
                first.provider,
                quoted(&first.upstream_id)
            );
            if id != *name {
                let _ = writeln!(toml, "aliases = [{}]", quoted(name));
            }
            if is_embedding {
                let _ = writeln!(toml, "dimensions = {}", first.facts.dimensions.unwrap_or(0));
            } else {
                toml.push_str(&text_keys(routes));
                if !has_default {
                    toml.push_str("traits = [\"default\"]\n");
                    has_default = true;
                }
                if routes.iter().all(|route| route.facts.capabilities.is_empty()) {
                    self.left_out.push(format!(
                        "`{name}`: nothing tells what it can do: add `capabilities`, such as \
                         [\"tools\", \"vision\"], or calls that need them are refused"
                    ));
                }
            }
            let price = dearest(routes);
            let is_told = routes.iter().any(|route| route.is_price_given);
            if !is_told && price.as_ref().is_none_or(is_free) {
                unpriced.push(format!("`{name}`"));
            }
            let _ = writeln!(toml, "price = {}", price_table(&price.unwrap_or_else(nothing)));
            if let Some(weight) = first.weight {
                let _ = writeln!(toml, "weight = {weight}");
            }
            if !others.is_empty() {
                let also: Vec<String> = others.iter().map(also).collect();
                let _ = writeln!(toml, "also = [{}]", also.join(", "));
            }
        }
        Converted { toml, left_out: self.left_out, unpriced }
    }
}

/// Writes the limits and capabilities that all routes have in common, because a request may use any
/// route.
fn text_keys(routes: &[RouteDraft]) -> String {
    let least = |of: fn(&RouteDraft) -> Option<u64>| routes.iter().filter_map(of).min();
    let context = least(|route| route.facts.context_tokens).unwrap_or(CONTEXT_TOKENS);
    let mut text = format!("tier = \"M\"\ncontext_tokens = {context}\n");
    if let Some(most) = least(|route| route.facts.max_completion_tokens) {
        let _ = writeln!(text, "max_completion_tokens = {}", most.min(context));
    }
    let first = routes.first().map(|route| route.facts.capabilities.clone()).unwrap_or_default();
    let common = first
        .into_iter()
        .filter(|it| routes.iter().all(|route| route.facts.capabilities.contains(it)));
    let common: Vec<String> = common.map(quoted).collect();
    if !common.is_empty() {
        let _ = writeln!(text, "capabilities = [{}]", common.join(", "));
    }
    text
}

/// Returns the highest known rate of each kind, because a request may use the most expensive route.
/// None if no route has a price.
fn dearest(routes: &[RouteDraft]) -> Option<KnownPrice> {
    let prices: Vec<&KnownPrice> = routes.iter().filter_map(|it| it.price.as_ref()).collect();
    let base = highest(prices.iter().map(|price| &price.base))?;
    let above = prices.iter().filter_map(|price| Some(price.extended.as_ref()?.0)).min();
    let extended = above.and_then(|above| {
        let long = |price: &'_ &KnownPrice| {
            price.extended.as_ref().map_or_else(|| price.base.clone(), |(_, rates)| rates.clone())
        };
        let long: Vec<KnownRates> = prices.iter().map(long).collect();
        Some((above, highest(long.iter())?))
    });
    Some(KnownPrice { base, extended })
}

fn highest<'a>(rates: impl Iterator<Item = &'a KnownRates>) -> Option<KnownRates> {
    rates.cloned().reduce(|one, other| KnownRates {
        // If only one has a cache rate, the other is compared by its input rate.
        cache_input: either(&one, &other, |rates| rates.cache_input.as_ref()),
        cache_write: either(&one, &other, |rates| rates.cache_write.as_ref()),
        input: higher(one.input, other.input),
        output: higher(one.output, other.output),
    })
}

fn either(
    one: &KnownRates,
    other: &KnownRates,
    of: impl Fn(&KnownRates) -> Option<&String>,
) -> Option<String> {
    if of(one).is_none() && of(other).is_none() {
        return None;
    }
    let rate = |rates: &KnownRates| of(rates).unwrap_or(&rates.input).clone();
    Some(higher(rate(one), rate(other)))
}

fn higher(one: String, other: String) -> String {
    let price = |text: &str| Price::parse(text, Per::Million).ok();
    match price(&one).cmp(&price(&other)) {
        Ordering::Less => other,
        Ordering::Equal | Ordering::Greater => one,
    }
}

fn is_free(price: &KnownPrice) -> bool {
    let is_zero = |text: &str| text.chars().all(|it| it == '0' || it == '.');
    is_zero(&price.base.input) && is_zero(&price.base.output)
}

fn nothing() -> KnownPrice {
    let rates = KnownRates { input: "0".into(), output: "0".into(), ..KnownRates::default() };
    KnownPrice { base: rates, extended: None }
}

fn price_table(price: &KnownPrice) -> String {
    let mut text = format!("{{ {}", rates(&price.base));
    if let Some((above, long)) = &price.extended {
        let _ = write!(text, ", extended = {{ above_context_tokens = {above}, {} }}", rates(long));
    }
    text + " }"
}

fn rates(rates: &KnownRates) -> String {
    let named = [
        ("input", Some(&rates.input)),
        ("output", Some(&rates.output)),
        ("cache_input", rates.cache_input.as_ref()),
        ("cache_write", rates.cache_write.as_ref()),
    ];
    let pairs = named
        .into_iter()
        .filter_map(|(name, rate)| Some(format!("{name}_usd_per_million = \"{}\"", rate?)));
    pairs.collect::<Vec<_>>().join(", ")
}

fn also(route: &RouteDraft) -> String {
    let weight = route.weight.map(|it| format!(", weight = {it}")).unwrap_or_default();
    let upstream_id = quoted(&route.upstream_id);
    format!("{{ provider = \"{}\", upstream_id = {upstream_id}{weight} }}", route.provider)
}
