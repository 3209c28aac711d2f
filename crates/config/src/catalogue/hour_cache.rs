//! The price of caching for an hour where the operator gave none.

use domain::catalogue::{Model, ModelSpec};
use domain::pricing::{Rate, TokenRates};

use crate::sections::provider::{Provider, ProviderKind};

/// Anthropic bills what is cached for an hour at twice the price of input: models that it may run
/// cost the same multiple here.
pub(crate) fn fill_hour_cache_prices(models: &mut [Model], providers: &[Provider]) {
    let is_anthropic =
        |id: &str| providers.iter().any(|it| it.id == id && it.kind == ProviderKind::Anthropic);
    for model in models {
        if !model.routes.iter().any(|route| is_anthropic(&route.provider)) {
            continue;
        }
        let ModelSpec::Text(text) = &mut model.spec else { continue };
        fill(&mut text.price.base);
        if let Some(extended) = &mut text.price.extended {
            fill(&mut extended.rates);
        }
    }
}

fn fill(rates: &mut TokenRates) {
    let twice = || Rate { usd: rates.input.usd.doubled(), diem: rates.input.diem.doubled() };
    rates.cache_write_1h = Some(rates.cache_write_1h.unwrap_or_else(twice));
}
