//! The default price of one-hour prompt caching.

use domain::catalogue::{CatalogueModel, ModelSpec};
use domain::pricing::{TokenRates, UnitRate};

use crate::sections::provider::{ProviderConfig, ProviderKind};

/// Fills in a missing one-hour cache price for models that an Anthropic provider may run: twice the
/// input price, the multiple that Anthropic bills.
pub(crate) fn fill_hour_cache_prices(models: &mut [CatalogueModel], providers: &[ProviderConfig]) {
    let is_anthropic =
        |id: &str| providers.iter().any(|it| it.id == id && it.kind == ProviderKind::Anthropic);
    for model in models {
        if !model.routes.iter().any(|route| is_anthropic(&route.provider)) {
            continue;
        }
        let ModelSpec::Text(text) = &mut model.spec else { continue };
        fill_hour_cache_rate(&mut text.price.base);
        if let Some(extended) = &mut text.price.extended {
            fill_hour_cache_rate(&mut extended.rates);
        }
    }
}

fn fill_hour_cache_rate(rates: &mut TokenRates) {
    let twice = || UnitRate { usd: rates.input.usd.doubled(), diem: rates.input.diem.doubled() };
    rates.cache_write_1h = Some(rates.cache_write_1h.unwrap_or_else(twice));
}
