//! Headers made by unmodified clients are decoded and verified.

use moment::Timestamp;
use serde_json::{Value, json};

use super::world::{BASE, header, now, terms, unheader, verdict};
use crate::sign_in::SignInMessage;
use crate::{
    ChainNetwork, SignIn, SignInRules, SolanaCluster, UnverifiedPayment, VerifiedSignIn,
    WalletVerdict, verify_sign_in,
};

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../fixtures/clients.json")).unwrap()
}

pub(super) fn fixture(name: &str) -> String {
    let fixtures = fixtures();
    let text = fixtures[name].as_str().or_else(|| fixtures[name]["header"].as_str());
    text.unwrap().to_owned()
}

pub(super) fn rules() -> SignInRules {
    SignInRules {
        domains: vec!["api.example.com".to_owned()],
        networks: vec![BASE, ChainNetwork::Solana(SolanaCluster::Mainnet)],
    }
}

/// A minute after the clients' sign-ins were issued.
pub(super) fn signing_time() -> Timestamp {
    Timestamp::parse("2026-01-15T10:31:00Z").unwrap()
}

#[track_caller]
fn check_payment(header: &str, expected: &str) {
    assert_eq!(verdict(&terms(), &unheader(header), now()), expected);
}

#[track_caller]
fn check_sign_in(name: &str) -> WalletVerdict<VerifiedSignIn> {
    let sign_in = SignIn::decode(fixture(name).as_bytes()).unwrap();
    verify_sign_in(&rules(), &sign_in, signing_time()).unwrap()
}

const EVM_PAYS: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8 pays 5000000 on eip155:8453";
const SOLANA_PAYS: &str = "J2xccRtuG43drESLYznHhLhQkLTdfepcKYbiQ9BsJVaf pays 5000000 on \
                           solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

#[test]
fn the_reference_clients_payment_on_base_is_verified() {
    check_payment(&fixture("payment_evm"), EVM_PAYS);
}

#[test]
fn the_reference_clients_payment_on_solana_is_verified() {
    check_payment(&fixture("payment_solana"), SOLANA_PAYS);
}

#[test]
fn both_older_shapes_name_the_same_payment_as_the_newer_one() {
    for (name, short_name, expected) in
        [("payment_evm", "base", EVM_PAYS), ("payment_solana", "solana", SOLANA_PAYS)]
    {
        let newer = unheader(&fixture(name));
        let newer_payment = UnverifiedPayment::decode(fixture(name).as_bytes()).unwrap();
        for version in [1, 2] {
            for network in [short_name, newer["accepted"]["network"].as_str().unwrap()] {
                let older = json!({
                    "x402Version": version,
                    "scheme": "exact",
                    "network": network,
                    "payload": newer["payload"],
                });
                check_payment(&header(&older), expected);
                let payment = UnverifiedPayment::decode(header(&older).as_bytes()).unwrap();
                assert_eq!(payment.proof, newer_payment.proof);
            }
        }
    }
}

#[test]
fn base64_may_be_for_urls_and_without_padding() {
    let standard = fixture("payment_evm");
    let for_urls = standard.replace('+', "-").replace('/', "_");
    for header in [standard.trim_end_matches('='), &for_urls, for_urls.trim_end_matches('=')] {
        assert_eq!(
            UnverifiedPayment::decode(header.as_bytes()),
            UnverifiedPayment::decode(standard.as_bytes()),
            "{header}"
        );
    }
}

#[test]
fn a_permit2_payment_is_told_to_sign_an_authorization() {
    let refusal = UnverifiedPayment::decode(fixture("payment_permit2").as_bytes()).unwrap_err();
    assert_eq!(refusal.code(), "INVALID_PAYMENT_FORMAT");
    assert_eq!(
        refusal.to_string(),
        "Invalid payment header: `payload` must hold `signature` and the EIP-3009 \
         `authorization` that it signs"
    );
}

#[test]
fn sign_ins_of_both_forms_and_chains_are_verified() {
    let expected = [
        ("fields_evm", "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"),
        ("fields_solana", "J2xccRtuG43drESLYznHhLhQkLTdfepcKYbiQ9BsJVaf"),
        ("message_evm", "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"),
    ];
    for (name, wallet) in expected {
        let WalletVerdict::Verified(signed_in) = check_sign_in(name) else {
            panic!("{name} should be signed by a key");
        };
        assert_eq!(signed_in.wallet.to_string(), wallet, "{name}");
        assert_eq!(
            signed_in.remember_nonce_until.to_string(),
            "2026-01-15T10:35:30.000Z",
            "{name}"
        );
    }
}

#[test]
fn the_text_rebuilt_from_fields_is_the_text_that_clients_sign() {
    for name in ["fields_evm", "fields_solana"] {
        let text = fixtures()[name]["message"].as_str().unwrap().to_owned();
        let sign_in = SignIn::decode(fixture(name).as_bytes()).unwrap();
        assert_eq!(sign_in.text, text, "{name}");
        assert_eq!(SignInMessage::parse(&text), Some(sign_in.message), "{name}");
    }
}
