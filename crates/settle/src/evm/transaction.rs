//! A transaction of EIP-1559, signed.

use alloy_primitives::{Address, keccak256};
use alloy_rlp::{Encodable, Header};
use k256::ecdsa::SigningKey;

/// The number by which EIP-2718 tells this kind of transaction apart.
const TYPE: u8 = 2;
const NO_COINS: u8 = 0;

/// A call of a contract that sends no coins and names no storage beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) chain_id: u64,
    /// Its place among the sender's transactions.
    pub(super) sequence: u64,
    pub(super) tip: u128,
    /// The most that a unit of gas may cost, tip included.
    pub(super) gas_price_max: u128,
    pub(super) gas_max: u64,
    pub(super) to: Address,
    pub(super) input: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) raw: Vec<u8>,
    pub(super) hash: [u8; 32],
}

impl Call {
    /// None only if the key cannot sign at all.
    pub(super) fn sign(&self, key: &SigningKey) -> Option<Signed> {
        let digest = keccak256(self.encode(None));
        let (signature, recovery) = key.sign_prehash_recoverable(digest.as_slice()).ok()?;
        let (r, s) = signature.split_bytes();
        let signature =
            Signature { parity: u8::from(recovery.is_y_odd()), r: r.into(), s: s.into() };
        let raw = self.encode(Some(&signature));
        let hash = keccak256(&raw).0;
        Some(Signed { raw, hash })
    }

    /// The type, then the list of fields: without a signature it is what gets signed.
    fn encode(&self, signature: Option<&Signature>) -> Vec<u8> {
        let mut fields = Vec::new();
        self.chain_id.encode(&mut fields);
        self.sequence.encode(&mut fields);
        self.tip.encode(&mut fields);
        self.gas_price_max.encode(&mut fields);
        self.gas_max.encode(&mut fields);
        self.to.as_slice().encode(&mut fields);
        NO_COINS.encode(&mut fields);
        self.input.as_slice().encode(&mut fields);
        Header { list: true, payload_length: 0 }.encode(&mut fields);
        if let Some(signature) = signature {
            signature.parity.encode(&mut fields);
            encode_word(&signature.r, &mut fields);
            encode_word(&signature.s, &mut fields);
        }
        let mut encoded = vec![TYPE];
        Header { list: true, payload_length: fields.len() }.encode(&mut encoded);
        encoded.extend(fields);
        encoded
    }
}

struct Signature {
    parity: u8,
    r: [u8; 32],
    s: [u8; 32],
}

/// A number is written without the zeros before it.
fn encode_word(word: &[u8; 32], fields: &mut Vec<u8>) {
    let zeros = word.iter().take_while(|byte| **byte == 0).count();
    word[zeros..].encode(fields);
}

#[cfg(test)]
mod tests;
