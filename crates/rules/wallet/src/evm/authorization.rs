//! An EIP-3009 authorization: payer, recipient, amount, validity, and a nonce that is used once.

use alloy_primitives::{B256, U256, hex};
use alloy_sol_types::{Eip712Domain, SolStruct, sol};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::address::EvmAddress;
use crate::amount::parse_word;
use crate::encoding::hex_array;
use crate::refusal::PaymentRefusal;
use crate::terms::EvmTerms;

sol! {
    struct TransferWithAuthorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }
}

/// A signed permission to move tokens. The times are Unix seconds; all numbers are as wide as the
/// contract's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferAuthorization {
    pub from: EvmAddress,
    pub to: EvmAddress,
    pub value: U256,
    pub valid_after: U256,
    pub valid_before: U256,
    pub nonce: [u8; 32],
}

impl TransferAuthorization {
    pub(crate) fn parse(json: Value) -> Result<TransferAuthorization, PaymentRefusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct AuthorizationJson {
            from: String,
            to: String,
            value: String,
            valid_after: String,
            valid_before: String,
            nonce: String,
        }
        let malformed = PaymentRefusal::Malformed;
        let written: AuthorizationJson = serde_json::from_value(json).map_err(|_| {
            malformed(
                "`authorization` must hold `from`, `to`, `value`, `validAfter`, `validBefore` \
                 and `nonce`, all of them strings",
            )
        })?;
        let address = |text: &str| {
            EvmAddress::parse(text)
                .ok_or(malformed("`from` and `to` must be 0x and 40 hexadecimal digits"))
        };
        let number = |text: &str| {
            parse_word(text)
                .ok_or(malformed("`value`, `validAfter` and `validBefore` must be plain decimals"))
        };
        Ok(TransferAuthorization {
            from: address(&written.from)?,
            to: address(&written.to)?,
            value: number(&written.value)?,
            valid_after: number(&written.valid_after)?,
            valid_before: number(&written.valid_before)?,
            nonce: hex_array(&written.nonce)
                .ok_or(malformed("`nonce` must be 0x and 64 hexadecimal digits"))?,
        })
    }

    /// The EIP-712 hash that the payer signed, under the domain of our token on our chain.
    pub fn signing_digest(&self, terms: &EvmTerms) -> [u8; 32] {
        let message = TransferWithAuthorization {
            from: self.from.inner(),
            to: self.to.inner(),
            value: self.value,
            validAfter: self.valid_after,
            validBefore: self.valid_before,
            nonce: B256::from(self.nonce),
        };
        message.eip712_signing_hash(&build_domain(terms)).0
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "from": self.from.to_string(),
            "to": self.to.to_string(),
            "value": self.value.to_string(),
            "validAfter": self.valid_after.to_string(),
            "validBefore": self.valid_before.to_string(),
            "nonce": hex::encode_prefixed(self.nonce),
        })
    }
}

/// The domain separator that the token's contract must return.
pub fn domain_separator(terms: &EvmTerms) -> [u8; 32] {
    build_domain(terms).separator().0
}

fn build_domain(terms: &EvmTerms) -> Eip712Domain {
    Eip712Domain::new(
        Some(terms.asset_name.clone().into()),
        Some(terms.asset_version.clone().into()),
        Some(U256::from(terms.chain_id)),
        Some(terms.asset.inner()),
        None,
    )
}
