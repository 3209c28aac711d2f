//! Webhooks: only what was signed with the endpoint's secret is accepted.

use card_payments::{EventTarget, StripeEvent, WebhookSecret, verify_webhook};
use hmac::{Hmac, KeyInit, Mac};
use moment::Timestamp;
use sha2::Sha256;

const SECRET: &str = "whsec_seed";
const NOW_S: i64 = 1_795_000_000;

/// Takes the first line of the input as the header and the rest as the body.
pub(crate) fn stripe_webhook(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let header = String::from_utf8_lossy(&bytes[..end]);
    let body = bytes.get(end + 1..).unwrap_or_default();
    let now = Timestamp::from_ms(NOW_S * 1000);
    let Some(secret) = WebhookSecret::parse(SECRET) else {
        panic!("the secret is not empty");
    };
    if verify_webhook(&secret, &header, body, now).is_ok() {
        let time = header.split(',').find_map(|it| it.trim().strip_prefix("t="));
        let code = sign(time.unwrap_or_default(), body);
        assert!(header.to_ascii_lowercase().contains(&code), "nobody but Stripe signs");
    }
    let code = sign(&NOW_S.to_string(), body);
    let own = format!("t={NOW_S},v1={code}");
    assert_eq!(verify_webhook(&secret, &own, body, now), Ok(()));
    let longer = [body, b"x"].concat();
    assert!(verify_webhook(&secret, &own, &longer, now).is_err(), "another body");
    let event = StripeEvent::parse(body);
    event.is_ok_and(|event| event.target != EventTarget::Nothing)
}

fn sign(time: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length");
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}
