//! Sign-ins: the text that is verified is the text that was signed, in either form.

use alloy_primitives::hex;
use serde_json::{Value, json};
use wallet::sign_in::{SIGN_IN_AGE_S_MAX, SIGN_IN_SKEW_S_MAX, SignInMessage};
use wallet::{
    HEADER_BYTES_MAX, SignIn, SignInRefusal, VerifiedSignIn, WalletAddress, WalletVerdict,
    verify_sign_in,
};

use super::world::{Payer, header, rules, signing_time, spoiled_scalars};

const NONCE_BYTES_MAX: usize = 128;

/// Takes the input as the value of a sign-in header, and as its content before base64.
pub(crate) fn sign_in_header(bytes: &[u8]) -> bool {
    let is_verified = [check_header(bytes), check_header(&header(bytes))].contains(&true);
    if let Ok(mut json) = serde_json::from_slice::<Value>(bytes)
        && json.is_object()
    {
        check_signed(&mut json, bytes);
    }
    is_verified
}

/// Takes the input as the text of a sign-in.
pub(crate) fn sign_in_message(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Some(message) = SignInMessage::parse(text) else { return false };
    assert_eq!(message.to_string(), text, "the text is kept byte for byte");
    assert_eq!(SignInMessage::parse(&message.to_string()).as_ref(), Some(&message));
    let payer = Payer::known();
    let json = json!({
        "address": message.address,
        "message": text,
        "signature": hex::encode_prefixed(payer.sign_text(text)),
    });
    let Ok(WalletVerdict::Verified(signed_in)) = judge(&json) else { return false };
    assert_eq!(signed_in.wallet, WalletAddress::Evm(payer.address()));
    check_signed_in(&message, &signed_in);
    true
}

fn check_header(bytes: &[u8]) -> bool {
    let Ok(sign_in) = SignIn::decode(bytes) else { return false };
    assert!(bytes.len() <= HEADER_BYTES_MAX, "a header beyond the bound was looked at");
    assert_eq!(sign_in.message.to_string(), sign_in.text, "the fields are those of the text");
    assert_eq!(SignInMessage::parse(&sign_in.text).as_ref(), Some(&sign_in.message));
    let judged = verify_sign_in(&rules(), &sign_in, signing_time());
    let Ok(WalletVerdict::Verified(signed_in)) = judged else { return false };
    assert_eq!(WalletAddress::parse(&sign_in.address), Some(signed_in.wallet));
    check_signed_in(&sign_in.message, &signed_in);
    true
}

/// Signs the same sign-in with the known payer's key: it is valid if nothing else is wrong, and
/// never with a changed signature.
fn check_signed(json: &mut Value, seed: &[u8]) {
    let Ok(sign_in) = SignIn::decode(&header(json.to_string().as_bytes())) else { return };
    let payer = Payer::known();
    let address = payer.address().to_string();
    let is_message_form = json.get("message").is_some_and(Value::is_string);
    if is_message_form {
        json["message"] = json!(sign_in.text.replacen(&sign_in.address, &address, 1));
    }
    json["address"] = json!(address);
    let Ok(sign_in) = SignIn::decode(&header(json.to_string().as_bytes())) else { return };
    let signature = payer.sign_text(&sign_in.text);
    json["signature"] = json!(hex::encode_prefixed(&signature));
    if let Ok(verdict) = judge(json) {
        let WalletVerdict::Verified(signed_in) = verdict else {
            panic!("the signature of a key needs no contract: {verdict:?}");
        };
        assert_eq!(signed_in.wallet, WalletAddress::Evm(payer.address()));
    }
    json["signature"] = json!(hex::encode_prefixed(spoiled_scalars(&signature, seed)));
    let judged = judge(json);
    assert!(!matches!(judged, Ok(WalletVerdict::Verified(_))), "a spoiled signature: {judged:?}");
}

fn check_signed_in(message: &SignInMessage, signed_in: &VerifiedSignIn) {
    assert_eq!(message.nonce.as_ref(), Some(&signed_in.nonce));
    assert!(8 <= signed_in.nonce.len() && signed_in.nonce.len() <= NONCE_BYTES_MAX);
    assert_eq!(host(&message.domain), "api.example.com");
    assert_eq!(host(&message.uri), "api.example.com");
    let kept_s = signed_in.remember_nonce_until.since(signing_time()).as_secs();
    assert!(kept_s <= SIGN_IN_AGE_S_MAX + 2 * SIGN_IN_SKEW_S_MAX, "kept for {kept_s} s");
    assert!(signing_time() <= signed_in.remember_nonce_until, "it could be used again");
}

/// The host of a domain or a URI, computed independently of the code under test.
fn host(place: &str) -> String {
    let place = place.to_ascii_lowercase();
    let (_, place) = place.split_once("://").unwrap_or(("", &place));
    let end = place.find(['/', '?', '#']).unwrap_or(place.len());
    place[..end]
        .trim_end_matches(|letter: char| letter.is_ascii_digit())
        .trim_end_matches(':')
        .to_owned()
}

fn judge(json: &Value) -> Result<WalletVerdict<VerifiedSignIn>, SignInRefusal> {
    let sign_in = SignIn::decode(&header(json.to_string().as_bytes()))?;
    verify_sign_in(&rules(), &sign_in, signing_time())
}
