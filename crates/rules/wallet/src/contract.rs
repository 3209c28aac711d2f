//! Signatures of contract wallets, which only the contract itself can confirm.

use alloy_primitives::{Address, B256, Bytes, hex};
use alloy_sol_types::{SolCall, SolValue, sol};

use crate::address::EvmAddress;

sol! {
    /// ERC-1271.
    function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4 magic);
}

/// The suffix of a signature wrapped by ERC-6492, because its wallet may not be deployed yet.
const WRAPPED: [u8; 32] = hex!("6492649264926492649264926492649264926492649264926492649264926492");

/// A query to the contract at `account`: is this its signature?
///
/// The caller reads the code at `account` too. Without code there is no contract, and the signature
/// is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractCheck {
    pub account: EvmAddress,
    pub digest: [u8; 32],
    /// The signature without the ERC-6492 wrapper.
    pub signature: Vec<u8>,
    /// The deployment of the wallet. It is never executed for a client; a node may simulate it.
    pub deployment: Option<WalletDeployment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletDeployment {
    pub factory: EvmAddress,
    pub calldata: Vec<u8>,
}

impl ContractCheck {
    /// None if the signature is wrapped and the wrapper cannot be decoded.
    pub(crate) fn new(
        account: EvmAddress,
        digest: [u8; 32],
        signature: &[u8],
    ) -> Option<ContractCheck> {
        let Some(wrapped) = signature.strip_suffix(&WRAPPED) else {
            let signature = signature.to_vec();
            return Some(ContractCheck { account, digest, signature, deployment: None });
        };
        let (factory, calldata, signature) =
            <(Address, Bytes, Bytes)>::abi_decode_params_validate(wrapped).ok()?;
        let deployment = WalletDeployment { factory: factory.into(), calldata: calldata.to_vec() };
        let signature = signature.to_vec();
        Some(ContractCheck { account, digest, signature, deployment: Some(deployment) })
    }

    /// The input of an `eth_call` to `account`.
    pub fn encode_call(&self) -> Vec<u8> {
        let hash = B256::from(self.digest);
        isValidSignatureCall { hash, signature: self.signature.clone().into() }.abi_encode()
    }

    /// True if the call returned the magic value, as one whole word.
    pub fn is_confirmed_by(returned: &[u8]) -> bool {
        let mut magic = [0; 32];
        magic[..4].copy_from_slice(&isValidSignatureCall::SELECTOR);
        returned == magic
    }
}
