//! Signatures of contract wallets, which only the contract itself can confirm.

use alloy_primitives::{Address, B256, Bytes, hex};
use alloy_sol_types::{SolCall, SolValue, sol};

use crate::address::EvmAddress;

sol! {
    /// ERC-1271.
    function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4 magic);
}

/// ERC-6492: a signature that ends so is wrapped, because its wallet may not be deployed yet.
const WRAPPED: [u8; 32] = hex!("6492649264926492649264926492649264926492649264926492649264926492");

/// A question for the contract at `account`: is this your signature?
///
/// Whoever asks first reads the code at `account`. Without code there is no contract, and the
/// signature is simply wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractCheck {
    pub account: EvmAddress,
    pub digest: [u8; 32],
    /// Without the wrapping of ERC-6492.
    pub signature: Vec<u8>,
    /// How the wallet would come to be. It is never executed for a client; a node may simulate it.
    pub deployment: Option<Deployment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    pub factory: EvmAddress,
    pub calldata: Vec<u8>,
}

impl ContractCheck {
    /// None if the signature is wrapped, and the wrapping is broken.
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
        let deployment = Deployment { factory: factory.into(), calldata: calldata.to_vec() };
        let signature = signature.to_vec();
        Some(ContractCheck { account, digest, signature, deployment: Some(deployment) })
    }

    /// The input of an `eth_call` to `account`.
    pub fn call(&self) -> Vec<u8> {
        let hash = B256::from(self.digest);
        isValidSignatureCall { hash, signature: self.signature.clone().into() }.abi_encode()
    }

    /// Whether what the call returned means yes. Nothing but the whole magic word does.
    pub fn is_confirmed_by(returned: &[u8]) -> bool {
        let mut magic = [0; 32];
        magic[..4].copy_from_slice(&isValidSignatureCall::SELECTOR);
        returned == magic
    }
}
