//! A signed EIP-1559 transaction.

use alloy_primitives::{Address, keccak256};
use alloy_rlp::{Decodable, Encodable, Header};
use k256::ecdsa::SigningKey;

use super::fees::GasFees;

/// The EIP-2718 type of EIP-1559 transactions.
const TYPE: u8 = 2;
const NO_COINS: u8 = 0;

/// A contract call without value and without an access list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContractCall {
    pub(super) chain_id: u64,
    /// The account nonce.
    pub(super) sequence: u64,
    pub(super) fees: GasFees,
    pub(super) gas_max: u64,
    pub(super) to: Address,
    pub(super) input: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignedTransaction {
    pub(super) raw: Vec<u8>,
    pub(super) hash: [u8; 32],
}

impl ContractCall {
    /// Signs the call; None only if the key cannot sign at all.
    pub(super) fn sign(&self, key: &SigningKey) -> Option<SignedTransaction> {
        let digest = keccak256(self.encode(None));
        let (signature, recovery) = key.sign_prehash_recoverable(digest.as_slice()).ok()?;
        let (r, s) = signature.split_bytes();
        let signature =
            EcdsaSignature { parity: u8::from(recovery.is_y_odd()), r: r.into(), s: s.into() };
        let raw = self.encode(Some(&signature));
        let hash = keccak256(&raw).0;
        Some(SignedTransaction { raw, hash })
    }

    /// Decodes a transaction of [`ContractCall::sign`]; None if it is anything else.
    pub(super) fn read(raw: &[u8]) -> Option<ContractCall> {
        let (kind, mut rest) = raw.split_first()?;
        let list = Header::decode(&mut rest).ok()?;
        if *kind != TYPE || !list.list || list.payload_length != rest.len() {
            return None;
        }
        let chain_id = u64::decode(&mut rest).ok()?;
        let sequence = u64::decode(&mut rest).ok()?;
        let (tip, price_max) = (u128::decode(&mut rest).ok()?, u128::decode(&mut rest).ok()?);
        let gas_max = u64::decode(&mut rest).ok()?;
        let to = Address::try_from(Header::decode_bytes(&mut rest, false).ok()?).ok()?;
        let coins = u8::decode(&mut rest).ok()?;
        let input = Header::decode_bytes(&mut rest, false).ok()?.to_vec();
        let fees = GasFees { tip, price_max };
        (coins == NO_COINS).then_some(ContractCall { chain_id, sequence, fees, gas_max, to, input })
    }

    /// The type byte and the RLP list of fields. Without a signature, this is the payload to sign.
    fn encode(&self, signature: Option<&EcdsaSignature>) -> Vec<u8> {
        let mut fields = Vec::new();
        self.chain_id.encode(&mut fields);
        self.sequence.encode(&mut fields);
        self.fees.tip.encode(&mut fields);
        self.fees.price_max.encode(&mut fields);
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

struct EcdsaSignature {
    parity: u8,
    r: [u8; 32],
    s: [u8; 32],
}

/// Encodes a number without leading zeros.
fn encode_word(word: &[u8; 32], fields: &mut Vec<u8>) {
    let zeros = word.iter().take_while(|byte| **byte == 0).count();
    word[zeros..].encode(fields);
}

#[cfg(test)]
mod tests;
