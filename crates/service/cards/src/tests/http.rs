//! The client of Stripe's API against the double's server.

use std::sync::Arc;

use card_payments::{CheckoutSession, PaymentIntent, StripeCall, StripeId};
use stripe_double::{DoubleServer, DoubleSettings, PaymentMethodKind};

use super::world::World;
use crate::*;

const NOW_S: i64 = 1_795_000_000;

fn start_server() -> DoubleServer {
    DoubleServer::start("127.0.0.1:0", DoubleSettings::default(), Arc::new(|| NOW_S)).unwrap()
}

#[tokio::test]
async fn a_payment_goes_through_http() {
    let server = start_server();
    let client: Arc<StripeClient> =
        Arc::new(StripeClient::new(&server.url(), "sk_test_double").unwrap());
    let world = World::new();
    let service = world.start_with(client.clone());
    let session = world.checkout(&service, 1, 1000).await.unwrap();
    server.with(|double| double.pay_session(&session, PaymentMethodKind::Card)).unwrap();
    service.poll().await.unwrap();
    assert_eq!(world.lock().position(1).left, 10_000_000_000);
    let call = StripeCall::retrieve_session(&StripeId::parse(&session).unwrap());
    let answer = client.send(&call).await.unwrap();
    let paid = CheckoutSession::parse(&answer.body).unwrap();
    let call = StripeCall::retrieve_intent(&paid.intent.unwrap());
    let answer = client.send(&call).await.unwrap();
    assert_eq!(PaymentIntent::parse(&answer.body).unwrap().amount_received.cents(), 1000);
    let call = StripeCall::delete_customer(&StripeId::parse("cus_none").unwrap());
    assert_eq!(client.send(&call).await.unwrap().status, 404, "a DELETE arrives as one");
}

#[tokio::test]
async fn a_wrong_key_and_an_address_without_a_server_are_told() {
    let server = start_server();
    let call = StripeCall::retrieve_intent(&StripeId::parse("pi_1").unwrap());
    let stranger = StripeClient::new(&server.url(), "sk_test_other").unwrap();
    assert_eq!(stranger.send(&call).await.unwrap().status, 401);
    let nowhere = StripeClient::new("http://127.0.0.1:1", "sk_test_double").unwrap();
    assert!(nowhere.send(&call).await.is_err());
    assert_eq!(StripeClient::new(&server.url(), "a\nb").unwrap_err(), StripeClientFault::Key);
    assert!(StripeClient::new("no address", "sk_test_double").is_err());
}
