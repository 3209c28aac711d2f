//! The rules of a sign-in.

use std::time::Duration;

use alloy_primitives::eip191_hash_message;
use moment::Timestamp;

use super::domain::{is_ours, is_uri_ours};
use super::message::{AccountKind, SignInMessage};
use super::payload::SignIn;
use super::refusal::SignInRefusal;
use crate::address::{EvmAddress, SolanaAddress, WalletAddress};
use crate::encoding::{base58_64, base64_bytes, hex_bytes};
use crate::evm::{SignatureCheck, check_signature};
use crate::network::{ChainNetwork, SolanaCluster, parse_chain_id};
use crate::payload::SIGNATURE_BYTES_MAX;
use crate::solana::is_signed_by;
use crate::verdict::{PendingContractCheck, WalletVerdict};

/// The maximum age of a signed message, in seconds.
pub const SIGN_IN_AGE_S_MAX: u64 = 300;
/// Seconds that a client's clock may be ahead of ours.
pub const SIGN_IN_SKEW_S_MAX: u64 = 30;

const NONCE_CHARACTERS_MIN: usize = 8;
const NONCE_CHARACTERS_MAX: usize = 128;

/// The chain of a message without a chain id: Ethereum.
const CHAIN_ID_UNSAID: u64 = 1;

/// The operator's rules for sign-ins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInRules {
    /// Our host names, such as `api.example.com` or `localhost:8080`.
    pub domains: Vec<String>,
    pub networks: Vec<ChainNetwork>,
}

impl SignInRules {
    /// True if a host, possibly with a port, is one of ours.
    pub fn is_our_host(&self, host: &str) -> bool {
        let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
        host.bytes().all(is_host_byte) && is_ours(&self.domains, host)
    }
}

/// A wallet that has signed in, provided that its nonce is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSignIn {
    pub wallet: WalletAddress,
    pub network: ChainNetwork,
    /// Valid once for this wallet.
    pub nonce: String,
    /// From then on the message is refused for its age, and the nonce can be deleted.
    pub remember_nonce_until: Timestamp,
}

/// Verifies a sign-in. The signature comes last, as the only expensive check.
pub fn verify_sign_in(
    rules: &SignInRules,
    sign_in: &SignIn,
    now: Timestamp,
) -> Result<WalletVerdict<VerifiedSignIn>, SignInRefusal> {
    let message = &sign_in.message;
    let wallet = check_wallet(sign_in)?;
    let network = check_network(rules, sign_in, wallet)?;
    if message.version != "1" {
        return Err(SignInRefusal::InvalidMessage);
    }
    let nonce = check_nonce(message)?;
    let is_for_us =
        is_ours(&rules.domains, &message.domain) && is_uri_ours(&rules.domains, &message.uri);
    if !is_for_us {
        return Err(SignInRefusal::DomainMismatch);
    }
    let issued_at = check_times(message, sign_in.timestamp_ms, now)?;
    let lifetime = Duration::from_secs(SIGN_IN_AGE_S_MAX + SIGN_IN_SKEW_S_MAX);
    let signed_in =
        VerifiedSignIn { wallet, network, nonce, remember_nonce_until: issued_at.plus(lifetime) };
    match wallet {
        WalletAddress::Evm(address) => check_evm_signature(address, sign_in, signed_in),
        WalletAddress::Solana(address) => {
            check_solana(address, sign_in)?;
            Ok(WalletVerdict::Verified(signed_in))
        }
    }
}

/// The wallet. The address outside of the message must be the one inside it.
fn check_wallet(sign_in: &SignIn) -> Result<WalletAddress, SignInRefusal> {
    let wallet = WalletAddress::parse(&sign_in.address).ok_or(SignInRefusal::InvalidWallet)?;
    if WalletAddress::parse(&sign_in.message.address) != Some(wallet) {
        return Err(SignInRefusal::AddressMismatch);
    }
    Ok(wallet)
}

/// The network. The chain in the message, the one outside of it and the form of the address must
/// agree.
fn check_network(
    rules: &SignInRules,
    sign_in: &SignIn,
    wallet: WalletAddress,
) -> Result<ChainNetwork, SignInRefusal> {
    let network = parse_network(&sign_in.message)?;
    if sign_in.network.is_some_and(|beside| beside != network) {
        return Err(SignInRefusal::ChainMismatch);
    }
    let fits = matches!(
        (network, wallet, sign_in.message.account_kind),
        (ChainNetwork::Evm { .. }, WalletAddress::Evm(_), AccountKind::Ethereum)
            | (ChainNetwork::Solana(_), WalletAddress::Solana(_), AccountKind::Solana)
    );
    if !fits {
        return Err(SignInRefusal::ChainMismatch);
    }
    if !rules.networks.contains(&network) {
        return Err(SignInRefusal::UnsupportedChain);
    }
    Ok(network)
}

/// The network in the message, which has the chain's reference alone or its full name.
fn parse_network(message: &SignInMessage) -> Result<ChainNetwork, SignInRefusal> {
    let evm = |chain_id: u64| ChainNetwork::Evm { chain_id };
    let Some(written) = &message.chain_id else {
        return Ok(evm(CHAIN_ID_UNSAID));
    };
    let named = match message.account_kind {
        AccountKind::Solana => ChainNetwork::parse_signed(written),
        AccountKind::Ethereum => SolanaCluster::parse(written).map(ChainNetwork::Solana),
    };
    parse_chain_id(written)
        .map(evm)
        .or(named)
        .or_else(|| ChainNetwork::parse(written))
        .ok_or(SignInRefusal::InvalidChainId)
}

fn check_nonce(message: &SignInMessage) -> Result<String, SignInRefusal> {
    let nonce = message.nonce.as_deref().unwrap_or_default();
    if nonce.is_empty() {
        return Err(SignInRefusal::MissingNonce);
    }
    let has_right_length =
        NONCE_CHARACTERS_MIN <= nonce.len() && nonce.len() <= NONCE_CHARACTERS_MAX;
    let is_plain = nonce.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !has_right_length || !is_plain {
        return Err(SignInRefusal::InvalidMessage);
    }
    Ok(nonce.to_owned())
}

/// Returns the time of issue if the message's times allow it to be used now.
fn check_times(
    message: &SignInMessage,
    timestamp_ms: Option<i64>,
    now: Timestamp,
) -> Result<Timestamp, SignInRefusal> {
    let skew_max = Duration::from_secs(SIGN_IN_SKEW_S_MAX);
    let issued_at = parse_time(&message.issued_at)?;
    if now.plus(skew_max) < issued_at {
        return Err(SignInRefusal::FutureTimestamp);
    }
    if Duration::from_secs(SIGN_IN_AGE_S_MAX) < now.since(issued_at) {
        return Err(SignInRefusal::Expired);
    }
    if let Some(expiration_time) = &message.expiration_time
        && parse_time(expiration_time)? <= now
    {
        return Err(SignInRefusal::Expired);
    }
    if let Some(not_before) = &message.not_before
        && now < parse_time(not_before)?
    {
        return Err(SignInRefusal::NotBefore);
    }
    if let Some(timestamp) = timestamp_ms.map(Timestamp::from_ms) {
        let apart = timestamp.since(issued_at).max(issued_at.since(timestamp));
        if skew_max < apart {
            return Err(SignInRefusal::TimestampMismatch);
        }
    }
    Ok(issued_at)
}

/// Parses a timestamp; a bare date is refused.
fn parse_time(text: &str) -> Result<Timestamp, SignInRefusal> {
    let moment = if text.contains(['T', 't']) { Timestamp::parse(text) } else { None };
    moment.ok_or(SignInRefusal::InvalidMessage)
}

fn check_evm_signature(
    address: EvmAddress,
    sign_in: &SignIn,
    signed_in: VerifiedSignIn,
) -> Result<WalletVerdict<VerifiedSignIn>, SignInRefusal> {
    let signature = hex_bytes(&sign_in.signature)
        .filter(|signature| signature.len() <= SIGNATURE_BYTES_MAX)
        .ok_or(SignInRefusal::InvalidSignature)?;
    let digest = eip191_hash_message(&sign_in.text).0;
    match check_signature(digest, address, &signature).ok_or(SignInRefusal::InvalidSignature)? {
        SignatureCheck::ByKey(_) => Ok(WalletVerdict::Verified(signed_in)),
        SignatureCheck::NeedsContractCheck(check) => {
            Ok(WalletVerdict::NeedsContractCheck(PendingContractCheck::new(check, signed_in)))
        }
    }
}

/// Verifies a Solana signature: base58 from Solana's own libraries, base64 from others.
fn check_solana(address: SolanaAddress, sign_in: &SignIn) -> Result<(), SignInRefusal> {
    let written = &sign_in.signature;
    let from_base64 = || base64_bytes(written)?.try_into().ok();
    let signature = base58_64(written).or_else(from_base64);
    let is_signed = signature
        .is_some_and(|signature| is_signed_by(address, sign_in.text.as_bytes(), &signature));
    if is_signed { Ok(()) } else { Err(SignInRefusal::InvalidSignature) }
}
