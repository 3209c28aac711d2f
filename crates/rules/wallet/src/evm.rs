//! Payments on an EVM chain: a signed EIP-3009 authorization to move tokens.

mod authorization;
mod calls;
mod receipt;
mod signature;
mod verify;

pub use authorization::{TransferAuthorization, domain_separator};
pub use calls::{
    authorization_state_call, balance_call, domain_call, returned_flag, returned_word,
};
pub use receipt::{
    EventLog, TransactionReceipt, authorization_cancelled_topic, authorization_used_topics,
};
pub use signature::KeySignature;
pub use verify::{EvmFault, EvmPayment, PayerSignature, SETTLE_MARGIN_S};

pub(crate) use signature::{SignatureCheck, check_signature};
pub(crate) use verify::verify_evm_payment;
