//! The outcome of a top-up.

use credits::OwnerId;
use money::Nano;
use thiserror::Error;
use wallet::PaymentRefusal;

use crate::settler::Decline;

/// A payment that is on its chain and in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// `pay_` and 40 digits: the same however often the payment is sent.
    pub payment_id: String,
    /// In its canonical form.
    pub payer: String,
    /// Whose balance it went to.
    pub owner: OwnerId,
    /// In CAIP-2 form.
    pub network: String,
    pub transaction: String,
    /// What moved, and was credited.
    pub amount: Nano,
    /// The owner's dollars now.
    pub balance: Nano,
}

/// Why a payment is not, or not yet, in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopUpRefused {
    /// It does not keep the terms. Nothing was claimed or sent.
    #[error(transparent)]
    Payment(#[from] PaymentRefusal),
    /// The chain will not carry it out. Nothing moved, and the claim is released.
    #[error(transparent)]
    Declined(#[from] Decline),
    /// It was sent, and the chain has not answered. It will be credited when it does: sending the
    /// same payment again asks for the result, and a new payment would pay twice.
    #[error(
        "The payment was sent and is not confirmed yet. It will be credited once it is: send the \
         same payment again to see the result, and do not sign a new one"
    )]
    Pending { network: String, payer: String, transaction: Option<String> },
    /// It could not be sent, for a reason of ours. Nothing moved, and the claim is released.
    #[error("The payment could not be settled and nothing was charged: send it again in a moment")]
    Failed,
    /// Too many payments are being processed.
    #[error("Too many payments are being settled: send it again in a moment")]
    Busy,
    /// The store or the ledger does not answer. Sending the same payment again is safe.
    #[error("Payments cannot be recorded at the moment: send the same payment again later")]
    Unavailable,
}

impl TopUpRefused {
    /// The code in `error`.
    pub fn code(&self) -> &'static str {
        match self {
            TopUpRefused::Payment(refusal) => refusal.code(),
            TopUpRefused::Declined(_) => "PAYMENT_VERIFICATION_FAILED",
            TopUpRefused::Pending { .. } => "SETTLEMENT_TIMEOUT",
            TopUpRefused::Failed => "SETTLEMENT_FAILED",
            TopUpRefused::Busy | TopUpRefused::Unavailable => "X402_UNAVAILABLE",
        }
    }

    /// The protocol's own word for it, which goes to `details.reason` and to `errorReason`.
    pub fn reason(&self) -> &str {
        match self {
            TopUpRefused::Payment(refusal) => refusal.reason(),
            TopUpRefused::Declined(decline) => &decline.reason,
            TopUpRefused::Pending { .. } => "settlement_pending",
            TopUpRefused::Failed => "unexpected_settle_error",
            TopUpRefused::Busy | TopUpRefused::Unavailable => "settlement_unavailable",
        }
    }

    /// The transaction to look for, where one was sent.
    pub fn transaction(&self) -> Option<&str> {
        match self {
            TopUpRefused::Pending { transaction, .. } => transaction.as_deref(),
            _ => None,
        }
    }

    /// Whether the payment itself is at fault, rather than us or the moment.
    pub fn is_payers_fault(&self) -> bool {
        matches!(self, TopUpRefused::Payment(_) | TopUpRefused::Declined(_))
    }

    /// Whether it is we who do not know or cannot do it now.
    pub(crate) fn is_ours(&self) -> bool {
        matches!(self, TopUpRefused::Busy | TopUpRefused::Unavailable)
    }

    /// Whether nothing more will come of it by itself.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, TopUpRefused::Payment(_) | TopUpRefused::Declined(_) | TopUpRefused::Failed)
    }
}
