//! The signature of Stripe's webhooks: `Stripe-Signature: t=<unix>,v1=<hex>[,v1=…]`.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use moment::Timestamp;
use sha2::Sha256;
use thiserror::Error;

/// The largest body that is verified.
pub const WEBHOOK_BYTES_MAX: usize = 1024 * 1024;
/// Seconds that the time of a signature may differ from ours, in either direction.
pub const WEBHOOK_SKEW_S: u64 = 300;

const HEADER_BYTES_MAX: usize = 4096;
/// While a secret is replaced, Stripe signs with both.
const SIGNATURES_MAX: usize = 16;
const SIGNATURE_BYTES: usize = 32;

/// The secret of a webhook endpoint. The whole text is the key, with its `whsec_`.
#[derive(Clone)]
pub struct WebhookSecret(Hmac<Sha256>);

impl WebhookSecret {
    /// None for an empty text: anybody could sign with it. Without a secret there is no route.
    pub fn parse(text: &str) -> Option<WebhookSecret> {
        let secret = text.trim();
        if secret.is_empty() {
            return None;
        }
        Hmac::new_from_slice(secret.as_bytes()).ok().map(WebhookSecret)
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WebhookRefusal {
    #[error("The webhook's body is too large")]
    TooLarge,
    #[error("The header Stripe-Signature is missing or has another form")]
    Malformed,
    #[error("The webhook was signed at another time: check the clock")]
    OtherTime,
    #[error("The webhook's signature is not Stripe's for this endpoint's secret")]
    Signature,
}

/// Verifies a delivery: one of its signatures of the scheme `v1` must be ours, and recent.
pub fn verify_webhook(
    secret: &WebhookSecret,
    header: &str,
    body: &[u8],
    now: Timestamp,
) -> Result<(), WebhookRefusal> {
    if WEBHOOK_BYTES_MAX < body.len() {
        return Err(WebhookRefusal::TooLarge);
    }
    let signature = SignatureHeader::parse(header).ok_or(WebhookRefusal::Malformed)?;
    let is_ours = signature.codes.iter().any(|code| {
        let mut mac = secret.0.clone();
        mac.update(signature.time_text.as_bytes());
        mac.update(b".");
        mac.update(body);
        mac.verify_slice(code).is_ok()
    });
    if !is_ours {
        return Err(WebhookRefusal::Signature);
    }
    if now.seconds().abs_diff(signature.time_s) <= WEBHOOK_SKEW_S {
        Ok(())
    } else {
        Err(WebhookRefusal::OtherTime)
    }
}

struct SignatureHeader<'a> {
    time_s: i64,
    /// As it was signed.
    time_text: &'a str,
    codes: Vec<[u8; SIGNATURE_BYTES]>,
}

impl<'a> SignatureHeader<'a> {
    /// None without exactly one time and at least one signature of our scheme. Signatures of other
    /// schemes, and ones that are not 32 bytes of hexadecimal digits, are skipped.
    fn parse(header: &'a str) -> Option<SignatureHeader<'a>> {
        if HEADER_BYTES_MAX < header.len() {
            return None;
        }
        let mut time_text = None;
        let mut codes = Vec::new();
        for item in header.split(',') {
            let Some((name, value)) = item.trim().split_once('=') else { continue };
            match name {
                "t" if time_text.is_some() => return None,
                "t" => time_text = Some(value),
                "v1" if codes.len() < SIGNATURES_MAX => codes.extend(decode_code(value)),
                _ => {}
            }
        }
        let time_text = time_text?;
        let is_plain = time_text.bytes().all(|byte| byte.is_ascii_digit());
        let time_s = time_text.parse().ok()?;
        (is_plain && !codes.is_empty()).then_some(SignatureHeader { time_s, time_text, codes })
    }
}

fn decode_code(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * SIGNATURE_BYTES {
        return None;
    }
    let mut code = [0; SIGNATURE_BYTES];
    for (byte, pair) in code.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |it: u8| char::from(it).to_digit(16).and_then(|it| u8::try_from(it).ok());
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(code)
}
