//! Tests of quotes that are bound to key and nonce, and of quotes that are not.

use super::*;

const NONCE: &str = "ABababababababababababababababababababababababababababababababab";
const ADDRESS: &str = "0x00112233445566778899aabbccddeeff00112233";

fn quote(version: u8, address: &str, nonce: &[u8]) -> EnclaveAttestation {
    let descriptor = if version == 5 { DESCRIPTOR_BYTES } else { 0 };
    let mut bytes = vec![0; HEADER_BYTES + descriptor + REPORT_DATA_AT];
    bytes[0] = version;
    bytes.extend(decode_hex(address).unwrap());
    bytes.extend([0; 12]);
    bytes.extend(nonce);
    EnclaveAttestation {
        provider: "enclave".to_owned(),
        model: "m".to_owned(),
        signing_address: ADDRESS.to_owned(),
        signing_key: None,
        intel_quote: hex::encode(bytes),
        nvidia_payload: None,
        nonce: None,
        enclaves: 1,
    }
}

#[track_caller]
fn check_bound(attestation: &EnclaveAttestation, address: bool, method: Option<&str>) {
    let now = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
    let checked = check_quote(attestation, NONCE, now);
    assert_eq!(checked.signing_address_binding.bound, address);
    assert_eq!(checked.nonce_binding.bound, method.is_some());
    assert_eq!(checked.nonce_binding.method, method);
}

#[test]
fn a_quote_binds_the_key_and_the_nonce() {
    let nonce = decode_hex(NONCE).unwrap();
    check_bound(&quote(4, ADDRESS, &nonce), true, Some("raw"));
    check_bound(&quote(5, ADDRESS, &nonce), true, Some("raw"));
    check_bound(&quote(4, ADDRESS, &Sha256::digest(&nonce)), true, Some("sha256"));
}

#[test]
fn another_key_or_an_old_nonce_is_not_bound() {
    let nonce = decode_hex(NONCE).unwrap();
    check_bound(
        &quote(4, "0xff112233445566778899aabbccddeeff00112233", &nonce),
        false,
        Some("raw"),
    );
    check_bound(&quote(4, ADDRESS, &[7; 32]), true, None);
}

#[test]
fn what_is_no_quote_binds_nothing() {
    let nonce = decode_hex(NONCE).unwrap();
    check_bound(&quote(3, ADDRESS, &nonce), false, None);
    for text in ["", "0", "zz", "0x", "0400", "é"] {
        let attestation =
            EnclaveAttestation { intel_quote: text.to_owned(), ..quote(4, ADDRESS, &nonce) };
        check_bound(&attestation, false, None);
    }
}
