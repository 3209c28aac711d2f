//! Billing: the balance and its usage.

pub(crate) mod analytics;
pub(crate) mod balance;
pub(super) mod history;
pub(super) mod usage;

mod csv;
mod row;

use http_frame::refusal::Refusal;
use moment::Timestamp;
use money::BalanceCurrency;
use schema_check::ValidationFaults;
use wire::billing as wire;

/// The time range of a listing.
struct BillingRange {
    from: Timestamp,
    until: Timestamp,
}

/// An end of a range as the caller sent it: the query parameter and its text.
struct RangeEnd<'a> {
    field: &'static str,
    text: Option<&'a str>,
}

/// Parses the ends of a range. Either may be absent, which leaves it open.
fn parse_range(from: RangeEnd<'_>, until: RangeEnd<'_>) -> Result<BillingRange, Refusal> {
    let mut faults = ValidationFaults::default();
    let mut read = |end: &RangeEnd<'_>, open: Timestamp| {
        let Some(text) = end.text else { return open };
        Timestamp::parse(text).unwrap_or_else(|| {
            let message = "Must be a date and time such as 2026-01-31T12:00:00Z";
            faults.at([end.field]).push(message);
            open
        })
    };
    let (earliest, latest) = (read(&from, Timestamp::from_ms(0)), read(&until, Timestamp::MAX));
    if latest < earliest {
        faults.at([until.field]).push(format!("Must not be before {}", from.field));
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    Ok(BillingRange { from: earliest, until: latest })
}

fn from_wire_currency(wanted: wire::Currency) -> BalanceCurrency {
    match wanted {
        wire::Currency::Usd => BalanceCurrency::Usd,
        wire::Currency::Vcu => BalanceCurrency::Vcu,
        wire::Currency::Diem => BalanceCurrency::Diem,
        wire::Currency::BundledCredits => BalanceCurrency::Bundled,
    }
}

fn wire_currency(currency: BalanceCurrency) -> wire::Currency {
    match currency {
        BalanceCurrency::Usd => wire::Currency::Usd,
        BalanceCurrency::Vcu => wire::Currency::Vcu,
        BalanceCurrency::Diem => wire::Currency::Diem,
        BalanceCurrency::Bundled => wire::Currency::BundledCredits,
    }
}
