//! Our requests are those of Stripe's SDK (fixtures/record.py).

use moment::Timestamp;
use serde_json::Value;
use url::form_urlencoded;
use uuid::Uuid;

use super::world::{cents, id};
use crate::*;

const ORDER: &str = "0192f0c1-2a3b-7c4d-8e5f-60718293a4b5";

fn recorded() -> Value {
    let recorded: Value =
        serde_json::from_str(include_str!("../../fixtures/stripe_sdk.json")).unwrap();
    recorded["calls"].clone()
}

fn pairs(form: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = form_urlencoded::parse(form.as_bytes()).into_owned().collect();
    pairs.sort();
    pairs
}

/// Asserts that a request is the recorded one, apart from the order and escaping of its fields.
#[track_caller]
fn check(name: &str, call: &StripeCall) {
    let recorded = recorded();
    let expected = &recorded[name];
    let method = match call.method {
        StripeMethod::Get => "get",
        StripeMethod::Post => "post",
        StripeMethod::Delete => "delete",
    };
    assert_eq!(expected["method"], method, "{name}");
    let split = |url: &str| {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        (path.to_owned(), pairs(query))
    };
    assert_eq!(split(&call.path), split(expected["url"].as_str().unwrap()), "{name}");
    let form = call.form.as_deref().map(pairs).unwrap_or_default();
    assert_eq!(form, pairs(expected["form"].as_str().unwrap_or_default()), "{name}");
    if call.method == StripeMethod::Post {
        assert_eq!(expected["idempotencyKey"].as_str(), call.idempotency_key.as_deref());
        assert!(call.idempotency_key.as_ref().is_some_and(|key| key.len() <= 255));
    }
}

fn order() -> CardOrderId {
    CardOrderId::parse(ORDER).unwrap()
}

fn page() -> ReturnUrl {
    ReturnUrl::parse("https://api.example.com", "https://api.example.com/#/top-up").unwrap()
}

fn checkout<'a>(page: &'a ReturnUrl, customer: Option<&'a StripeId>) -> CheckoutOrder<'a> {
    CheckoutOrder {
        order: order(),
        amount: cents(2500),
        product: "Credit & more + ü",
        success_url: page,
        cancel_url: page,
        customer,
        email: Some("ada@example.com"),
        options: CheckoutOptions {
            saves_card: true,
            adds_tax: true,
            makes_invoice: true,
            is_managed: false,
        },
    }
}

#[test]
fn requests_that_pay_are_those_of_stripes_sdk() {
    let (page, customer, method) = (page(), id("cus_1"), id("pm_1"));
    let call = StripeCall::create_checkout(&checkout(&page, Some(&customer)));
    check("create_checkout", &call);
    let charge = OffSessionCharge {
        order: order(),
        amount: cents(2500),
        product: "Credit",
        customer: &customer,
        payment_method: &method,
    };
    check("charge_off_session", &StripeCall::charge_off_session(&charge));
    let refund = OpenRefund { id: RefundRequestId::parse(ORDER).unwrap(), payment: cents(700) };
    check("create_refund", &StripeCall::create_refund(&id("pi_1"), &refund));
    let request = Uuid::parse_str(ORDER).unwrap();
    check("create_portal", &StripeCall::create_portal(&customer, &page, request));
    check("cancel_intent", &StripeCall::cancel_intent(&id("pi_1")));
    check("delete_customer", &StripeCall::delete_customer(&customer));
}

#[test]
fn requests_that_read_are_those_of_stripes_sdk() {
    let (intent, since) = (id("pi_1"), Timestamp::from_ms(1_795_000_000_999));
    check("retrieve_session", &StripeCall::retrieve_session(&id("cs_1")));
    check("retrieve_intent", &StripeCall::retrieve_intent(&intent));
    check("retrieve_charge", &StripeCall::retrieve_charge(&id("ch_1")));
    check("retrieve_dispute", &StripeCall::retrieve_dispute(&id("dp_1")));
    check("list_refunds", &StripeCall::list_refunds(&intent, Some(&id("re_1"))));
    check("list_disputes", &StripeCall::list_disputes(&intent, None));
    check("list_warnings", &StripeCall::list_warnings(&intent, None));
    check("list_intents", &StripeCall::list_intents(&id("cus_1"), since, None));
    check("list_events", &StripeCall::list_events(since, None));
}

#[test]
fn a_first_payment_makes_a_customer_and_a_plain_one_keeps_no_card() {
    let page = page();
    let plain = CheckoutOrder { options: CheckoutOptions::default(), ..checkout(&page, None) };
    let form = StripeCall::create_checkout(&plain).form.unwrap();
    let has = |name: &str, value: &str| pairs(&form).contains(&(name.to_owned(), value.to_owned()));
    assert!(has("customer_creation", "always") && has("customer_email", "ada@example.com"));
    assert!(has("adaptive_pricing[enabled]", "false"));
    for absent in ["setup_future_usage", "automatic_tax", "invoice", "managed", "tax_behavior"] {
        assert!(!form.contains(absent), "{absent}");
    }
    let options = CheckoutOptions { is_managed: true, ..CheckoutOptions::default() };
    let managed = StripeCall::create_checkout(&CheckoutOrder { options, ..plain }).form.unwrap();
    assert!(pairs(&managed).contains(&("managed_payments[enabled]".to_owned(), "true".to_owned())));
}

#[test]
fn the_same_order_always_has_the_same_key() {
    let page = page();
    let call = || StripeCall::create_checkout(&checkout(&page, None));
    assert_eq!(call(), call());
    let other = CheckoutOrder { order: CardOrderId(Uuid::nil()), ..checkout(&page, None) };
    assert_ne!(StripeCall::create_checkout(&other).idempotency_key, call().idempotency_key);
}

#[test]
fn return_urls_are_on_our_origin() {
    let parse = |text: &str| ReturnUrl::parse("https://api.example.com/", text);
    for text in ["https://api.example.com/#/top-up", "https://API.example.com:443/x?y=z"] {
        assert!(parse(text).is_ok(), "{text}");
    }
    for text in [
        "https://evil.example.com/",
        "http://api.example.com/",
        "https://api.example.com:8443/",
        "https://api.example.com.evil.example.com/",
        "https://api.example.com@evil.example.com/",
        "https://a@api.example.com/",
        "javascript:alert(1)",
        "data:text/html,x",
    ] {
        assert_eq!(parse(text), Err(ReturnUrlFault::OtherOrigin), "{text}");
    }
    for text in ["", "/#/top-up", "https:\\\\api.example.com", "https://api.example.com/a b"] {
        assert_eq!(parse(text), Err(ReturnUrlFault::Form), "{text}");
    }
    assert!(ReturnUrl::parse("data:x", "data:x").is_err(), "an origin of its own is no origin");
}

#[test]
fn ids_cannot_leave_their_path() {
    for text in ["", "pi_1/../x", "pi?x", "pi_é", "pi 1", &"x".repeat(256)] {
        assert_eq!(StripeId::parse(text), None, "{text}");
    }
}

#[test]
fn modes_follow_from_keys() {
    assert_eq!(StripeMode::of_secret_key("sk_live_x"), Some(StripeMode::Live));
    assert_eq!(StripeMode::of_secret_key("rk_test_x"), Some(StripeMode::Test));
    for text in ["", "sk_live_", "pk_live_x", "whsec_x", "sk_test"] {
        assert_eq!(StripeMode::of_secret_key(text), None, "{text}");
    }
}

#[test]
fn amounts_are_whole_cents() {
    assert_eq!(UsdCents::from_nano(money::Nano::parse("10.05").unwrap()), Some(cents(1005)));
    assert_eq!(UsdCents::from_nano(money::Nano::parse("10.005").unwrap()), None);
    assert_eq!(UsdCents::from_nano(money::Nano::from_nanos(-10_000_000)), None);
    assert_eq!(UsdCents::from_nano(money::Nano::MAX), None);
    assert_eq!(cents(1005).to_string(), "10.05");
    assert_eq!(cents(u32::MAX).to_nano().to_string(), "42949672.95");
}
