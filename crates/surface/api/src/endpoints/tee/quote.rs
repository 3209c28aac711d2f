//! Checks that an Intel TDX quote is bound to the signing key and the nonce.
//!
//! The quote contains 64 bytes set by the enclave: the address of its signing key, padded with
//! zeros, and the caller's nonce. Intel's signature is not checked here: that needs certificates
//! and revocation lists that change daily. So a proof is never reported as verified, and the caller
//! checks it with tools that it trusts.

use engine::EnclaveAttestation;
use moment::Timestamp;
use sha2::{Digest, Sha256};
use wire::tee::{AddressBinding, EvidenceCheck, NonceBinding, ServerVerification};

const HEADER_BYTES: usize = 48;
/// In version 5, a type and a length precede the body; in version 4, nothing does.
const DESCRIPTOR_BYTES: usize = 6;
const REPORT_DATA_AT: usize = 520;
const REPORT_DATA_BYTES: usize = 64;
const ADDRESS_BYTES: usize = 20;
const NONCE_AT: usize = 32;

const NO_QUOTE: &str = "this is no Intel TDX quote of version 4 or 5";
const TDX_UNCHECKED: &str = "the signature of the quote and its certificates are not checked by \
     this service; check them yourself";
const NVIDIA_UNCHECKED: &str = "the evidence of the GPU is not checked by this service; send it to \
     a verifier of your own";

/// True if all checks passed.
pub(super) fn is_verified(checked: &ServerVerification) -> bool {
    checked.tdx.valid
        && checked.nvidia.as_ref().is_none_or(|it| it.valid)
        && checked.nonce_binding.bound
        && checked.signing_address_binding.bound
}

pub(super) fn check_quote(
    attestation: &EnclaveAttestation,
    nonce: &str,
    now: Timestamp,
) -> ServerVerification {
    let data = decode_hex(&attestation.intel_quote).and_then(|quote| report_data(&quote));
    let method = data.and_then(|data| nonce_method(&data[NONCE_AT..], nonce));
    let is_named =
        data.is_some_and(|data| has_address(&data[..NONCE_AT], &attestation.signing_address));
    let fault = if data.is_some() { TDX_UNCHECKED } else { NO_QUOTE };
    let unchecked = |error| EvidenceCheck { valid: false, error: Some(error) };
    ServerVerification {
        tdx: unchecked(fault),
        nvidia: attestation.nvidia_payload.as_ref().map(|_| unchecked(NVIDIA_UNCHECKED)),
        signing_address_binding: AddressBinding { bound: is_named },
        nonce_binding: NonceBinding { bound: method.is_some(), method },
        verified_at: now.to_string(),
        verification_duration_ms: 0,
    }
}

fn report_data(quote: &[u8]) -> Option<[u8; REPORT_DATA_BYTES]> {
    let descriptor = match u16::from_le_bytes([*quote.first()?, *quote.get(1)?]) {
        4 => 0,
        5 => DESCRIPTOR_BYTES,
        _ => return None,
    };
    let at = HEADER_BYTES + descriptor + REPORT_DATA_AT;
    quote.get(at..at + REPORT_DATA_BYTES)?.try_into().ok()
}

fn nonce_method(held: &[u8], nonce: &str) -> Option<&'static str> {
    let nonce = decode_hex(nonce)?;
    if held == nonce {
        return Some("raw");
    }
    (held == Sha256::digest(&nonce).as_slice()).then_some("sha256")
}

fn has_address(held: &[u8], address: &str) -> bool {
    let Some(address) = decode_hex(address).filter(|it| it.len() == ADDRESS_BYTES) else {
        return false;
    };
    let (named, padding) = held.split_at(ADDRESS_BYTES);
    named == address && padding.iter().all(|byte| *byte == 0)
}

/// Decodes hexadecimal digits, with or without `0x`.
fn decode_hex(text: &str) -> Option<Vec<u8>> {
    hex::decode(text.strip_prefix("0x").unwrap_or(text)).ok()
}

#[cfg(test)]
mod tests;
