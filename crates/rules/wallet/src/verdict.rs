//! The result of verifying a signed payload without the chain.

use crate::contract::ContractCheck;

/// A verdict on a payment, a sign-in or a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalletVerdict<T> {
    Verified(T),
    /// Everything is valid but the signature, which no key of the signer made: it may be a
    /// contract's.
    NeedsContractCheck(PendingContractCheck<T>),
}

/// A result that is valid once the signer's contract confirms the signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingContractCheck<T> {
    pub check: ContractCheck,
    claim: T,
}

impl<T> PendingContractCheck<T> {
    pub(crate) fn new(check: ContractCheck, claim: T) -> PendingContractCheck<T> {
        PendingContractCheck { check, claim }
    }

    /// Call this only after the contract has confirmed the signature, see [`ContractCheck::encode_call`].
    pub fn confirmed_by_contract(self) -> T {
        self.claim
    }
}
