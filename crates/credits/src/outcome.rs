//! The results of commands.

use money::{Currency, Means, Nano};

use crate::charge::{Leg, paid};
use crate::id::{EntryId, HoldId};
use crate::record::Record;

/// A command that was carried out: the records for the journal, and the result for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// One all-or-nothing group; empty if nothing durable changed.
    pub records: Vec<Record>,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A top-up or a grant was credited; the available balances.
    Credited(Balances),
    /// Credit was taken back; the available balances.
    Debited(Balances),
    /// An allowance was set; the available balances.
    AllowanceSet(Balances),
    Held(Held),
    Settled(Receipt),
    Released,
    Refunded(Refund),
    Swept(Swept),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub hold: HoldId,
    /// The amounts held, by kind of currency.
    pub means: Means,
}

/// The result of settling a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub charge: EntryId,
    /// The amounts taken from each lot, in order.
    pub legs: Vec<Leg>,
    /// The part of the cost that could not be charged, in USD.
    pub written_off: Nano,
    /// The available balances after the charge.
    pub remaining: Balances,
}

/// The result of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub entry: EntryId,
    /// The legs that can be spent again.
    pub returned: Vec<Leg>,
    /// The legs whose lot has expired since: they were moved to the expired account at once.
    pub lapsed: Vec<Leg>,
    pub remaining: Balances,
}

/// The result of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    pub lots: usize,
    pub amounts: Balances,
    /// Set when more lots have expired than one sweep takes: sweep again.
    pub more: bool,
}

/// An amount in each currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balances {
    pub usd: Nano,
    pub diem: Nano,
    pub bundled: Nano,
    pub vcu: Nano,
}

impl Balances {
    pub fn get(&self, currency: Currency) -> Nano {
        match currency {
            Currency::Usd => self.usd,
            Currency::Diem => self.diem,
            Currency::Bundled => self.bundled,
            Currency::Vcu => self.vcu,
        }
    }

    pub fn total(&self) -> Nano {
        self.usd.saturating_add(self.diem).saturating_add(self.bundled).saturating_add(self.vcu)
    }

    pub(crate) fn add(&mut self, currency: Currency, amount: Nano) {
        let sum = match currency {
            Currency::Usd => &mut self.usd,
            Currency::Diem => &mut self.diem,
            Currency::Bundled => &mut self.bundled,
            Currency::Vcu => &mut self.vcu,
        };
        *sum = sum.saturating_add(amount);
    }
}

impl Receipt {
    /// The amount paid in `currency`.
    pub fn paid(&self, currency: Currency) -> Nano {
        paid(&self.legs, currency)
    }
}
