//! The records of the journal: all durable state is a fold of these.

use moment::Timestamp;
use money::Nano;

use crate::account::{LedgerAccount, LotKey};
use crate::allowance::AllowanceKind;
use crate::charge::PaymentLeg;
use crate::id::{EntryId, HoldId, OwnerId};
use crate::limit::{KeyStamp, KeyTerms, LimitClass};

/// One durable effect. The records of a command are written together or not at all, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalRecord {
    /// A new, empty lot.
    LotOpened { lot: LotKey, opened_at: Timestamp, expires_at: Option<Timestamp> },
    /// An expired lot was removed from memory: it is empty and nothing of it is held.
    LotClosed { lot: LotKey },
    /// Money moved.
    Transfer(LedgerTransfer),
    /// An allowance changed: `amount` replaces what was set before.
    AllowanceSet {
        entry: EntryId,
        owner: OwnerId,
        kind: AllowanceKind,
        amount: Nano,
        at: Timestamp,
    },
    /// The lot of an allowance's `period` was opened: `period` replaces the newest opened one.
    AllowanceOpened { owner: OwnerId, kind: AllowanceKind, period: i64 },
    /// A key spent `amount` in the day and month of its stamp; negative when it is refunded.
    KeySpent { stamp: KeyStamp, class: LimitClass, amount: Nano },
    /// A job's hold: each leg is pending on its lot.
    JobHeld(JobHold),
    /// The job's hold ended: each leg is no longer pending. Its charge, if any, follows.
    JobHoldEnded { hold: HoldId, legs: Vec<PaymentLeg> },
}

/// One balanced movement: `amount`, above zero, leaves by `debit` and arrives by `credit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerTransfer {
    pub entry: EntryId,
    /// Number within the entry; `(entry, leg)` is in the journal at most once.
    pub leg: u16,
    pub debit: LedgerAccount,
    pub credit: LedgerAccount,
    pub amount: Nano,
    pub code: TransferCode,
    pub at: Timestamp,
    /// The key that a charge or its refund counts for.
    pub key: Option<KeyStamp>,
}

/// The reason for a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransferCode {
    /// Cash to lot.
    TopUp,
    /// Issuance to lot: a grant, or a raised allowance in the current period.
    Grant,
    /// Issuance to lot: a period's allowance.
    Allowance,
    /// Lot to issuance: a lowered allowance in the current period, or credit that the operator
    /// takes back.
    TakeBack,
    /// Lot to revenue.
    Charge,
    /// Write-off to revenue; the reverse if the charge is refunded.
    Writeoff,
    /// Revenue to lot.
    Refund,
    /// Lot to expired.
    Expiry,
    /// Lot to cash: a payment was taken back, and this part was not spent.
    Reversal,
    /// Debt to cash: a payment was taken back, and this part was spent.
    Shortfall,
    /// Cash to lot: money of a payment that was taken back came in again.
    Restoration,
    /// Cash to debt: the part of a payment or restoration that repays the debt.
    Repayment,
    /// Lot to debt: paid credit that became free repays the debt.
    Collection,
}

/// The hold of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobHold {
    pub hold: HoldId,
    pub owner: OwnerId,
    pub key: Option<HeldKey>,
    pub legs: Vec<PaymentLeg>,
    pub made_at: Timestamp,
}

/// The key that a hold was made through: its limits and periods at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldKey {
    pub terms: KeyTerms,
    pub stamp: KeyStamp,
}

impl TransferCode {
    pub const ALL: [TransferCode; 13] = [
        TransferCode::TopUp,
        TransferCode::Grant,
        TransferCode::Allowance,
        TransferCode::TakeBack,
        TransferCode::Charge,
        TransferCode::Writeoff,
        TransferCode::Refund,
        TransferCode::Expiry,
        TransferCode::Reversal,
        TransferCode::Shortfall,
        TransferCode::Restoration,
        TransferCode::Repayment,
        TransferCode::Collection,
    ];

    /// The number in the database. Never change it.
    pub const fn number(self) -> u8 {
        match self {
            TransferCode::TopUp => 1,
            TransferCode::Grant => 2,
            TransferCode::Allowance => 3,
            TransferCode::TakeBack => 4,
            TransferCode::Charge => 5,
            TransferCode::Writeoff => 6,
            TransferCode::Refund => 7,
            TransferCode::Expiry => 8,
            TransferCode::Reversal => 9,
            TransferCode::Shortfall => 10,
            TransferCode::Restoration => 11,
            TransferCode::Repayment => 12,
            TransferCode::Collection => 13,
        }
    }

    pub fn from_number(number: u8) -> Option<TransferCode> {
        TransferCode::ALL.into_iter().find(|code| code.number() == number)
    }

    /// The name in exports.
    pub const fn name(self) -> &'static str {
        match self {
            TransferCode::TopUp => "top_up",
            TransferCode::Grant => "grant",
            TransferCode::Allowance => "allowance",
            TransferCode::TakeBack => "take_back",
            TransferCode::Charge => "charge",
            TransferCode::Writeoff => "writeoff",
            TransferCode::Refund => "refund",
            TransferCode::Expiry => "expiry",
            TransferCode::Reversal => "reversal",
            TransferCode::Shortfall => "shortfall",
            TransferCode::Restoration => "restoration",
            TransferCode::Repayment => "repayment",
            TransferCode::Collection => "collection",
        }
    }

    /// True if the credited lot is granted the amount; false for refunds, which return it.
    pub const fn counts_as_granted(self) -> bool {
        matches!(
            self,
            TransferCode::TopUp
                | TransferCode::Grant
                | TransferCode::Allowance
                | TransferCode::Restoration
        )
    }

    /// True if the debited lot is granted that much less; false for what is spent or expires.
    pub const fn counts_as_taken_back(self) -> bool {
        matches!(self, TransferCode::TakeBack | TransferCode::Reversal | TransferCode::Collection)
    }

    /// True if one side of the transfer is the debt of an owner.
    pub const fn moves_debt(self) -> bool {
        matches!(self, TransferCode::Shortfall | TransferCode::Repayment | TransferCode::Collection)
    }
}
