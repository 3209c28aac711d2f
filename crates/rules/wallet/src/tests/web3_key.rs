//! API keys for wallets: the token that is signed, and the signature over it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use moment::Timestamp;
use sha2::Sha256;

use super::world::{Payer, now};
use crate::{
    TOKEN_LIFETIME_S, TokenSecret, WalletVerdict, Web3Key, Web3KeyFault, mint_token,
    verify_web3_key,
};

const SECRET: TokenSecret = TokenSecret([3; 32]);

fn token() -> String {
    mint_token(&SECRET, "example.com", None, [9; 16], now())
}

fn judge(token: &str, now: Timestamp) -> Result<WalletVerdict<Web3Key>, Web3KeyFault> {
    let payer = Payer::new(1);
    let address = payer.address().to_string();
    verify_web3_key(&SECRET, &address, token, &payer.sign_text(token), now)
}

#[track_caller]
fn check(token: &str, expected: &str) {
    assert_eq!(judge(token, now()).unwrap_err().to_string(), expected);
}

#[test]
fn a_signed_token_proves_the_wallet_for_fifteen_minutes() {
    let token = token();
    let Ok(WalletVerdict::Verified(key)) = judge(&token, now()) else {
        panic!("an honest token");
    };
    assert_eq!((key.wallet, key.token_id), (Payer::new(1).address(), [9; 16]));
    let expires_at = now().plus(Duration::from_secs(TOKEN_LIFETIME_S));
    assert_eq!(key.expires_at, expires_at);
    assert!(judge(&token, expires_at.minus(Duration::from_millis(1))).is_ok());
    assert_eq!(judge(&token, expires_at), Err(Web3KeyFault::TokenExpired));
}

#[test]
fn a_token_that_names_a_wallet_is_for_that_one_alone() {
    let named =
        |payer: &Payer| mint_token(&SECRET, "example.com", Some(payer.address()), [9; 16], now());
    assert!(judge(&named(&Payer::new(1)), now()).is_ok());
    check(&named(&Payer::new(2)), "JWT claims are invalid");
}

#[test]
fn a_token_reads_as_a_jwt() {
    let token = token();
    let parts: Vec<_> =
        token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap()).collect();
    assert_eq!(parts[0], br#"{"alg":"HS256","typ":"JWT"}"#);
    assert_eq!(
        String::from_utf8_lossy(&parts[1]),
        r#"{"purpose":"generate_web3_key","aud":"example.com","jti":"0x09090909090909090909090909090909","iat":1794705500,"exp":1794706400}"#
    );
    assert_eq!(parts[2].len(), 32);
}

#[test]
fn tokens_of_others_and_changed_ones_are_refused() {
    check(
        &mint_token(&TokenSecret([4; 32]), "example.com", None, [9; 16], now()),
        "JWT signature is invalid",
    );
    let token = token();
    let (signed, code) = token.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    let without_algorithm = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
    check(&format!("{without_algorithm}.{payload}."), "JWT signature is invalid");
    check(&format!("{without_algorithm}.{payload}.{code}"), "JWT signature is invalid");
    let later = URL_SAFE_NO_PAD.encode(r#"{"purpose":"generate_web3_key","exp":9999999999}"#);
    check(&format!("{header}.{later}.{code}"), "JWT signature is invalid");
    for malformed in ["", "a", "a.b", "..", "a.b.c.d", "é.é.é", &"a.".repeat(600)] {
        let refusal = judge(malformed, now()).unwrap_err();
        let is_refused =
            matches!(refusal, Web3KeyFault::TokenMalformed | Web3KeyFault::TokenSignature);
        assert!(is_refused, "{malformed}");
    }
}

/// A token under our own secret, with claims that we would not make.
fn token_with(claims: &str) -> String {
    let [header, payload] = [r#"{"alg":"HS256","typ":"JWT"}"#, claims];
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
    let mut mac = Hmac::<Sha256>::new_from_slice(&SECRET.0).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

#[test]
fn claims_must_be_those_of_a_key_and_whole() {
    let good = r#"{"purpose":"generate_web3_key","aud":"example.com","jti":"0x09090909090909090909090909090909","iat":1794705500,"exp":1794706400}"#;
    assert_eq!(token_with(good), token());
    for claims in [
        good.replace("generate_web3_key", "sign_in"),
        good.replace("0x0909", "0x09"),
        good.replace("1794705500", "1794706401"),
        good.replace(r#","exp":1794706400"#, ""),
        "[]".to_owned(),
        String::new(),
    ] {
        check(&token_with(&claims), "JWT claims are invalid");
    }
}

#[test]
fn the_signature_must_be_the_wallets_own() {
    let (token, payer) = (token(), Payer::new(1));
    let address = payer.address().to_string();
    let verify = |address: &str, signature: &str| {
        verify_web3_key(&SECRET, address, &token, signature, now())
    };
    let of_another = Payer::new(2).sign_text(&token);
    assert!(matches!(
        verify(&address, &of_another),
        Ok(WalletVerdict::NeedsContractCheck(unconfirmed)) if unconfirmed.check.account == payer.address()
    ));
    let good = payer.sign_text(&token);
    assert_eq!(verify("0x12", &good), Err(Web3KeyFault::InvalidWallet));
    assert_eq!(verify(&address, "0x"), Err(Web3KeyFault::SignatureMismatch));
    assert_eq!(verify(&address, "junk"), Err(Web3KeyFault::SignatureUnverifiable));
}
