//! Payments on Solana: a transaction signed by its payer, whose fee we pay.

mod fault;
mod instructions;
mod payment_builder;
mod programs;
mod transaction;
mod verify;

pub use fault::SolanaFault;
pub use payment_builder::unsigned_payment;
pub use programs::{TOKEN, TOKEN_2022, token_account};
pub use transaction::{
    PayerFingerprint, TRANSACTION_BYTES_MAX, base58_signature, read_payer_fingerprint,
};
pub use verify::SolanaPayment;

pub(crate) use verify::{is_signed_by, verify_solana_payment};

#[cfg(test)]
pub(crate) use programs::{COMPUTE_BUDGET, LIGHTHOUSE, MEMO};
