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
    pub const ALL: [TransferCode; 8] = [
        TransferCode::TopUp,
        TransferCode::Grant,
        TransferCode::Allowance,
        TransferCode::TakeBack,
        TransferCode::Charge,
        TransferCode::Writeoff,
        TransferCode::Refund,
        TransferCode::Expiry,
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
        }
    }

    /// True if the credited lot is granted the amount; false for refunds, which return it.
    pub const fn counts_as_granted(self) -> bool {
        matches!(self, TransferCode::TopUp | TransferCode::Grant | TransferCode::Allowance)
    }
}
