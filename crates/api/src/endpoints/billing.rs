//! Billing: the balance and its usage.

pub(crate) mod analytics;
pub(crate) mod balance;
pub(super) mod history;
pub(super) mod usage;

mod csv;
mod row;

use moment::Timestamp;
use money::Currency;
use schema_check::Faults;
use wire::billing as wire;

use crate::refusal::Refusal;

/// The time range of a listing.
struct Range {
    from: Timestamp,
    until: Timestamp,
}

/// Parses the ends of a range. Either may be absent, which leaves it open.
fn range(
    (from_field, from): (&'static str, Option<&str>),
    (until_field, until): (&'static str, Option<&str>),
) -> Result<Range, Refusal> {
    let mut faults = Faults::default();
    let mut read = |field: &'static str, text: Option<&str>, open: Timestamp| {
        let Some(text) = text else { return open };
        Timestamp::parse(text).unwrap_or_else(|| {
            let message = "Must be a date and time such as 2026-01-31T12:00:00Z";
            faults.at([field]).push(message);
            open
        })
    };
    let from = read(from_field, from, Timestamp::from_ms(0));
    let until = read(until_field, until, Timestamp::MAX);
    if until < from {
        faults.at([until_field]).push(format!("Must not be before {from_field}"));
    }
    faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;
    Ok(Range { from, until })
}

fn currency(wanted: wire::Currency) -> Currency {
    match wanted {
        wire::Currency::Usd => Currency::Usd,
        wire::Currency::Vcu => Currency::Vcu,
        wire::Currency::Diem => Currency::Diem,
        wire::Currency::BundledCredits => Currency::Bundled,
    }
}

fn wire_currency(currency: Currency) -> wire::Currency {
    match currency {
        Currency::Usd => wire::Currency::Usd,
        Currency::Vcu => wire::Currency::Vcu,
        Currency::Diem => wire::Currency::Diem,
        Currency::Bundled => wire::Currency::BundledCredits,
    }
}
