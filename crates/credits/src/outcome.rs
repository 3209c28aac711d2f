//! What a command came to.

use money::{Currency, Means, Nano};

use crate::charge::{Leg, paid};
use crate::id::{EntryId, HoldId};
use crate::record::Record;

/// A command that was carried out: what to write to the journal, and what to tell the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// One all-or-nothing group; empty if nothing durable changed.
    pub records: Vec<Record>,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A top-up or a grant arrived; what is available now.
    Credited(Balances),
    /// Credit was taken back; what is available now.
    Debited(Balances),
    /// An allowance was set; what is available now.
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
    /// What was set aside.
    pub means: Means,
}

/// What a settled hold came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub charge: EntryId,
    /// Which lots paid, in the order they did.
    pub legs: Vec<Leg>,
    /// What the work cost beyond what could be charged, in USD.
    pub written_off: Nano,
    /// What is available after it.
    pub remaining: Balances,
}

/// What a refund gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub entry: EntryId,
    /// The legs that can be spent again.
    pub returned: Vec<Leg>,
    /// The legs whose lot has expired since: they lapsed at once.
    pub lapsed: Vec<Leg>,
    pub remaining: Balances,
}

/// What a sweep moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    pub lots: usize,
    pub amounts: Balances,
    /// More lots have lapsed than one sweep takes: sweep again.
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
    /// What was paid in `currency`.
    pub fn paid(&self, currency: Currency) -> Nano {
        paid(&self.legs, currency)
    }
}
