//! Single paths: pages, webhooks, looks and the poller.

use std::time::Duration;

use card_payments::{OrderMismatch, StripeId, WebhookRefusal};
use stripe_double::{DisputeEnd, DoubleKind, PaymentMethodKind, sign_webhook};

use super::world::{Position, World};
use crate::*;

const CENT: i64 = 10_000_000;

/// Pays a session, and returns the PaymentIntent.
fn pay(world: &World, session: &str) -> String {
    world.lock().double.pay_session(session, PaymentMethodKind::Card).unwrap()
}

fn position(world: &World) -> Position {
    world.lock().position(1)
}

#[tokio::test]
async fn a_webhook_credits_once_however_often_it_comes() {
    let world = World::new();
    let service = world.start(false);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    pay(&world, &session);
    let deliveries = world.lock().double.take_deliveries();
    assert_eq!(deliveries.len(), 2, "both events of the payment");
    for delivery in deliveries.iter().chain(&deliveries) {
        assert!(world.deliver(&service, &delivery.body).await);
        assert_eq!(position(&world), Position { left: 1000 * CENT, debt: 0 });
    }
    assert!(world.lock().looks.is_empty());
}

#[tokio::test]
async fn a_webhook_only_says_what_to_look_at() {
    let world = World::new();
    let service = world.start(false);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    // Signed with our secret, and still not believed: the session is not paid.
    let body = format!(
        r#"{{"id":"evt_1","object":"event","type":"checkout.session.completed","livemode":false,
        "data":{{"object":{{"id":"{session}","object":"checkout.session","payment_status":"paid",
        "status":"complete","amount_total":1000000}}}}}}"#
    );
    assert!(world.deliver(&service, &body).await);
    assert_eq!(position(&world), Position::default());
    let body = body.replace("\"livemode\":false", "\"livemode\":true");
    let signature = sign_webhook("whsec_test", world.lock().now.seconds(), body.as_bytes());
    let refused = service.receive_webhook(&signature, body.as_bytes()).await;
    assert_eq!(refused, Err(WebhookFault::OtherMode));
    let forged = sign_webhook("whsec_other", world.lock().now.seconds(), body.as_bytes());
    let refused = service.receive_webhook(&forged, body.as_bytes()).await;
    assert_eq!(refused, Err(WebhookFault::Refused(WebhookRefusal::Signature)));
}

#[tokio::test]
async fn the_poller_finds_what_webhooks_missed() {
    let world = World::new();
    let service = world.start(false);
    service.poll().await.unwrap();
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    let intent = pay(&world, &session);
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 1000 * CENT, debt: 0 });
    world.lock().double.refund(&intent, 400, Default::default()).unwrap();
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 600 * CENT, debt: 0 });
}

#[tokio::test]
async fn a_quiet_round_asks_only_for_events() {
    let world = World::new();
    let service = world.start(false);
    service.poll().await.unwrap();
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    pay(&world, &session);
    service.poll().await.unwrap();
    let before = world.lock().calls;
    assert_eq!(service.poll().await.unwrap(), CardPollSummary::default());
    assert_eq!(world.lock().calls, before + 1, "events of the overlap are not looked at again");
}

#[tokio::test]
async fn a_service_that_was_away_for_months_looks_at_its_payments() {
    let world = World::new();
    let service = world.start(false);
    let mut intents = Vec::new();
    for _ in 0..5 {
        let session = world.checkout(&service, 1, 1000).await.unwrap();
        intents.push(pay(&world, &session));
    }
    service.poll().await.unwrap();
    for intent in &intents {
        world.lock().double.refund(intent, 1000, Default::default()).unwrap();
    }
    world.lock().double.forget_events();
    let later = world.lock().now.plus(Duration::from_secs(40 * 86_400));
    world.lock().now = later;
    world.start(false).poll().await.unwrap();
    assert_eq!(position(&world), Position::default());
}

#[tokio::test]
async fn an_order_that_is_not_paid_ends_with_its_session() {
    let world = World::new();
    let service = world.start(false);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    world.lock().double.expire_session(&session).unwrap();
    service.poll().await.unwrap();
    let state = world.lock().orders.values().next().unwrap().state;
    assert_eq!(state, CardOrderState::Canceled);
    service.poll().await.unwrap();
    let before = world.lock().calls;
    service.poll().await.unwrap();
    assert_eq!(world.lock().calls, before + 1, "only the events");
}

#[tokio::test]
async fn a_bank_debit_is_credited_when_it_arrives() {
    let world = World::new();
    let service = world.start(false);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    let debit = PaymentMethodKind::BankDebit;
    let intent = world.lock().double.pay_session(&session, debit).unwrap();
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position::default());
    let state = world.lock().orders.values().next().unwrap().state;
    assert_eq!(state, CardOrderState::Processing);
    world.lock().double.finish_debit(&intent, true).unwrap();
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 1000 * CENT, debt: 0 });
}

#[tokio::test]
async fn tax_on_top_is_not_credited() {
    let world = World::new();
    let service = world.start(true);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    let intent = pay(&world, &session);
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 1000 * CENT, debt: 0 });
    world.lock().double.refund(&intent, 1190, Default::default()).unwrap();
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position::default());
}

#[tokio::test]
async fn a_dispute_takes_back_and_freezes_until_it_is_won() {
    let world = World::new();
    let service = world.start(false);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    let intent = pay(&world, &session);
    service.poll().await.unwrap();
    world.lock().spend(1, 700 * CENT);
    let dispute = world.lock().double.dispute(&intent, 1000, false).unwrap();
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 0, debt: 700 * CENT });
    assert_eq!(world.lock().frozen_for(), [dispute.as_str()]);
    world.lock().double.end_dispute(&dispute, DisputeEnd::Won).unwrap();
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 300 * CENT, debt: 0 });
    assert!(world.lock().frozen_for().is_empty());
    let warning = world.lock().double.warn(&intent).unwrap();
    service.poll().await.unwrap();
    assert_eq!(world.lock().frozen_for(), [warning.as_str()]);
}

#[tokio::test]
async fn a_payment_of_less_than_its_order_is_shown_and_not_credited() {
    let world = World::new();
    let service = world.start(false);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    let intent = pay(&world, &session);
    world.lock().double.change_received(&intent, 999);
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position::default());
    let intent = StripeId::parse(&intent).unwrap();
    assert_eq!(world.lock().mismatches.get(&intent), Some(&OrderMismatch::TooLittle));
    assert_eq!(world.lock().orders.values().next().unwrap().state, CardOrderState::Mismatched);
}

#[tokio::test]
async fn amounts_and_return_pages_are_checked_before_stripe_is_asked() {
    let world = World::new();
    let service = world.start(false);
    for cents in [499, 500_001] {
        assert_eq!(world.checkout(&service, 1, cents).await, None);
    }
    let request = CheckoutRequest {
        order: world.lock().fresh_id(),
        owner: ledger_core::OwnerId(uuid::Uuid::from_u128(1)),
        amount: card_payments::UsdCents::from_cents(1000),
        return_url: Some("https://evil.example.com/"),
        email: None,
    };
    let refused = service.create_checkout(&request).await;
    assert!(matches!(refused, Err(CheckoutRefusal::ReturnUrl(_))));
    assert!(world.lock().orders.is_empty());
    assert_eq!(world.lock().calls, 0);
}

#[tokio::test]
async fn a_lost_answer_leaves_an_order_without_a_page() {
    let world = World::new();
    let service = world.start(false);
    world.lock().double.fail_requests(0, 1);
    assert_eq!(world.checkout(&service, 1, 1000).await, None);
    let row = world.lock().orders.values().next().unwrap().clone();
    assert_eq!((row.session, row.state), (None, CardOrderState::Awaiting));
    // If it is paid in spite of that, its events lead to the order.
    let session = world.lock().double.ids_of(DoubleKind::Session).remove(0);
    service.poll().await.unwrap();
    pay(&world, &session);
    service.poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 1000 * CENT, debt: 0 });
}

#[tokio::test]
async fn a_look_that_fails_stays_stored() {
    let world = World::new();
    let service = world.start(false);
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    pay(&world, &session);
    let delivery = world.lock().double.take_deliveries().remove(0);
    world.lock().double.fail_requests(100, 0);
    assert!(world.deliver(&service, &delivery.body).await, "acknowledged: it is stored");
    assert_eq!(world.lock().looks.len(), 1);
    assert_eq!(position(&world), Position::default());
    world.lock().double.fail_requests(0, 0);
    world.start(false).poll().await.unwrap();
    assert_eq!(position(&world), Position { left: 1000 * CENT, debt: 0 });
}
