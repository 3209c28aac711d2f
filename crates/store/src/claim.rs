//! Claims: a row for each wallet payment, written before anything is sent to its chain.
//!
//! ```text
//! VERIFIED ──► SUBMITTED ──► CREDITED
//!     │            │  ▲          ▲
//!     │            ▼  │          │
//!     │         UNKNOWN ─────────┤
//!     ▼            ▼             │
//!   FAILED ◄───────┴── (taken up again: back to VERIFIED;
//!     │                  credited if the money came after all)
//!     └──► CREDITED
//! ```

use credits::EntryId;
use moment::Timestamp;
use money::Nano;

/// The most claims that one answer carries.
pub const CLAIMS_MAX: usize = 1000;

/// The name of a payment, which follows from what its payer signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(pub [u8; 20]);

/// A payment that somebody sent us, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub id: ClaimId,
    /// In CAIP-2 form, such as `eip155:8453`.
    pub network: String,
    pub asset: String,
    /// In its canonical form.
    pub payer: String,
    /// What the chain spends once: the nonce of an authorization, or the hash of a message.
    pub nonce: [u8; 32],
    pub pay_to: String,
    /// What the payer signed for, in base units of the token.
    pub units: u64,
    /// What the payer signed, as JSON: enough to ask the chain about it at any later time.
    pub payment: String,
    pub state: ClaimState,
    /// What was sent, or is about to be.
    pub sent: SentPayment,
    /// When that was written down to be sent.
    pub sent_at: Option<Timestamp>,
    /// What came of it, once it is credited.
    pub credit: Option<ClaimCredit>,
    /// Why it failed, in the protocol's word.
    pub reason: Option<String>,
    pub created: Timestamp,
    pub changed: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimState {
    /// It is signed and keeps the terms. Nothing was sent for it.
    Verified,
    /// It was sent, or may have been.
    Submitted,
    /// It was sent, and waiting for it ended without an answer from the chain.
    Unknown,
    /// It is on the chain and in the ledger.
    Credited,
    /// It moved nothing and will not by what was sent. The payer may try it again.
    Failed,
}

/// What is sent for a payment. All of it is there before any of it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentPayment {
    /// The transaction's name on its chain; absent while a facilitator has not told it.
    pub transaction: Option<String>,
    /// The signed transaction, where it is ours to send.
    pub raw: Option<Vec<u8>>,
    /// Its place among the transactions of its sender.
    pub sequence: Option<u64>,
    /// The chain's newest block before it was sent: nothing of it can be older.
    pub since_block: Option<u64>,
    /// The names of what was sent before under the same number, for less. One of them may be mined
    /// all the same.
    pub replaced: Vec<String>,
}

impl SentPayment {
    /// Everything that may be on the chain for this payment, at most one of which is.
    pub fn transactions(&self) -> impl Iterator<Item = &String> {
        self.transaction.iter().chain(&self.replaced)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimCredit {
    pub entry: EntryId,
    /// What moved, and was credited with it.
    pub amount: Nano,
}

/// A step that a claim takes, from the state that it was seen in. A claim that is in another one by
/// now, or in one that does not allow the step, is
/// [`StoreError::Missing`](crate::error::StoreError).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimStep {
    Submit(SentPayment),
    /// Something else is sent under the same number.
    Replace(SentPayment),
    /// A transaction that was learnt only now is noted.
    LoseSight {
        transaction: Option<String>,
    },
    /// Written with the credit in one group.
    Credit {
        transaction: String,
        credit: ClaimCredit,
    },
    Fail {
        reason: String,
    },
}

/// What a chain shows for a claim that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedPayment {
    pub transaction: String,
    pub amount: Nano,
}

/// Claims of one state whose last step was after one moment and up to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimSpan {
    pub state: ClaimState,
    pub after: Timestamp,
    pub until: Timestamp,
}

/// A position in a list that is sorted by the time of the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimCursor {
    pub changed: Timestamp,
    pub id: ClaimId,
}

/// What credited claims of one network come to: the books must have received as much from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditedSum {
    pub network: String,
    pub claims: u64,
    pub amount: Nano,
}

impl Claim {
    pub fn cursor(&self) -> ClaimCursor {
        ClaimCursor { changed: self.changed, id: self.id }
    }

    /// Whether anything may have been sent for it, whatever became of it.
    pub fn was_sent(&self) -> bool {
        self.sent.transaction.is_some() || self.sent.since_block.is_some()
    }
}

impl ClaimStep {
    /// Whether a claim in this state can take this step at all.
    pub fn is_allowed_from(&self, state: ClaimState) -> bool {
        use ClaimState::{Credited, Submitted, Unknown, Verified};
        match self {
            ClaimStep::Submit(_) => state == Verified,
            ClaimStep::Replace(_) | ClaimStep::LoseSight { .. } => {
                matches!(state, Submitted | Unknown)
            }
            ClaimStep::Credit { .. } => state != Credited,
            ClaimStep::Fail { .. } => matches!(state, Verified | Submitted | Unknown),
        }
    }
}

impl ClaimState {
    pub fn name(self) -> &'static str {
        match self {
            ClaimState::Verified => "VERIFIED",
            ClaimState::Submitted => "SUBMITTED",
            ClaimState::Unknown => "UNKNOWN",
            ClaimState::Credited => "CREDITED",
            ClaimState::Failed => "FAILED",
        }
    }

    pub fn parse(name: &str) -> Option<ClaimState> {
        let all = [
            ClaimState::Verified,
            ClaimState::Submitted,
            ClaimState::Unknown,
            ClaimState::Credited,
            ClaimState::Failed,
        ];
        all.into_iter().find(|state| state.name() == name)
    }
}
