//! What a caller writes about a key's limits and expiry, read into the terms that are kept.

use credits::LimitPeriod;
use moment::Timestamp;
use money::Nano;
use shape::Faults;
use wire::api_keys as wire;

/// Limits in USD and in DIEM; none is no limit.
pub(super) struct Limits {
    pub(super) usd: Option<Nano>,
    pub(super) diem: Option<Nano>,
}

/// Reads limits exactly: `0.1` is a tenth, not the nearest double to it.
pub(super) fn limits(limits: &wire::ConsumptionLimits, faults: &mut Faults) -> Limits {
    let mut read = |field: &'static str, value: Option<f64>| {
        let value = value?;
        // A double prints as its shortest decimal, which is what the caller wrote.
        match Nano::parse(&value.to_string()) {
            Ok(amount) => Some(amount),
            Err(error) => {
                faults.at(["consumptionLimit", field]).push(error.to_string());
                None
            }
        }
    };
    let usd = read("usd", limits.usd);
    let vcu = read("vcu", limits.vcu);
    let diem = read("diem", limits.diem).or(vcu);
    Limits { usd, diem }
}

/// Reads an expiry: empty is never, and a moment that has passed is refused.
pub(super) fn expiry(text: &str, now: Timestamp, faults: &mut Faults) -> Option<Timestamp> {
    if text.is_empty() {
        return None;
    }
    let parsed = Timestamp::parse(text);
    match parsed {
        Some(expires) if now < expires => return Some(expires),
        Some(_) => faults.at(["expiresAt"]).push("Must be in the future"),
        None => faults
            .at(["expiresAt"])
            .push("Must be YYYY-MM-DD, YYYY-MM-DDTHH:MM:SSZ, or empty for never"),
    }
    None
}

pub(super) fn period(period: wire::LimitPeriod) -> LimitPeriod {
    match period {
        wire::LimitPeriod::Epoch => LimitPeriod::Epoch,
        wire::LimitPeriod::Month => LimitPeriod::Month,
        wire::LimitPeriod::Lifetime => LimitPeriod::Lifetime,
    }
}
