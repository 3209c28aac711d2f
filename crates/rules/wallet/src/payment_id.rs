//! The id of a payment: the same each time it is sent, in any format.

use std::fmt;

use alloy_primitives::hex;
use sha2::{Digest, Sha256};

use crate::address::EvmAddress;
use crate::evm::TransferAuthorization;
use crate::network::ChainNetwork;

/// 160 bits make collisions infeasible, and are short enough to read out.
const DIGEST_BYTES: usize = 20;

/// Identifies a payment that the chain executes at most once. Displays as `pay_` and 40 hexadecimal
/// digits.
///
/// The signature is not part of it: the same authorization can be signed in many ways, and the same
/// Solana message too, while the chain executes it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaymentId {
    digest: [u8; DIGEST_BYTES],
}

impl PaymentId {
    pub fn bytes(self) -> [u8; DIGEST_BYTES] {
        self.digest
    }

    /// The id of an authorization: a token accepts each nonce of a payer once.
    pub(crate) fn of_authorization(
        network: ChainNetwork,
        asset: EvmAddress,
        authorization: &TransferAuthorization,
    ) -> PaymentId {
        let parts = [&asset.bytes()[..], &authorization.from.bytes(), &authorization.nonce];
        PaymentId::hash_parts("authorization", network, &parts)
    }

    /// The id of a Solana message, which the chain executes once and which names its payers.
    pub(crate) fn of_message(network: ChainNetwork, message: &[u8]) -> PaymentId {
        PaymentId::hash_parts("message", network, &[message])
    }

    /// Hashes the parts. All but the last have a fixed length, so that no two lists hash alike.
    fn hash_parts(kind: &str, network: ChainNetwork, parts: &[&[u8]]) -> PaymentId {
        let mut hasher = Sha256::new();
        hasher.update(format!("tollgate {kind} {network}\n"));
        for part in parts {
            hasher.update(part);
        }
        let full: [u8; 32] = hasher.finalize().into();
        let mut digest = [0; DIGEST_BYTES];
        digest.copy_from_slice(&full[..DIGEST_BYTES]);
        PaymentId { digest }
    }
}

impl fmt::Display for PaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pay_{}", hex::encode(self.digest))
    }
}
