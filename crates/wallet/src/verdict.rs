//! The result of verifying a signed payload without the chain.

use crate::contract::ContractCheck;

/// A verdict on a payment, a sign-in or a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<T> {
    Verified(T),
    /// Everything is valid but the signature, which no key of the signer made: it may be a
    /// contract's.
    NeedsContractCheck(Unconfirmed<T>),
}

/// A result that is valid once the signer's contract confirms the signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unconfirmed<T> {
    pub check: ContractCheck,
    claim: T,
}

impl<T> Unconfirmed<T> {
    pub(crate) fn new(check: ContractCheck, claim: T) -> Unconfirmed<T> {
        Unconfirmed { check, claim }
    }

    /// Call this only after the contract has confirmed the signature, see [`ContractCheck::call`].
    pub fn confirmed_by_contract(self) -> T {
        self.claim
    }
}
