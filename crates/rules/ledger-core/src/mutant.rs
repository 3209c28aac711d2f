//! Deliberate bugs, for tests that show that the simulator would find them.

use hashbrown::HashMap;
use moment::Timestamp;
use money::{Nano, WorkCost};
use uuid::Uuid;

use crate::charge::PaymentLeg;
use crate::counter::KeyUsage;
use crate::debt::{IncomingSplit, PaidFunds};
use crate::hold::OpenHold;
use crate::id::{EntryId, HoldId};
use crate::limit::KeyStamp;
use crate::owner_lots::CreditLot;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LedgerMutant {
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
    /// A payment that is taken back takes credit that is held.
    ReversalTakesHeldMoney,
    /// The spent part of a payment that is taken back is forgotten.
    ReversalForgetsDebt,
    /// A payment of an owner with a debt is credited as a whole.
    TopUpIgnoresDebt,
}

impl LedgerMutant {
    pub(crate) fn alter_available(self, lot: &CreditLot, available: Nano) -> Nano {
        if self == LedgerMutant::AvailabilityIgnoresPending { lot.balance() } else { available }
    }

    pub(crate) fn is_live(self, is_live: bool) -> bool {
        is_live || self == LedgerMutant::ExpiredLotSpends
    }

    pub(crate) fn alter_usage(self, usage: KeyUsage) -> KeyUsage {
        match self {
            LedgerMutant::LimitIgnoresReserved => KeyUsage { reserved: Nano::ZERO, ..usage },
            _ => usage,
        }
    }

    pub(crate) fn alter_cost(self, cost: WorkCost) -> WorkCost {
        if self == LedgerMutant::DiemAtPar { WorkCost::at_par(cost.usd) } else { cost }
    }

    pub(crate) fn alter_missing(self, beyond: WorkCost, legs: &mut [PaymentLeg]) -> WorkCost {
        match (self, legs.first_mut()) {
            (LedgerMutant::SettleAboveCost, Some(leg)) => {
                leg.amount = leg.amount.saturating_add(Nano::from_nanos(1));
                beyond
            }
            (LedgerMutant::OverrunGoesNegative, Some(leg)) => {
                let beyond = beyond.amount_in(leg.lot.currency);
                leg.amount = leg.amount.saturating_add(beyond);
                WorkCost::ZERO
            }
            _ => beyond,
        }
    }

    pub(crate) fn alter_stamp(self, stamp: Option<KeyStamp>, now: Timestamp) -> Option<KeyStamp> {
        match self {
            LedgerMutant::SettleInWrongPeriod => stamp.map(|stamp| KeyStamp::at(stamp.key, now)),
            _ => stamp,
        }
    }

    pub(crate) fn alter_swept(self, lot: &CreditLot, amount: Nano) -> Nano {
        if self == LedgerMutant::SweepTakesHeldMoney { lot.balance() } else { amount }
    }

    pub(crate) fn alter_refund_entry(self, entry: EntryId, now: Timestamp) -> EntryId {
        match self {
            LedgerMutant::RandomRefundId => {
                let noise = u128::from(now.ms().cast_unsigned());
                EntryId(Uuid::from_u128(entry.0.as_u128() ^ noise))
            }
            _ => entry,
        }
    }

    pub(crate) fn alter_paid_funds(self, main: Option<&CreditLot>, funds: PaidFunds) -> PaidFunds {
        match (self, main) {
            (LedgerMutant::ReversalTakesHeldMoney, Some(lot)) => {
                PaidFunds { left: lot.balance(), ..funds }
            }
            _ => funds,
        }
    }

    pub(crate) fn alter_owed(self, owed: Nano) -> Nano {
        if self == LedgerMutant::ReversalForgetsDebt { Nano::ZERO } else { owed }
    }

    pub(crate) fn alter_split(self, split: IncomingSplit) -> IncomingSplit {
        if self == LedgerMutant::TopUpIgnoresDebt {
            let credits = split.credits.saturating_add(split.repays);
            return IncomingSplit { repays: Nano::ZERO, credits };
        }
        split
    }

    pub(crate) fn after_end(
        self,
        holds: &mut HashMap<HoldId, OpenHold>,
        id: HoldId,
        hold: &OpenHold,
    ) {
        if self == LedgerMutant::HoldEndsTwice {
            holds.insert(id, hold.clone());
        }
    }
}
