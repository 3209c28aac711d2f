//! Signatures of webhooks, as Stripe's SDK makes them (fixtures/record.py).

use std::time::Duration;

use moment::Timestamp;
use serde_json::Value;

use crate::{STRIPE_VERSION, WEBHOOK_BYTES_MAX, WebhookRefusal, WebhookSecret, verify_webhook};

const BODY: &str = r#"{"id":"evt_test_webhook","object":"event","type":"checkout.session.completed","data":{"object":{}}}"#;
const CODE: &str = "5db6156aa3ccbd750dfd51ad3092688654396cbcc5671c0aaabd3a9567639bc8";
const TIME_S: i64 = 1_492_774_577;

fn secret() -> WebhookSecret {
    WebhookSecret::parse("whsec_test_secret").unwrap()
}

fn verify(header: &str) -> Result<(), WebhookRefusal> {
    verify_webhook(&secret(), header, BODY.as_bytes(), Timestamp::from_ms(TIME_S * 1000))
}

#[test]
fn signatures_of_stripes_sdk_are_accepted() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../fixtures/stripe_sdk.json")).unwrap();
    assert_eq!(recorded["version"], STRIPE_VERSION);
    let signatures = recorded["signatures"].as_array().unwrap();
    assert_eq!(signatures.len(), 4);
    for signature in signatures {
        let text = |field: &str| signature[field].as_str().unwrap();
        let secret = WebhookSecret::parse(text("secret")).unwrap();
        let now = Timestamp::from_ms(signature["time"].as_i64().unwrap() * 1000);
        let body = text("body").as_bytes();
        assert_eq!(verify_webhook(&secret, text("header"), body, now), Ok(()));
        let longer = [body, b" "].concat();
        let judged = verify_webhook(&secret, text("header"), &longer, now);
        assert_eq!(judged, Err(WebhookRefusal::Signature));
        let other = WebhookSecret::parse("whsec_other").unwrap();
        let judged = verify_webhook(&other, text("header"), body, now);
        assert_eq!(judged, Err(WebhookRefusal::Signature));
    }
}

#[test]
fn a_signature_is_valid_for_five_minutes_in_both_directions() {
    let header = format!("t={TIME_S},v1={CODE}");
    let at = |s: i64| {
        let now = Timestamp::from_ms((TIME_S + s) * 1000);
        verify_webhook(&secret(), &header, BODY.as_bytes(), now)
    };
    for s in [0, 300, -300] {
        assert_eq!(at(s), Ok(()), "{s}");
    }
    for s in [301, -301, 86_400 * 365, -86_400 * 365] {
        assert_eq!(at(s), Err(WebhookRefusal::OtherTime), "{s}");
    }
    let far = Timestamp::from_ms(i64::MIN).plus(Duration::ZERO);
    let judged = verify_webhook(&secret(), &header, BODY.as_bytes(), far);
    assert_eq!(judged, Err(WebhookRefusal::OtherTime));
}

#[test]
fn one_of_several_signatures_suffices_while_a_secret_is_replaced() {
    let other = "0".repeat(64);
    assert_eq!(verify(&format!("t={TIME_S},v1={other},v1={CODE}")), Ok(()));
    assert_eq!(verify(&format!("t={TIME_S},v1={CODE},v1={other},v0={other}")), Ok(()));
    assert_eq!(verify(&format!("t={TIME_S}, v1={}", CODE.to_uppercase())), Ok(()));
    assert_eq!(verify(&format!("t={TIME_S},v1=zz,v1={CODE}")), Ok(()));
    let many = format!("v1={other},").repeat(16);
    let refused = Err(WebhookRefusal::Signature);
    assert_eq!(verify(&format!("t={TIME_S},{many}v1={CODE}")), refused, "bounded");
}

#[test]
fn headers_without_a_time_or_our_scheme_are_refused() {
    for header in [
        String::new(),
        format!("t={TIME_S}"),
        format!("v1={CODE}"),
        format!("t={TIME_S},v0={CODE}"),
        format!("t=,v1={CODE}"),
        format!("t=now,v1={CODE}"),
        format!("t=-{TIME_S},v1={CODE}"),
        format!("t=+{TIME_S},v1={CODE}"),
        format!("t=99999999999999999999,v1={CODE}"),
        format!("t={TIME_S},t={TIME_S},v1={CODE}"),
        format!("t={TIME_S},v1={}", &CODE[..63]),
        format!("t={TIME_S},v1={CODE}0"),
        format!("t={TIME_S},v1={}é", &CODE[..62]),
        format!("t={TIME_S},v1={CODE},{}", "x".repeat(5000)),
    ] {
        assert_eq!(verify(&header), Err(WebhookRefusal::Malformed), "{header:.80}");
    }
    let padded = format!("t=0{TIME_S},v1={CODE}");
    assert_eq!(verify(&padded), Err(WebhookRefusal::Signature), "the time is signed as text");
}

#[test]
fn an_empty_secret_is_none() {
    for text in ["", " ", "\n\t"] {
        assert!(WebhookSecret::parse(text).is_none(), "anybody could sign with it");
    }
    assert!(!format!("{:?}", secret()).contains("whsec"));
}

#[test]
fn bodies_are_bounded() {
    let body = vec![b' '; WEBHOOK_BYTES_MAX + 1];
    let header = format!("t={TIME_S},v1={CODE}");
    let now = Timestamp::from_ms(TIME_S * 1000);
    let judged = verify_webhook(&secret(), &header, &body, now);
    assert_eq!(judged, Err(WebhookRefusal::TooLarge));
}
