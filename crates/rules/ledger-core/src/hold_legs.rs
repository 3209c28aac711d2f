//! Chooses the lots that a hold is placed on.

use money::{Nano, WorkCost};

use crate::charge::PaymentLeg;
use crate::command::HoldRange;
use crate::owner_funds::{LimitHeadroom, choose_legs};

/// A hold of the kind [`HoldRange::Share`] takes this part of the available amount.
const SHARE_DIVISOR: i64 = 4;

/// The legs of a hold.
pub(crate) struct HoldLegs {
    pub(crate) legs: Vec<PaymentLeg>,
    /// The part of the least amount that is not available.
    pub(crate) missing: WorkCost,
}

/// Chooses legs for `want`. If less than the least amount is available, the legs are all of it.
pub(crate) fn choose_hold_legs(
    sources: &[PaymentLeg],
    headroom: LimitHeadroom,
    want: HoldRange,
) -> HoldLegs {
    let (least, most) = match want {
        HoldRange::Exactly(cost) => (cost, cost),
        HoldRange::UpTo { least, most } => (least, most),
        HoldRange::Share { least, most } => return choose_share(sources, headroom, least, most),
    };
    let chosen = choose_legs(sources, headroom, most);
    let is_short = !chosen.missing.is_free();
    let missing =
        if is_short { choose_legs(sources, headroom, least).missing } else { WorkCost::ZERO };
    HoldLegs { legs: chosen.legs, missing }
}

/// Takes up to `most` from a part of each source, or `least` if that part is too little for it.
fn choose_share(
    sources: &[PaymentLeg],
    headroom: LimitHeadroom,
    least: WorkCost,
    most: WorkCost,
) -> HoldLegs {
    let part_of = |amount: Nano| Nano::from_nanos(amount.nanos() / SHARE_DIVISOR);
    let parts: Vec<PaymentLeg> = sources
        .iter()
        .map(|source| PaymentLeg { lot: source.lot, amount: part_of(source.amount) })
        .collect();
    let room = LimitHeadroom { usd: part_of(headroom.usd), diem: part_of(headroom.diem) };
    if choose_legs(&parts, room, least).missing.is_free() {
        let legs = choose_legs(&parts, room, most).legs;
        return HoldLegs { legs, missing: WorkCost::ZERO };
    }
    let chosen = choose_legs(sources, headroom, least);
    HoldLegs { legs: chosen.legs, missing: chosen.missing }
}
