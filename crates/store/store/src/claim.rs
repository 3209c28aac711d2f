//! Claims: a row for each wallet payment, written before anything is sent to its chain.
//!
//! ```text
//! VERIFIED ──► SUBMITTED ──► CREDITED
//!     │            │  ▲          ▲
//!     │            ▼  │          │
//!     │         UNKNOWN ─────────┤
//!     ▼            ▼             │
//!   FAILED ◄───────┴── (reopened: back to VERIFIED;
//!     │                  credited if the money came after all)
//!     └──► CREDITED
//! ```

use ledger_core::EntryId;
use moment::Timestamp;
use money::Nano;

/// The maximum number of claims per query.
pub const CLAIMS_MAX: usize = 1000;

/// The id of a payment, derived from the signed payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(pub [u8; 20]);

/// A payment that was sent to us, and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentClaim {
    pub id: ClaimId,
    /// In CAIP-2 form, such as `eip155:8453`.
    pub network: String,
    pub asset: String,
    /// The payer's address in its canonical form.
    pub payer: String,
    /// The value that the chain accepts once: the nonce of an authorization, or the hash of a
    /// message.
    pub nonce: [u8; 32],
    pub pay_to: String,
    /// The signed amount, in base units of the token.
    pub units: u64,
    /// The signed payload as JSON: enough to look the payment up on its chain at any later time.
    pub payment: String,
    pub state: ClaimState,
    /// The transaction that was sent, or is about to be.
    pub sent: SentPayment,
    /// The time at which it was stored for sending.
    pub sent_at: Option<Timestamp>,
    /// The credit, once it was made.
    pub credit: Option<ClaimCredit>,
    /// The reason for the failure, in the protocol's terms.
    pub reason: Option<String>,
    pub created: Timestamp,
    pub changed: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimState {
    /// Signed and within the terms. Nothing was sent for it.
    Verified,
    /// Sent, or may have been.
    Submitted,
    /// Sent, and the wait for the chain timed out.
    Unknown,
    /// On the chain and in the ledger.
    Credited,
    /// Nothing moved, and what was sent can no longer move it. The payer may retry.
    Failed,
}

/// The transaction of a payment. All of it is stored before it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentPayment {
    /// The transaction's id on its chain; None until a facilitator has returned it.
    pub transaction: Option<String>,
    /// The signed transaction, if we send it ourselves.
    pub raw: Option<Vec<u8>>,
    /// The nonce of the transaction in the sender's account.
    pub sequence: Option<u64>,
    /// The chain's newest block before it was sent: the transaction cannot be in an older one.
    pub since_block: Option<u64>,
    /// The ids of earlier transactions with the same nonce and lower fees. One of them may still be
    /// mined.
    pub replaced: Vec<String>,
}

impl SentPayment {
    /// Every transaction that may be on the chain for this payment; at most one of them is.
    pub fn transactions(&self) -> impl Iterator<Item = &String> {
        self.transaction.iter().chain(&self.replaced)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimCredit {
    pub entry: EntryId,
    /// The amount that moved and was credited.
    pub amount: Nano,
}

/// A step of a claim, from the state in which it was read. If the claim is in another state by now,
/// or in one that does not allow the step, it is [`StoreError::Missing`](crate::error::StoreError).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimStep {
    Submit(SentPayment),
    /// Another transaction with the same nonce is sent.
    Replace(SentPayment),
    /// The wait timed out; stores the transaction if it became known only now.
    LoseSight {
        transaction: Option<String>,
    },
    /// Written in one group with the credit.
    Credit {
        transaction: String,
        credit: ClaimCredit,
    },
    Fail {
        reason: String,
    },
}

/// The payment that a chain shows for a claim that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedPayment {
    pub transaction: String,
    pub amount: Nano,
}

/// Claims of one state whose last step was after `after` and not after `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimSpan {
    pub state: ClaimState,
    pub after: Timestamp,
    pub until: Timestamp,
}

/// A position in the list of claims, which is sorted by the time of the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimCursor {
    pub changed: Timestamp,
    pub id: ClaimId,
}

/// The sum of the credited claims of one network, which the books must have received from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditedSum {
    pub network: String,
    pub claims: u64,
    pub amount: Nano,
}

impl PaymentClaim {
    pub fn cursor(&self) -> ClaimCursor {
        ClaimCursor { changed: self.changed, id: self.id }
    }

    /// True if anything may have been sent for it, whatever the outcome.
    pub fn was_sent(&self) -> bool {
        self.sent.transaction.is_some() || self.sent.since_block.is_some()
    }
}

impl ClaimStep {
    /// True if a claim in this state can take this step.
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
