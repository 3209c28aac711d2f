//! API keys for wallets: only a token of ours, signed by the named wallet, makes one.

use alloy_primitives::hex;
use wallet::{TOKEN_LIFETIME_S, TokenSecret, WalletVerdict, mint_token, verify_web3_key};

use super::world::{Payer, now, spoiled, spoiled_scalars};

const SECRET: TokenSecret = TokenSecret([3; 32]);

/// Takes the input as an address, a token and a signature, one per line; missing lines are empty.
pub(crate) fn web3_key(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (address, token, signature) = (line(), line(), line());
    let judged = verify_web3_key(&SECRET, address, token, signature, now());
    assert!(judged.is_err(), "nobody but us makes tokens: {judged:?}");

    let minted = mint_token(&SECRET, "example.com", None, [9; 16], now());
    let judged = verify_web3_key(&SECRET, address, &minted, signature, now());
    assert!(!matches!(judged, Ok(WalletVerdict::Verified(_))), "nobody signed: {judged:?}");

    let payer = Payer::known();
    let (address, signed) = (payer.address().to_string(), payer.sign_text(&minted));
    let judge = |token: &str, signature: &[u8]| {
        let signature = hex::encode_prefixed(signature);
        verify_web3_key(&SECRET, &address, token, &signature, now())
    };
    let Ok(WalletVerdict::Verified(key)) = judge(&minted, &signed) else {
        panic!("the payer's own signature over our token");
    };
    assert_eq!(key.token_id, [9; 16]);
    assert!(key.expires_at.since(now()).as_secs() <= TOKEN_LIFETIME_S);
    let judged = judge(&minted, &spoiled_scalars(&signed, bytes));
    assert!(!matches!(judged, Ok(WalletVerdict::Verified(_))), "a spoiled signature: {judged:?}");
    // A token that is not valid UTF-8 cannot be sent.
    if let Ok(token) = String::from_utf8(spoiled(minted.as_bytes(), bytes)) {
        let judged = judge(&token, &payer.sign_text(&token));
        assert!(judged.is_err(), "a spoiled token: {judged:?}");
    }
    true
}
