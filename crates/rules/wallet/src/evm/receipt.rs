//! The effect of a transaction, read from its receipt.

use alloy_primitives::{B256, U256};
use alloy_sol_types::{SolEvent, sol};
use serde::Deserialize;
use serde_json::Value;

use super::authorization::TransferAuthorization;
use crate::address::EvmAddress;
use crate::amount::TokenAmount;
use crate::encoding::{hex_array, hex_bytes};
use crate::terms::EvmTerms;

sol! {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
}

/// The relevant parts of a transaction receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionReceipt {
    pub succeeded: bool,
    pub transaction: [u8; 32],
    pub block_number: u64,
    /// In the order in which they were emitted.
    pub logs: Vec<EventLog>,
}

/// An event that a contract emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLog {
    pub address: EvmAddress,
    pub topics: Vec<[u8; 32]>,
    pub data: Vec<u8>,
}

/// The topics for `eth_getLogs` to find the use of an authorization, even if we did not send it.
pub fn authorization_used_topics(authorization: &TransferAuthorization) -> [[u8; 32]; 3] {
    let event = AuthorizationUsed::SIGNATURE_HASH.0;
    [event, address_topic(authorization.from), authorization.nonce]
}

/// The event topic of a cancelled authorization; the other topics are as for its use.
pub fn authorization_cancelled_topic() -> [u8; 32] {
    AuthorizationCanceled::SIGNATURE_HASH.0
}

impl TransactionReceipt {
    /// Decodes the answer to `eth_getTransactionReceipt`. None if it is not a receipt.
    pub fn parse(json: &Value) -> Option<TransactionReceipt> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ReceiptJson {
            status: String,
            transaction_hash: String,
            block_number: String,
            logs: Vec<EventLogJson>,
        }
        let written = ReceiptJson::deserialize(json).ok()?;
        let mut logs = Vec::with_capacity(written.logs.len());
        for log in &written.logs {
            logs.push(log.read()?);
        }
        Some(TransactionReceipt {
            succeeded: parse_quantity(&written.status)? == 1,
            transaction: hex_array(&written.transaction_hash)?,
            block_number: parse_quantity(&written.block_number)?,
            logs,
        })
    }

    /// The amount that this authorization moved to us. None if it moved nothing.
    ///
    /// The token emits `AuthorizationUsed` and right after it the `Transfer`. Only that pair
    /// counts: a payer may use the nonce with another authorization, and pay us with a second one
    /// in the same transaction, and must not be credited for both.
    pub fn moved_amount(
        &self,
        terms: &EvmTerms,
        authorization: &TransferAuthorization,
    ) -> Option<TokenAmount> {
        if !self.succeeded {
            return None;
        }
        let used = authorization_used_topics(authorization);
        let mut logs = self.logs.iter().filter(|log| log.address == terms.asset);
        logs.find(|log| log.topics == used)?;
        let transfer = logs.next()?;
        let from_payer_to_us = [
            Transfer::SIGNATURE_HASH.0,
            address_topic(authorization.from),
            address_topic(terms.pay_to),
        ];
        if transfer.topics != from_payer_to_us {
            return None;
        }
        let moved: [u8; 32] = transfer.data.as_slice().try_into().ok()?;
        TokenAmount::from_word(U256::from_be_bytes(moved))
    }
}

#[derive(Deserialize)]
struct EventLogJson {
    address: String,
    topics: Vec<String>,
    data: String,
}

impl EventLogJson {
    fn read(&self) -> Option<EventLog> {
        let mut topics = Vec::with_capacity(self.topics.len());
        for topic in &self.topics {
            topics.push(hex_array(topic)?);
        }
        Some(EventLog {
            address: EvmAddress::parse(&self.address)?,
            topics,
            data: hex_bytes(&self.data)?,
        })
    }
}

fn address_topic(address: EvmAddress) -> [u8; 32] {
    B256::left_padding_from(&address.bytes()).0
}

/// Decodes a number such as `0x1a`.
fn parse_quantity(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { u64::from_str_radix(digits, 16).ok() } else { None }
}
