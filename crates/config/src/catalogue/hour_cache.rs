//! The default price of one-hour prompt caching.

use domain::catalogue::{Model, ModelSpec};
use domain::pricing::{Rate, TokenRates};

use crate::sections::provider::{Provider, ProviderKind};

/// Fills in a missing one-hour cache price for models that an Anthropic provider may run: twice the
/// input price, the multiple that Anthropic bills.
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
