//! What can be said of something signed without asking the chain.

use crate::contract::ContractCheck;

/// A verdict on a payment, a sign-in or a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<T> {
    Verified(T),
    /// All is right but the signature, which no key of the signer's made: perhaps a contract's.
    NeedsContractCheck(Unconfirmed<T>),
}

/// What holds once the signer's contract says that the signature is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unconfirmed<T> {
    pub check: ContractCheck,
    claim: T,
}

impl<T> Unconfirmed<T> {
    pub(crate) fn new(check: ContractCheck, claim: T) -> Unconfirmed<T> {
        Unconfirmed { check, claim }
    }

    /// Call this only when the contract has answered [`ContractCheck::call`] with yes.
    pub fn confirmed_by_contract(self) -> T {
        self.claim
    }
}
