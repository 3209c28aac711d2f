//! Stores a job's price when it is queued, so that later price changes do not affect it.

use ledger::{ChargeLine, WorkCharge};
use money::{Price, PriceUnits, UnitRate};
use serde::{Deserialize, Serialize};
use store::usage::UsageDetails;

#[derive(Serialize, Deserialize)]
struct StoredChargeLine {
    sku: String,
    units: u64,
    usd_pico: i64,
    diem_pico: i64,
    per: u64,
    /// The session of the request, the same on each line. Releases without sessions ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<u64>,
}

pub(crate) fn encode_charge(charge: &WorkCharge) -> String {
    let session = charge.details.session;
    let lines = charge.lines.iter().map(|line| to_stored_line(line, session));
    let lines: Vec<StoredChargeLine> = lines.collect();
    serde_json::to_string(&lines).unwrap_or_default()
}

/// Parses a stored bill; `None` if this release cannot read it.
pub(crate) fn decode_charge(written: &str, model: &str, request_id: &str) -> Option<WorkCharge> {
    let lines: Vec<StoredChargeLine> = serde_json::from_str(written).ok()?;
    let session = lines.first().and_then(|line| line.session);
    let lines: Option<Vec<ChargeLine>> = lines.into_iter().map(charge_line).collect();
    let request_id = request_id.to_owned();
    let details = UsageDetails { request_id, session, ..UsageDetails::default() };
    let notes = "API Inference".to_owned();
    Some(WorkCharge { lines: lines?, model: model.to_owned(), details, notes })
}

fn to_stored_line(line: &ChargeLine, session: Option<u64>) -> StoredChargeLine {
    StoredChargeLine {
        sku: line.sku.clone(),
        units: line.units,
        usd_pico: line.rate.usd.picos(),
        diem_pico: line.rate.diem.picos(),
        per: match line.per {
            PriceUnits::One => 1,
            PriceUnits::Thousand => 1000,
            PriceUnits::Million => 1_000_000,
        },
        session,
    }
}

fn charge_line(line: StoredChargeLine) -> Option<ChargeLine> {
    let per = match line.per {
        1 => PriceUnits::One,
        1000 => PriceUnits::Thousand,
        1_000_000 => PriceUnits::Million,
        _ => return None,
    };
    let usd = Price::from_picos(line.usd_pico)?;
    let diem = Price::from_picos(line.diem_pico)?;
    Some(ChargeLine { sku: line.sku, units: line.units, rate: UnitRate { usd, diem }, per })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_stored_and_a_bill_without_one_is_read() {
        let price = Price::from_picos(7).unwrap();
        let rate = UnitRate { usd: price, diem: price };
        let line = ChargeLine { sku: "s".into(), units: 2, rate, per: PriceUnits::One };
        let plain = UsageDetails { request_id: "r".into(), ..UsageDetails::default() };
        for session in [None, Some(u64::MAX)] {
            let details = UsageDetails { session, ..plain.clone() };
            let (lines, notes) = (vec![line.clone()], "API Inference".to_owned());
            let charge = WorkCharge { lines, model: "m".into(), details, notes };
            let written = encode_charge(&charge);
            assert_eq!(decode_charge(&written, "m", "r"), Some(charge), "{written}");
            assert_eq!(written.contains("session"), session.is_some());
        }
    }
}
