//! Parses a key's limits and expiry.

use domain::access::ModelPrivacy;
use ledger_core::LimitPeriod;
use moment::Timestamp;
use money::Nano;
use schema_check::ValidationFaults;
use wire::api_keys as wire;

/// Limits in USD and DIEM; None means unlimited.
#[derive(Clone, Copy)]
pub(super) struct KeyLimits {
    pub(super) usd: Option<Nano>,
    pub(super) diem: Option<Nano>,
}

pub(super) fn parse_limits(
    limits: &wire::ConsumptionLimits,
    faults: &mut ValidationFaults,
) -> KeyLimits {
    let mut read = |field, value: Option<f64>| parse_amount(field, value?, faults);
    let usd = read("usd", limits.usd);
    let vcu = read("vcu", limits.vcu);
    let diem = read("diem", limits.diem).or(vcu);
    KeyLimits { usd, diem }
}

/// The limits after a change: null removes a limit, an absent field keeps it.
pub(super) fn apply_limit_changes(
    before: KeyLimits,
    changes: Option<&wire::LimitChanges>,
    faults: &mut ValidationFaults,
) -> KeyLimits {
    let Some(changes) = changes else { return KeyLimits { usd: None, diem: None } };
    let mut read = |field, change: Option<Option<f64>>, before: Option<Nano>| match change {
        None => before,
        Some(None) => None,
        Some(Some(value)) => parse_amount(field, value, faults),
    };
    let usd = read("usd", changes.usd, before.usd);
    let diem = read("vcu", changes.vcu, before.diem);
    KeyLimits { usd, diem: read("diem", changes.diem, diem) }
}

/// Parses an amount exactly: `0.1` is a tenth, not the nearest double.
fn parse_amount(field: &'static str, value: f64, faults: &mut ValidationFaults) -> Option<Nano> {
    // A double prints as its shortest decimal, which is what the caller sent.
    match Nano::parse(&value.to_string()) {
        Ok(amount) => Some(amount),
        Err(error) => {
            faults.at(["consumptionLimit", field]).push(error.to_string());
            None
        }
    }
}

/// Parses an expiry. Empty means never; a time in the past is refused.
pub(super) fn parse_expiry(
    text: &str,
    now: Timestamp,
    faults: &mut ValidationFaults,
) -> Option<Timestamp> {
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

pub(super) fn from_wire_privacy(privacy: wire::ModelPrivacy) -> ModelPrivacy {
    match privacy {
        wire::ModelPrivacy::All => ModelPrivacy::All,
        wire::ModelPrivacy::PrivateText => ModelPrivacy::PrivateText,
        wire::ModelPrivacy::PrivateOnly => ModelPrivacy::PrivateOnly,
    }
}

pub(super) fn from_wire_period(period: wire::LimitPeriod) -> LimitPeriod {
    match period {
        wire::LimitPeriod::Epoch => LimitPeriod::Epoch,
        wire::LimitPeriod::Month => LimitPeriod::Month,
        wire::LimitPeriod::Lifetime => LimitPeriod::Lifetime,
    }
}
