//! API keys for wallets: a short-lived token of ours that the wallet signs.

use std::time::Duration;

use alloy_primitives::{eip191_hash_message, hex};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use moment::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use thiserror::Error;

use crate::address::EvmAddress;
use crate::encoding::{hex_array, hex_bytes};
use crate::evm::{SignatureCheck, check_signature};
use crate::payload::SIGNATURE_BYTES_MAX;
use crate::verdict::{PendingContractCheck, WalletVerdict};

/// Validity of a token, in seconds.
pub const TOKEN_LIFETIME_S: u64 = 15 * 60;
/// The largest token that is parsed; ours have about 200 characters.
const TOKEN_BYTES_MAX: usize = 1024;

const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
const PURPOSE: &str = "generate_web3_key";

/// The secret that authenticates tokens. It must be used for nothing else.
#[derive(Clone)]
pub struct TokenSecret(pub [u8; 32]);

/// The facts that a signed token proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Web3Key {
    pub wallet: EvmAddress,
    /// Valid once.
    pub token_id: [u8; 16],
    /// From then on the token is refused for its age, and its id can be deleted.
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Web3KeyFault {
    #[error("Invalid wallet address")]
    InvalidWallet,
    #[error("JWT is malformed")]
    TokenMalformed,
    #[error("JWT signature is invalid")]
    TokenSignature,
    #[error("JWT claims are invalid")]
    TokenClaims,
    #[error("JWT has expired")]
    TokenExpired,
    #[error("Wallet signature does not match")]
    SignatureMismatch,
    /// Also returned if the contract could not be queried.
    #[error("Could not verify wallet signature")]
    SignatureUnverifiable,
}

/// Makes a token for a wallet to sign. `id` must be random. The domain is ours, so that the signer
/// can see whom the signature is for. A token that names a wallet is valid for that one only.
pub fn mint_token(
    secret: &TokenSecret,
    domain: &str,
    wallet: Option<EvmAddress>,
    id: [u8; 16],
    now: Timestamp,
) -> String {
    let claims = Web3TokenClaims {
        purpose: PURPOSE.to_owned(),
        aud: domain.to_owned(),
        sub: wallet.map(|wallet| wallet.to_string()),
        jti: hex::encode_prefixed(id),
        iat: now.seconds(),
        exp: now.plus(Duration::from_secs(TOKEN_LIFETIME_S)).seconds(),
    };
    let payload = serde_json::json!(claims).to_string();
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(HEADER), URL_SAFE_NO_PAD.encode(payload));
    let code = compute_mac(secret, &signed).finalize().into_bytes();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(code))
}

/// Verifies a token and the wallet's signature of it: EIP-191 over the token's text.
pub fn verify_web3_key(
    secret: &TokenSecret,
    address: &str,
    token: &str,
    signature: &str,
    now: Timestamp,
) -> Result<WalletVerdict<Web3Key>, Web3KeyFault> {
    let wallet = EvmAddress::parse(address).ok_or(Web3KeyFault::InvalidWallet)?;
    let (token_id, expires_at) = read_token(secret, token, wallet, now)?;
    let signature = hex_bytes(signature)
        .filter(|signature| signature.len() <= SIGNATURE_BYTES_MAX)
        .ok_or(Web3KeyFault::SignatureUnverifiable)?;
    let key = Web3Key { wallet, token_id, expires_at };
    let digest = eip191_hash_message(token).0;
    match check_signature(digest, wallet, &signature).ok_or(Web3KeyFault::SignatureMismatch)? {
        SignatureCheck::ByKey(_) => Ok(WalletVerdict::Verified(key)),
        SignatureCheck::NeedsContractCheck(check) => {
            Ok(WalletVerdict::NeedsContractCheck(PendingContractCheck::new(check, key)))
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Web3TokenClaims {
    purpose: String,
    /// The site that the token was made for. Not checked: the authentication code shows that it is
    /// ours.
    aud: String,
    /// The only wallet that the token is valid for, if it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sub: Option<String>,
    jti: String,
    iat: i64,
    exp: i64,
}

fn read_token(
    secret: &TokenSecret,
    token: &str,
    wallet: EvmAddress,
    now: Timestamp,
) -> Result<([u8; 16], Timestamp), Web3KeyFault> {
    if TOKEN_BYTES_MAX < token.len() {
        return Err(Web3KeyFault::TokenMalformed);
    }
    let (signed, code) = token.rsplit_once('.').ok_or(Web3KeyFault::TokenMalformed)?;
    let (_, payload) = signed.split_once('.').ok_or(Web3KeyFault::TokenMalformed)?;
    let decode =
        |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Web3KeyFault::TokenMalformed);
    let (payload, code) = (decode(payload)?, decode(code)?);
    // The header is authenticated and never parsed: there is only our algorithm.
    compute_mac(secret, signed).verify_slice(&code).map_err(|_| Web3KeyFault::TokenSignature)?;
    let claims: Web3TokenClaims =
        serde_json::from_slice(&payload).map_err(|_| Web3KeyFault::TokenClaims)?;
    let id = hex_array(&claims.jti).ok_or(Web3KeyFault::TokenClaims)?;
    let is_ours = claims.purpose == PURPOSE && claims.iat <= claims.exp;
    let is_for = claims.sub.is_none_or(|named| EvmAddress::parse(&named) == Some(wallet));
    if !is_ours || !is_for {
        return Err(Web3KeyFault::TokenClaims);
    }
    if claims.exp <= now.seconds() {
        return Err(Web3KeyFault::TokenExpired);
    }
    Ok((id, Timestamp::from_ms(claims.exp.saturating_mul(1000))))
}

fn compute_mac(secret: &TokenSecret, text: &str) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(&secret.0).expect("HMAC takes a key of any length");
    mac.update(text.as_bytes());
    mac
}
