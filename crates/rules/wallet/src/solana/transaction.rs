//! Parses a Solana transaction.

use solana_message::{VersionedMessage, v0};
use solana_short_vec::decode_shortu16_len;

use super::fault::SolanaFault;
use crate::address::SolanaAddress;

/// The packet size of the network; longer transactions do not exist.
pub const TRANSACTION_BYTES_MAX: usize = 1232;

const SIGNATURE_BYTES: usize = 64;

/// A consistent transaction of version 0: as many signatures as signers, and every index within its
/// list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SolanaTransaction {
    bytes: Vec<u8>,
    signatures: Vec<[u8; SIGNATURE_BYTES]>,
    /// The offset of the message, which the signatures cover.
    message_start: usize,
    message: v0::Message,
}

/// An instruction with its indexes resolved.
pub(crate) struct SolanaInstruction<'a> {
    pub(crate) program: SolanaAddress,
    pub(crate) accounts: Vec<SolanaAddress>,
    pub(crate) data: &'a [u8],
}

impl SolanaTransaction {
    pub(crate) fn parse(bytes: &[u8]) -> Result<SolanaTransaction, SolanaFault> {
        if TRANSACTION_BYTES_MAX < bytes.len() {
            return Err(SolanaFault::Unreadable);
        }
        let (count, length_bytes) =
            decode_shortu16_len(bytes).map_err(|()| SolanaFault::Unreadable)?;
        let message_start = length_bytes + count * SIGNATURE_BYTES;
        let signatures = bytes.get(length_bytes..message_start).ok_or(SolanaFault::Unreadable)?;
        let (signatures, _) = signatures.as_chunks::<SIGNATURE_BYTES>();
        let message = wincode::deserialize_exact(&bytes[message_start..])
            .map_err(|_| SolanaFault::Unreadable)?;
        // The protocol excludes legacy transactions, and newer versions are unknown.
        let VersionedMessage::V0(message) = message else {
            return Err(SolanaFault::Unreadable);
        };
        if !message.address_table_lookups.is_empty() {
            return Err(SolanaFault::LookupTable);
        }
        message.sanitize().map_err(|_| SolanaFault::Unreadable)?;
        if count != usize::from(message.header.num_required_signatures) {
            return Err(SolanaFault::Unreadable);
        }
        let (bytes, signatures) = (bytes.to_vec(), signatures.to_vec());
        Ok(SolanaTransaction { bytes, signatures, message_start, message })
    }

    pub(crate) fn signatures(&self) -> &[[u8; SIGNATURE_BYTES]] {
        &self.signatures
    }

    /// The bytes that the signatures cover.
    pub(crate) fn message_bytes(&self) -> &[u8] {
        &self.bytes[self.message_start..]
    }

    /// An account by index. Signers come first, and the first of them pays the fee.
    pub(crate) fn account_key(&self, index: usize) -> Option<SolanaAddress> {
        self.message.account_keys.get(index).copied().map(SolanaAddress::from)
    }

    pub(crate) fn recent_blockhash(&self) -> [u8; 32] {
        self.message.recent_blockhash.to_bytes()
    }

    pub(crate) fn resolve_instructions(&self) -> Option<Vec<SolanaInstruction<'_>>> {
        let mut instructions = Vec::with_capacity(self.message.instructions.len());
        for compiled in &self.message.instructions {
            let mut accounts = Vec::with_capacity(compiled.accounts.len());
            for index in &compiled.accounts {
                accounts.push(self.account_key(usize::from(*index))?);
            }
            let program = self.account_key(usize::from(compiled.program_id_index))?;
            instructions.push(SolanaInstruction { program, accounts, data: &compiled.data });
        }
        Some(instructions)
    }

    /// The whole transaction with the given signature of the fee payer.
    pub(crate) fn with_fee_payer_signature(&self, signature: &[u8; SIGNATURE_BYTES]) -> Vec<u8> {
        let slots = self.signatures.len() * SIGNATURE_BYTES;
        let first_slot = self.message_start - slots;
        let mut bytes = self.bytes.clone();
        bytes[first_slot..first_slot + SIGNATURE_BYTES].copy_from_slice(signature);
        bytes
    }
}

/// Identifies a transaction whose fee payer is not known: the payer's signature, and the blockhash,
/// which limits its validity. None if it is not a transaction.
pub fn read_payer_fingerprint(bytes: &[u8]) -> Option<PayerFingerprint> {
    let transaction = SolanaTransaction::parse(bytes).ok()?;
    let signature = *transaction.signatures().get(1)?;
    Some(PayerFingerprint { signature, recent_blockhash: transaction.recent_blockhash() })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayerFingerprint {
    pub signature: [u8; SIGNATURE_BYTES],
    pub recent_blockhash: [u8; 32],
}

/// A signature in base58; the first of a transaction is also the transaction's id.
pub fn base58_signature(signature: &[u8; SIGNATURE_BYTES]) -> String {
    let mut text = [0; five8::BASE58_ENCODED_64_MAX_LEN];
    let length = five8::encode_64(signature, &mut text);
    text[..usize::from(length)].iter().map(|byte| char::from(*byte)).collect()
}
