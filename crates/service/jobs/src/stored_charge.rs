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
}

pub(crate) fn encode_charge(charge: &WorkCharge) -> String {
    let lines: Vec<StoredChargeLine> = charge.lines.iter().map(to_stored_line).collect();
    serde_json::to_string(&lines).unwrap_or_default()
}

/// Parses a stored bill; `None` if this release cannot read it.
pub(crate) fn decode_charge(written: &str, model: &str, request_id: &str) -> Option<WorkCharge> {
    let lines: Vec<StoredChargeLine> = serde_json::from_str(written).ok()?;
    let lines: Option<Vec<ChargeLine>> = lines.into_iter().map(charge_line).collect();
    let details = UsageDetails { request_id: request_id.to_owned(), ..UsageDetails::default() };
    let notes = "API Inference".to_owned();
    Some(WorkCharge { lines: lines?, model: model.to_owned(), details, notes })
}

fn to_stored_line(line: &ChargeLine) -> StoredChargeLine {
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
