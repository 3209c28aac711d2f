//! The commands of the ledger.

use moment::Timestamp;
use money::{BalanceCurrency, Nano, WorkCost};

use crate::account::PaymentNetwork;
use crate::allowance::AllowanceKind;
use crate::charge::SettledCharge;
use crate::id::{EntryId, HoldId, OwnerId};
use crate::limit::KeyTerms;

/// The largest amount of one command: ten million units. Keeps every sum far from overflow, in
/// memory and in the database.
pub const AMOUNT_MAX: Nano = Nano::from_units(10_000_000);

/// One all-or-nothing step. Each but [`CreditCommand::Raise`] carries its own id, so that repeating
/// it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreditCommand {
    /// Credits money paid in over a payment network as USD. Repays the owner's debt first.
    TopUp { entry: EntryId, owner: OwnerId, network: PaymentNetwork, amount: Nano },
    /// Credits money that was not paid in. Without an expiry it joins the main lot of its currency.
    Grant {
        entry: EntryId,
        owner: OwnerId,
        currency: BalanceCurrency,
        amount: Nano,
        expires_at: Option<Timestamp>,
    },
    /// Takes credit that the operator gave back from the main lot of its currency: at most the
    /// remainder of `given`, the journal's sum of grants to that lot minus what was taken back.
    Debit { entry: EntryId, owner: OwnerId, currency: BalanceCurrency, amount: Nano, given: Nano },
    /// Takes back a payment, in part or whole: first from the paid credit that is neither spent nor
    /// held, and the rest becomes a debt. `given` is as for [`CreditCommand::Debit`]: grants are not
    /// taken.
    Reverse {
        entry: EntryId,
        owner: OwnerId,
        network: PaymentNetwork,
        amount: Nano,
        given: Nano,
        beyond: BeyondPaid,
    },
    /// Undoes a reversal, in part or whole: repays the debt first, and credits the rest.
    Restore { entry: EntryId, owner: OwnerId, network: PaymentNetwork, amount: Nano },
    /// Repays the owner's debt from paid credit, as far as there is both: a hold that ended after
    /// the reversal has left some. `given` is as for [`CreditCommand::Debit`].
    CollectDebt { entry: EntryId, owner: OwnerId, given: Nano },
    /// Sets the amount that an owner gets each period; zero ends it. The current period follows at
    /// once: more is added, less is taken back as far as it is unspent.
    SetAllowance { entry: EntryId, owner: OwnerId, kind: AllowanceKind, amount: Nano },
    /// Holds money before work starts.
    Hold { hold: HoldId, payer: HoldPayer, want: HoldRange, kind: HoldKind },
    /// Adds to an open hold of a request, as far as money is available: wholly, in part or not at
    /// all. The amounts of `want` are added to what is held.
    Raise { hold: HoldId, want: HoldRange },
    /// Charges the cost of the work and releases the rest. A cost above the hold is taken from the
    /// remaining balance within the key's limits; the rest is written off. If this is refused, the
    /// hold stays open: release it.
    Settle { entry: EntryId, hold: HoldId, cost: WorkCost },
    /// Releases a whole hold.
    Release { hold: HoldId },
    /// Refunds a charge, once.
    Refund { charge: EntryId, source: ChargeSource },
    /// Moves expired balances to the expired account, from at most [`SWEEP_LOTS_MAX`] lots.
    ///
    /// [`SWEEP_LOTS_MAX`]: crate::SWEEP_LOTS_MAX
    Sweep { entry: EntryId },
}

/// The rule for a reversal of more than the paid credit that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeyondPaid {
    /// The rest becomes a debt: the money has left already.
    Owe,
    /// Nothing is moved: the money has not left yet.
    Refuse,
}

/// The owner that pays, and the key it pays through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldPayer {
    pub owner: OwnerId,
    pub key: Option<KeyTerms>,
}

/// The amount to hold. Zero is allowed: free work takes a hold too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldRange {
    Exactly(WorkCost),
    /// The available amount, up to `most`; refused if it is below `least`.
    UpTo {
        least: WorkCost,
        most: WorkCost,
    },
    /// A quarter of the available amount, up to `most` and not below `least`; refused if `least` is
    /// not available. Leaves room for other holds of the same owner.
    Share {
        least: WorkCost,
        most: WorkCost,
    },
}

/// The lifetime of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldKind {
    /// In memory only: a crash ends the request, and the hold with it.
    Request,
    /// In the journal: the job continues after a restart.
    Job,
}

/// The source of the charge that is to be refunded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeSource {
    /// The charge is recent enough to be in memory.
    Recent,
    /// A charge read from the journal, which is trusted; never one that a caller sent.
    Journal(SettledCharge),
    /// The part to refund of a charge read from the journal, see
    /// [`refundable_part`](SettledCharge::refundable_part).
    Part(SettledCharge),
}
