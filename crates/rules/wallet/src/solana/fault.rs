//! The reasons why a Solana transaction is refused.

use thiserror::Error;

use crate::terms::AmountFault;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SolanaFault {
    #[error("The transaction cannot be read: send a whole one of version 0, signed by its payer")]
    Unreadable,
    #[error("Address lookup tables are not accepted: list every account in the transaction")]
    LookupTable,
    #[error("The fee payer must be the `feePayer` in `accepts`, with its signature left empty")]
    FeePayer,
    #[error("The transaction must need two signatures: the fee payer's and the payer's")]
    Signers,
    #[error("The fee payer must not be an account of any instruction")]
    FeePayerInvolved,
    #[error("The transaction must have three to seven instructions")]
    InstructionCount,
    #[error("The first instruction must set a compute unit limit of at most 100000")]
    ComputeLimit,
    #[error("The second instruction must set the compute unit price")]
    ComputePrice,
    #[error("The compute unit price is too high: at most 5000000 micro-lamports")]
    ComputePriceTooHigh,
    #[error("The third instruction must be a TransferChecked of the token program")]
    Transfer,
    #[error("Only memos and Lighthouse assertions may follow the transfer")]
    UnknownInstruction,
    #[error("The transfer moves another token: pay with the `asset` in `accepts`")]
    Mint,
    #[error("The recipient is wrong: pay the associated token account of `payTo`")]
    Recipient,
    #[error("The payer cannot be the recipient")]
    Payer,
    #[error("{0}")]
    Amount(AmountFault),
    #[error("The payer's signature does not match the transaction")]
    Signature,
}

impl SolanaFault {
    pub(crate) fn code(self) -> &'static str {
        match self {
            SolanaFault::Unreadable => "INVALID_PAYMENT_FORMAT",
            SolanaFault::Mint => "UNSUPPORTED_TOKEN",
            SolanaFault::Recipient => "INVALID_PAYMENT_RECIPIENT",
            SolanaFault::Payer | SolanaFault::FeePayerInvolved => "INVALID_PAYMENT_PAYER",
            SolanaFault::Amount(fault) => fault.code(),
            SolanaFault::Signature => "X402_INVALID_PAYMENT",
            _ => "PAYMENT_VERIFICATION_FAILED",
        }
    }

    /// The reference facilitator's reason.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            SolanaFault::Unreadable | SolanaFault::LookupTable => {
                "invalid_exact_svm_payload_transaction_could_not_be_decoded"
            }
            SolanaFault::FeePayer => "fee_payer_not_managed_by_facilitator",
            SolanaFault::Signers => "invalid_exact_svm_payload_transaction",
            SolanaFault::FeePayerInvolved => {
                "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds"
            }
            SolanaFault::InstructionCount => {
                "invalid_exact_svm_payload_transaction_instructions_length"
            }
            SolanaFault::ComputeLimit => {
                "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction"
            }
            SolanaFault::ComputePrice => {
                "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction"
            }
            SolanaFault::ComputePriceTooHigh => {
                "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high"
            }
            SolanaFault::Transfer => "invalid_exact_svm_payload_no_transfer_instruction",
            SolanaFault::UnknownInstruction => {
                "invalid_exact_svm_payload_unknown_fourth_instruction"
            }
            SolanaFault::Mint => "invalid_exact_svm_payload_mint_mismatch",
            SolanaFault::Recipient => "invalid_exact_svm_payload_recipient_mismatch",
            SolanaFault::Payer => "invalid_payload",
            SolanaFault::Amount(_) => "invalid_exact_svm_payload_amount_mismatch",
            SolanaFault::Signature => "invalid_exact_svm_payload_signature_invalid",
        }
    }
}
