//! Renders a converted configuration as TOML.

use std::cmp::Ordering;
use std::fmt::Write;

use money::{Price, PriceUnits};

use super::facts::{KnownPrice, KnownRates};
use super::{ConversionDraft, ConversionOutcome, RouteDraft};
use crate::commands::engine_discovery::{quote_toml_string, to_catalogue_id};

/// Context size for models whose size is unknown; all current models support it.
const CONTEXT_TOKENS: u64 = 8192;

impl ConversionDraft {
    pub(super) fn render_toml(mut self) -> ConversionOutcome {
        let mut toml = String::from("# Made from a LiteLLM configuration by `tollgate convert`.\n");
        for (id, entry) in &self.providers {
            let _ = write!(toml, "\n[[provider]]\nid = \"{id}\"\n{entry}");
        }
        let (mut has_default, mut unpriced) = (false, Vec::new());
        for (name, routes) in &self.models {
            let Some((first, others)) = routes.split_first() else { continue };
            let id = to_catalogue_id(name);
            let is_embedding = first.facts.model_type == "embedding";
            let kind = if is_embedding { "embedding" } else { "text" };
            let _ = write!(
                toml,
                "\n[[model]]\nid = \"{id}\"\ntype = \"{kind}\"\nprovider = \"{}\"\nupstream_id = {}\n",
                first.provider,
                quote_toml_string(&first.upstream_id)
            );
            if id != *name {
                let _ = writeln!(toml, "aliases = [{}]", quote_toml_string(name));
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
            let price = find_highest_price(routes);
            let is_told = routes.iter().any(|route| route.is_price_given);
            if !is_told && price.as_ref().is_none_or(is_free) {
                unpriced.push(format!("`{name}`"));
            }
            let _ =
                writeln!(toml, "price = {}", price_table(&price.unwrap_or_else(build_zero_price)));
            if let Some(weight) = first.weight {
                let _ = writeln!(toml, "weight = {weight}");
            }
            if !others.is_empty() {
                let also: Vec<String> = others.iter().map(render_route).collect();
                let _ = writeln!(toml, "also = [{}]", also.join(", "));
            }
        }
        ConversionOutcome { toml, left_out: self.left_out, unpriced }
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
    let common: Vec<String> = common.map(quote_toml_string).collect();
    if !common.is_empty() {
        let _ = writeln!(text, "capabilities = [{}]", common.join(", "));
    }
    text
}

/// Returns the highest known rate of each kind, because a request may use the most expensive route.
/// None if no route has a price.
fn find_highest_price(routes: &[RouteDraft]) -> Option<KnownPrice> {
    let prices: Vec<&KnownPrice> = routes.iter().filter_map(|it| it.price.as_ref()).collect();
    let base = find_highest_rates(prices.iter().map(|price| &price.base))?;
    let above = prices.iter().filter_map(|price| Some(price.extended.as_ref()?.0)).min();
    let extended = above.and_then(|above| {
        let long = |price: &'_ &KnownPrice| {
            price.extended.as_ref().map_or_else(|| price.base.clone(), |(_, rates)| rates.clone())
        };
        let long: Vec<KnownRates> = prices.iter().map(long).collect();
        Some((above, find_highest_rates(long.iter())?))
    });
    Some(KnownPrice { base, extended })
}

fn find_highest_rates<'a>(rates: impl Iterator<Item = &'a KnownRates>) -> Option<KnownRates> {
    rates.cloned().reduce(|one, other| KnownRates {
        // If only one has a cache rate, the other is compared by its input rate.
        cache_input: pick_higher_optional_rate(&one, &other, |rates| rates.cache_input.as_ref()),
        cache_write: pick_higher_optional_rate(&one, &other, |rates| rates.cache_write.as_ref()),
        input: pick_higher_rate(one.input, other.input),
        output: pick_higher_rate(one.output, other.output),
    })
}

fn pick_higher_optional_rate(
    one: &KnownRates,
    other: &KnownRates,
    of: impl Fn(&KnownRates) -> Option<&String>,
) -> Option<String> {
    if of(one).is_none() && of(other).is_none() {
        return None;
    }
    let rate = |rates: &KnownRates| of(rates).unwrap_or(&rates.input).clone();
    Some(pick_higher_rate(rate(one), rate(other)))
}

fn pick_higher_rate(one: String, other: String) -> String {
    let price = |text: &str| Price::parse(text, PriceUnits::Million).ok();
    match price(&one).cmp(&price(&other)) {
        Ordering::Less => other,
        Ordering::Equal | Ordering::Greater => one,
    }
}

fn is_free(price: &KnownPrice) -> bool {
    let is_zero = |text: &str| text.chars().all(|it| it == '0' || it == '.');
    is_zero(&price.base.input) && is_zero(&price.base.output)
}

fn build_zero_price() -> KnownPrice {
    let rates = KnownRates { input: "0".into(), output: "0".into(), ..KnownRates::default() };
    KnownPrice { base: rates, extended: None }
}

fn price_table(price: &KnownPrice) -> String {
    let mut text = format!("{{ {}", render_rates(&price.base));
    if let Some((above, long)) = &price.extended {
        let _ = write!(
            text,
            ", extended = {{ above_context_tokens = {above}, {} }}",
            render_rates(long)
        );
    }
    text + " }"
}

fn render_rates(rates: &KnownRates) -> String {
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

fn render_route(route: &RouteDraft) -> String {
    let weight = route.weight.map(|it| format!(", weight = {it}")).unwrap_or_default();
    let upstream_id = quote_toml_string(&route.upstream_id);
    format!("{{ provider = \"{}\", upstream_id = {upstream_id}{weight} }}", route.provider)
}
