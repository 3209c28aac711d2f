//! A usage row in the response's form.

use engine::SessionId;
use money::PriceUnits;
use store::usage::UsageRow;
use wire::billing as wire;

use crate::endpoints::billing::wire_currency;

pub(super) fn to_wire_row(usage: &UsageRow) -> wire::UsageRow {
    let details = &usage.details;
    let has_details = !details.request_id.is_empty();
    wire::UsageRow {
        amount: usage.amount.checked_neg().unwrap_or(usage.amount).as_f64(),
        currency: wire_currency(usage.currency),
        inference_details: has_details.then(|| wire::InferenceDetails {
            completion_tokens: details.completion_tokens,
            inference_execution_time: details.execution_ms,
            prompt_tokens: details.prompt_tokens,
            request_id: Some(details.request_id.clone()),
        }),
        notes: usage.notes.clone(),
        price_per_unit_usd: usage.price.as_f64(usage.per),
        session_id: details.session.map(|session| SessionId(session).to_string()),
        sku: usage.sku.clone(),
        timestamp: usage.at.to_string(),
        units: shown_units(usage.units, usage.per),
    }
}

/// The count in the unit that the price is for, such as millions of tokens.
fn shown_units(units: u64, per: PriceUnits) -> f64 {
    let size = match per {
        PriceUnits::One => 1.0,
        PriceUnits::Thousand => 1e3,
        PriceUnits::Million => 1e6,
    };
    units as f64 / size
}
