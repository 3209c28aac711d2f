//! The double keeps Stripe's rules.

use serde_json::{Value, json};

use crate::actions::{DisputeEnd, PaymentMethodKind};
use crate::double::{DoubleSettings, StripeDouble, integer, text};
use crate::random::DoubleRandom;
use crate::request::{DoubleAnswer, DoubleRequest};
use crate::webhook::{DeliveryPlan, WebhookDelivery, sign_webhook};

const CHECKOUT: &str = "mode=payment&client_reference_id=order&metadata[o]=1\
    &payment_intent_data[metadata][o]=1&line_items[0][quantity]=1\
    &line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]=1000\
    &line_items[0][price_data][product_data][name]=Credit&success_url=https%3A%2F%2Fx&cancel_url=y\
    &customer_creation=always";

struct Caller {
    double: StripeDouble,
}

impl Caller {
    fn new() -> Caller {
        Caller { double: StripeDouble::new(DoubleSettings::default()) }
    }

    fn get(&mut self, path: &str) -> DoubleAnswer {
        self.send("GET", path, None, None)
    }

    fn post(&mut self, path: &str, form: &str, key: &str) -> DoubleAnswer {
        self.send("POST", path, Some(form), Some(key))
    }

    fn send(
        &mut self,
        method: &str,
        path: &str,
        form: Option<&str>,
        key: Option<&str>,
    ) -> DoubleAnswer {
        let request = DoubleRequest {
            authorization: Some("Bearer sk_test_double".to_owned()),
            idempotency_key: key.map(str::to_owned),
            ..DoubleRequest::new(method, path, form.map(str::as_bytes))
        };
        self.double.answer(&request)
    }

    /// A session that was paid; returns the PaymentIntent.
    fn pay(&mut self, key: &str) -> String {
        let session = self.post("/v1/checkout/sessions", CHECKOUT, key);
        assert_eq!(session.status, 200, "{session:?}");
        self.double.pay_session(text(&session.body, "id"), PaymentMethodKind::Card).unwrap()
    }

    fn event_kinds(&mut self) -> Vec<String> {
        let deliveries = self.double.take_deliveries().into_iter();
        let kinds = deliveries.map(|it| serde_json::from_str::<Value>(&it.body).unwrap());
        kinds.map(|event| text(&event, "type").to_owned()).collect()
    }
}

#[test]
fn a_paid_session_has_a_succeeded_payment_with_our_metadata() {
    let mut caller = Caller::new();
    let session = caller.post("/v1/checkout/sessions", CHECKOUT, "a").body;
    assert_eq!((text(&session, "status"), text(&session, "payment_status")), ("open", "unpaid"));
    assert_eq!(session["payment_intent"], Value::Null);
    assert_eq!(session.get("_intent_metadata"), None);
    let id = text(&session, "id");
    let intent = caller.double.pay_session(id, PaymentMethodKind::Card).unwrap();
    let paid = caller.get(&format!("/v1/payment_intents/{intent}")).body;
    assert_eq!((text(&paid, "status"), integer(&paid, "amount_received")), ("succeeded", 1000));
    assert_eq!(paid["metadata"], json!({"o": "1"}));
    let session = caller.get(&format!("/v1/checkout/sessions/{id}")).body;
    assert_eq!(
        (text(&session, "status"), text(&session, "payment_intent")),
        ("complete", &*intent)
    );
    assert_eq!(caller.event_kinds(), ["payment_intent.succeeded", "checkout.session.completed"]);
    assert!(caller.double.pay_session(id, PaymentMethodKind::Card).is_err(), "once");
}

#[test]
fn a_bank_debit_arrives_later_or_not_at_all() {
    for (arrives, status, event) in [
        (true, "succeeded", "checkout.session.async_payment_succeeded"),
        (false, "requires_payment_method", "checkout.session.async_payment_failed"),
    ] {
        let mut caller = Caller::new();
        let session = caller.post("/v1/checkout/sessions", CHECKOUT, "a").body;
        let kind = PaymentMethodKind::BankDebit;
        let intent = caller.double.pay_session(text(&session, "id"), kind).unwrap();
        assert_eq!(caller.event_kinds(), ["checkout.session.completed"]);
        let found = caller.get(&format!("/v1/payment_intents/{intent}")).body;
        assert_eq!((text(&found, "status"), caller.double.kept_of(&intent)), ("processing", 0));
        caller.double.finish_debit(&intent, arrives).unwrap();
        let found = caller.get(&format!("/v1/payment_intents/{intent}")).body;
        assert_eq!(text(&found, "status"), status);
        assert_eq!(caller.event_kinds().last().unwrap(), event);
    }
}

#[test]
fn an_idempotency_key_repeats_the_answer_and_refuses_other_parameters() {
    let mut caller = Caller::new();
    let first = caller.post("/v1/checkout/sessions", CHECKOUT, "a");
    let again = caller.post("/v1/checkout/sessions", CHECKOUT, "a");
    assert_eq!((again.is_replayed, &again.body), (true, &first.body));
    let other = caller.post("/v1/checkout/sessions", &CHECKOUT.replace("1000", "900"), "a");
    assert_eq!((other.status, text(&other.body["error"], "type")), (400, "idempotency_error"));
    let long = caller.post("/v1/checkout/sessions", CHECKOUT, &"k".repeat(256));
    assert_eq!(long.status, 400);
}

#[test]
fn a_failure_after_its_effect_is_repeated_and_one_before_it_is_not() {
    let mut caller = Caller::new();
    let intent = caller.pay("a");
    let form = format!("payment_intent={intent}&amount=100");
    caller.double.fail_requests(1, 0);
    assert_eq!(caller.post("/v1/refunds", &form, "r").status, 500);
    assert_eq!(caller.double.kept_of(&intent), 1000);
    caller.double.fail_requests(0, 1);
    assert_eq!(caller.post("/v1/refunds", &form, "r").status, 500);
    assert_eq!(caller.double.kept_of(&intent), 900, "carried out");
    let again = caller.post("/v1/refunds", &form, "r");
    assert_eq!((again.status, again.is_replayed, caller.double.kept_of(&intent)), (500, true, 900));
}

#[test]
fn refunds_disputes_and_their_ends_move_what_is_kept() {
    let mut caller = Caller::new();
    let intent = caller.pay("a");
    let refund = caller.double.refund(&intent, 400, json!({})).unwrap();
    assert!(caller.double.refund(&intent, 601, json!({})).is_err(), "more than is left");
    assert_eq!(caller.double.kept_of(&intent), 600);
    caller.double.fail_refund(&refund).unwrap();
    assert!(caller.double.fail_refund(&refund).is_err());
    assert_eq!(caller.double.kept_of(&intent), 1000);
    let inquiry = caller.double.dispute(&intent, 1000, true).unwrap();
    assert!(caller.double.end_dispute(&inquiry, DisputeEnd::Won).is_err());
    assert_eq!(caller.double.kept_of(&intent), 1000, "an inquiry moves nothing");
    let dispute = caller.double.dispute(&intent, 1000, false).unwrap();
    assert_eq!(caller.double.kept_of(&intent), 0);
    caller.double.end_dispute(&dispute, DisputeEnd::Won).unwrap();
    assert_eq!(caller.double.kept_of(&intent), 1000);
    let lost = caller.double.dispute(&intent, 300, false).unwrap();
    caller.double.end_dispute(&lost, DisputeEnd::Lost).unwrap();
    assert_eq!(caller.double.kept_of(&intent), 700);
    caller.double.warn(&intent).unwrap();
    let kinds = caller.event_kinds();
    for kind in
        ["refund.failed", "charge.dispute.funds_reinstated", "radar.early_fraud_warning.created"]
    {
        assert!(kinds.iter().any(|it| it == kind), "{kind}");
    }
}

#[test]
fn a_kept_card_is_charged_declined_or_must_be_confirmed() {
    let mut caller = Caller::new();
    let intent = caller.pay("a");
    let paid = caller.get(&format!("/v1/payment_intents/{intent}")).body;
    let customer = text(&paid, "customer");
    for (method, status, code) in [
        ("pm_card_visa", 200, ""),
        ("pm_card_declined", 402, "card_declined"),
        ("pm_card_authenticate", 402, "authentication_required"),
    ] {
        let form = format!(
            "amount=500&currency=usd&customer={customer}&payment_method={method}\
             &off_session=true&confirm=true"
        );
        let answer = caller.post("/v1/payment_intents", &form, method);
        assert_eq!((answer.status, text(&answer.body["error"], "code")), (status, code));
    }
    let listed = caller.get(&format!("/v1/payment_intents?customer={customer}")).body;
    assert_eq!(listed["data"].as_array().unwrap().len(), 4);
}

#[test]
fn lists_are_newest_first_and_in_pages() {
    let mut caller = Caller::new();
    let intent = caller.pay("a");
    let refunds: Vec<String> =
        (0..5).map(|_| caller.double.refund(&intent, 10, json!({})).unwrap()).collect();
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/v1/refunds?payment_intent={intent}&limit=2{after}");
        let page = caller.get(&path).body;
        let ids = page["data"].as_array().unwrap().iter().map(|it| text(it, "id").to_owned());
        seen.extend(ids);
        if page["has_more"] == json!(false) {
            break;
        }
        after = format!("&starting_after={}", seen.last().unwrap());
    }
    assert_eq!(seen, refunds.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(caller.get("/v1/refunds?limit=101").status, 400);
    let kinds = "&types[0]=charge.refunded";
    let events = caller.get(&format!("/v1/events?created[gte]=0&limit=100{kinds}")).body;
    assert_eq!(events["data"].as_array().unwrap().len(), 5);
    assert_eq!(caller.get("/v1/events?created[gte]=1").body["data"], json!([]));
}

#[test]
fn wrong_keys_versions_parameters_and_routes_are_refused() {
    let mut caller = Caller::new();
    let request = DoubleRequest::new("GET", "/v1/events", None);
    assert_eq!(caller.double.answer(&request).status, 401);
    let authorization = Some("Bearer sk_test_double".to_owned());
    let version = Some("2020-01-01".to_owned());
    let request = DoubleRequest { authorization, version, ..request };
    assert_eq!(caller.double.answer(&request).status, 400);
    let unknown = caller.post("/v1/checkout/sessions", &format!("{CHECKOUT}&surprise[x]=1"), "a");
    assert_eq!(text(&unknown.body["error"], "code"), "parameter_unknown");
    assert_eq!(caller.get("/v1/payment_intents/pi_none").status, 404);
    assert_eq!(caller.get("/v1/unknown").status, 404);
}

#[test]
fn a_signature_is_that_of_stripes_sdk() {
    let body = br#"{"id":"evt_test_webhook","object":"event","type":"checkout.session.completed","data":{"object":{}}}"#;
    let expected =
        "t=1492774577,v1=5db6156aa3ccbd750dfd51ad3092688654396cbcc5671c0aaabd3a9567639bc8";
    assert_eq!(sign_webhook("whsec_test_secret", 1_492_774_577, body), expected);
}

#[test]
fn deliveries_are_lost_repeated_and_shuffled() {
    let delivery =
        |number: usize| WebhookDelivery { event: number.to_string(), body: String::new() };
    let deliveries: Vec<WebhookDelivery> = (0..200).map(delivery).collect();
    let mut random = DoubleRandom::new(1);
    assert_eq!(DeliveryPlan::default().apply(deliveries.clone(), &mut random), deliveries);
    let plan = DeliveryPlan { lost_percent: 30, repeated_percent: 0, is_shuffled: false };
    let kept = plan.apply(deliveries.clone(), &mut random).len();
    assert!((100..180).contains(&kept), "{kept}");
    let plan = DeliveryPlan { lost_percent: 0, repeated_percent: 50, is_shuffled: true };
    let planned = plan.apply(deliveries.clone(), &mut random);
    assert!((250..350).contains(&planned.len()), "{}", planned.len());
    assert!(deliveries.iter().all(|delivery| planned.contains(delivery)));
}
