//! Deliberate bugs, for tests that show that the simulator would find them.

use hashbrown::HashMap;
use moment::Timestamp;
use money::{Cost, Nano};
use uuid::Uuid;

use crate::charge::Leg;
use crate::counter::KeyUsage;
use crate::hold::Hold;
use crate::id::{EntryId, HoldId};
use crate::limit::KeyStamp;
use crate::purse::Lot;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mutant {
    #[default]
    None,
    /// Refunding twice gives two entries.
    RandomRefundId,
    /// A hold may take money that another hold has reserved.
    AvailabilityIgnoresPending,
    /// A late settle counts in the key's new period.
    SettleInWrongPeriod,
    /// A sweep takes money that is held.
    SweepTakesHeldMoney,
    /// A settle charges slightly more than the cost.
    SettleAboveCost,
    /// Repeating a top-up credits it again.
    RepeatedEntryCounts,
    /// A hold can be released again after it ended.
    HoldEndsTwice,
    /// A key may spend what its open holds have reserved.
    LimitIgnoresReserved,
    /// A lot can be spent after it expired.
    ExpiredLotSpends,
    /// An overrun is taken from a lot whose balance does not cover it.
    OverrunGoesNegative,
    /// Work with its own DIEM price is charged in DIEM at the dollar price.
    DiemAtPar,
}

impl Mutant {
    pub(crate) fn available(self, lot: &Lot, available: Nano) -> Nano {
        if self == Mutant::AvailabilityIgnoresPending { lot.balance() } else { available }
    }

    pub(crate) fn is_live(self, is_live: bool) -> bool {
        is_live || self == Mutant::ExpiredLotSpends
    }

    pub(crate) fn usage(self, usage: KeyUsage) -> KeyUsage {
        match self {
            Mutant::LimitIgnoresReserved => KeyUsage { reserved: Nano::ZERO, ..usage },
            _ => usage,
        }
    }

    pub(crate) fn cost(self, cost: Cost) -> Cost {
        if self == Mutant::DiemAtPar { Cost::at_par(cost.usd) } else { cost }
    }

    pub(crate) fn beyond(self, beyond: Cost, legs: &mut [Leg]) -> Cost {
        match (self, legs.first_mut()) {
            (Mutant::SettleAboveCost, Some(leg)) => {
                leg.amount = leg.amount.saturating_add(Nano::from_nanos(1));
                beyond
            }
            (Mutant::OverrunGoesNegative, Some(leg)) => {
                let beyond = beyond.amount_in(leg.lot.currency);
                leg.amount = leg.amount.saturating_add(beyond);
                Cost::ZERO
            }
            _ => beyond,
        }
    }

    pub(crate) fn stamp(self, stamp: Option<KeyStamp>, now: Timestamp) -> Option<KeyStamp> {
        match self {
            Mutant::SettleInWrongPeriod => stamp.map(|stamp| KeyStamp::at(stamp.key, now)),
            _ => stamp,
        }
    }

    pub(crate) fn swept(self, lot: &Lot, amount: Nano) -> Nano {
        if self == Mutant::SweepTakesHeldMoney { lot.balance() } else { amount }
    }

    pub(crate) fn refund_entry(self, entry: EntryId, now: Timestamp) -> EntryId {
        match self {
            Mutant::RandomRefundId => {
                let noise = u128::from(now.ms().cast_unsigned());
                EntryId(Uuid::from_u128(entry.0.as_u128() ^ noise))
            }
            _ => entry,
        }
    }

    pub(crate) fn after_end(self, holds: &mut HashMap<HoldId, Hold>, id: HoldId, hold: &Hold) {
        if self == Mutant::HoldEndsTwice {
            holds.insert(id, hold.clone());
        }
    }
}
