//! Payments on Solana: a transaction signed by its payer, whose fee we pay.

mod fault;
mod instructions;
mod programs;
mod transaction;
mod unsigned;
mod verify;

pub use fault::SolanaFault;
pub use programs::{TOKEN, TOKEN_2022, token_account};
pub use transaction::{PayersMark, TRANSACTION_BYTES_MAX, base58_signature, payers_mark};
pub use unsigned::unsigned_payment;
pub use verify::SolanaPayment;

pub(crate) use verify::{is_signed_by, verify};

#[cfg(test)]
pub(crate) use programs::{COMPUTE_BUDGET, LIGHTHOUSE, MEMO};
