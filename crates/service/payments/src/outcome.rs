//! The outcome of a top-up.

use ledger_core::OwnerId;
use money::Nano;
use thiserror::Error;
use wallet::PaymentRefusal;

use crate::settler::PaymentDecline;

/// A payment that is on its chain and in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledPayment {
    /// `pay_` and 40 hexadecimal digits, derived from the payment: the same each time it is sent.
    pub payment_id: String,
    /// The payer's address in its canonical form.
    pub payer: String,
    /// The owner that was credited.
    pub owner: OwnerId,
    /// In CAIP-2 form.
    pub network: String,
    pub transaction: String,
    /// The amount that moved on the chain and was credited.
    pub amount: Nano,
    /// The owner's USD balance after the credit.
    pub balance: Nano,
    /// True if this request sent the payment to its chain. Before that, only the payer can
    /// know the signature; afterwards anyone can read it on the chain and send it again. Requests
    /// that wait for the same settlement all get true.
    pub is_new: bool,
}

/// The reason why a payment is not, or not yet, in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopUpRefusal {
    /// The payment does not meet the terms. Nothing was claimed or sent.
    #[error(transparent)]
    Payment(#[from] PaymentRefusal),
    /// The chain will not execute the payment. Nothing moved, and the claim is released.
    #[error(transparent)]
    Declined(#[from] PaymentDecline),
    /// The payment was sent and is not confirmed yet. It will be credited once it is: sending the
    /// same payment again returns the result, and a new payment would pay twice.
    #[error(
        "The payment was sent and is not confirmed yet. It will be credited once it is: send the \
         same payment again to see the result, and do not sign a new one"
    )]
    Pending { network: String, payer: String, transaction: Option<String> },
    /// The payment could not be sent, for a reason on our side. Nothing moved, and the claim is
    /// released.
    #[error("The payment could not be settled and nothing was charged: send it again in a moment")]
    Failed,
    /// Too many payments are being processed.
    #[error("Too many payments are being settled: send it again in a moment")]
    Busy,
    /// The store or the ledger is unavailable. Sending the same payment again is safe.
    #[error("Payments cannot be recorded at the moment: send the same payment again later")]
    Unavailable,
}

impl TopUpRefusal {
    /// The value of `error` in the response.
    pub fn code(&self) -> &'static str {
        match self {
            TopUpRefusal::Payment(refusal) => refusal.code(),
            TopUpRefusal::Declined(_) => "PAYMENT_VERIFICATION_FAILED",
            TopUpRefusal::Pending { .. } => "SETTLEMENT_TIMEOUT",
            TopUpRefusal::Failed => "SETTLEMENT_FAILED",
            TopUpRefusal::Busy | TopUpRefusal::Unavailable => "X402_UNAVAILABLE",
        }
    }

    /// The x402 reason, for `details.reason` and `errorReason`.
    pub fn reason(&self) -> &str {
        match self {
            TopUpRefusal::Payment(refusal) => refusal.reason(),
            TopUpRefusal::Declined(decline) => &decline.reason,
            TopUpRefusal::Pending { .. } => "settlement_pending",
            TopUpRefusal::Failed => "unexpected_settle_error",
            TopUpRefusal::Busy | TopUpRefusal::Unavailable => "settlement_unavailable",
        }
    }

    /// The id of the transaction that was sent, if any.
    pub fn transaction(&self) -> Option<&str> {
        match self {
            TopUpRefusal::Pending { transaction, .. } => transaction.as_deref(),
            _ => None,
        }
    }

    /// True if the payment itself is at fault.
    pub fn is_payers_fault(&self) -> bool {
        matches!(self, TopUpRefusal::Payment(_) | TopUpRefusal::Declined(_))
    }

    /// True if the cause is on our side and a retry may succeed.
    pub(crate) fn is_ours(&self) -> bool {
        matches!(self, TopUpRefusal::Busy | TopUpRefusal::Unavailable)
    }

    /// True if the outcome will not change by itself.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, TopUpRefusal::Payment(_) | TopUpRefusal::Declined(_) | TopUpRefusal::Failed)
    }
}
