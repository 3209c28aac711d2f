//! Stores a job's price when it is queued, so that later price changes do not affect it.

use ledger::{Charge, ChargeLine};
use money::{Per, Price, Rate};
use serde::{Deserialize, Serialize};
use store::usage::UsageDetails;

#[derive(Serialize, Deserialize)]
struct Line {
    sku: String,
    units: u64,
    usd_pico: i64,
    diem_pico: i64,
    per: u64,
}

pub(crate) fn write(charge: &Charge) -> String {
    let lines: Vec<Line> = charge.lines.iter().map(line).collect();
    serde_json::to_string(&lines).unwrap_or_default()
}

/// Parses a stored bill; `None` if this release cannot read it.
pub(crate) fn read(written: &str, model: &str, request_id: &str) -> Option<Charge> {
    let lines: Vec<Line> = serde_json::from_str(written).ok()?;
    let lines: Option<Vec<ChargeLine>> = lines.into_iter().map(charge_line).collect();
    let details = UsageDetails { request_id: request_id.to_owned(), ..UsageDetails::default() };
    let notes = "API Inference".to_owned();
    Some(Charge { lines: lines?, model: model.to_owned(), details, notes })
}

fn line(line: &ChargeLine) -> Line {
    Line {
        sku: line.sku.clone(),
        units: line.units,
        usd_pico: line.rate.usd.picos(),
        diem_pico: line.rate.diem.picos(),
        per: match line.per {
            Per::One => 1,
            Per::Thousand => 1000,
            Per::Million => 1_000_000,
        },
    }
}

fn charge_line(line: Line) -> Option<ChargeLine> {
    let per = match line.per {
        1 => Per::One,
        1000 => Per::Thousand,
        1_000_000 => Per::Million,
        _ => return None,
    };
    let usd = Price::from_picos(line.usd_pico)?;
    let diem = Price::from_picos(line.diem_pico)?;
    Some(ChargeLine { sku: line.sku, units: line.units, rate: Rate { usd, diem }, per })
}
