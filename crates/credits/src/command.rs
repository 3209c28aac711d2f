//! What the ledger can be asked to do.

use moment::Timestamp;
use money::{Cost, Currency, Nano};

use crate::account::Network;
use crate::allowance::AllowanceKind;
use crate::charge::Charge;
use crate::id::{EntryId, HoldId, OwnerId};
use crate::limit::KeyTerms;

/// The most that one command may move: ten million units. It keeps every sum far from overflow,
/// in memory and in the database.
pub const AMOUNT_MAX: Nano = Nano::from_units(10_000_000);

/// One all-or-nothing step. Each carries its own id, so that sending it again changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Money paid in over a payment network becomes USD.
    TopUp { entry: EntryId, owner: OwnerId, network: Network, amount: Nano },
    /// Money given away. Without an expiry it joins the main lot of its currency.
    Grant {
        entry: EntryId,
        owner: OwnerId,
        currency: Currency,
        amount: Nano,
        expires_at: Option<Timestamp>,
    },
    /// Takes back credit that the operator gave, from the main lot of its currency: at most what is
    /// left of `given`, which is what the journal says was granted to that lot and not taken back.
    Debit { entry: EntryId, owner: OwnerId, currency: Currency, amount: Nano, given: Nano },
    /// What an owner gets each period from now on; zero ends it. The period under way follows:
    /// more is added at once, less is taken back as far as it is still there.
    SetAllowance { entry: EntryId, owner: OwnerId, kind: AllowanceKind, amount: Nano },
    /// Sets money aside before work starts.
    Hold { hold: HoldId, payer: Payer, want: Want, kind: HoldKind },
    /// Charges what the work cost and returns the rest. A cost above the hold is taken from what
    /// else is available within the key's limits, and written off beyond that. Refused, the hold
    /// stays open: release it.
    Settle { entry: EntryId, hold: HoldId, cost: Cost },
    /// Returns a hold whole.
    Release { hold: HoldId },
    /// Gives a charge back, once.
    Refund { charge: EntryId, source: ChargeSource },
    /// Moves what has lapsed to the expired account, from at most [`SWEEP_LOTS_MAX`] lots.
    ///
    /// [`SWEEP_LOTS_MAX`]: crate::SWEEP_LOTS_MAX
    Sweep { entry: EntryId },
}

/// Who pays, and through which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payer {
    pub owner: OwnerId,
    pub key: Option<KeyTerms>,
}

/// How much to hold. Zero is a hold like any other: free work takes one too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Exactly(Cost),
    /// As much as there is, up to `most`; refused if that is below `least`.
    UpTo {
        least: Cost,
        most: Cost,
    },
}

/// Whether a hold outlives the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldKind {
    /// In memory only: a crash would end the request, and with it the hold.
    Request,
    /// In the journal: the job goes on after a restart.
    Job,
}

/// Where to look up the charge that is to be refunded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeSource {
    /// It is recent enough to be in memory.
    Recent,
    /// Read back from the journal, whose word is taken for it: never what a caller claims.
    Journal(Charge),
    /// What is to be given back of a charge that was read back: a [part](Charge::part) of it.
    Part(Charge),
}
