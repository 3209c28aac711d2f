//! The reasons of a facilitator are in the log, and nothing in them changes a log line.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::{Event, Metadata, Subscriber};

use super::nonsense::order;
use super::sightings::claim;
use super::stub::stub;
use crate::{FacilitatorSettler, PaymentSettler, WitnessNodes};

/// Keeps the messages of all events.
#[derive(Clone, Default)]
struct MessageCollector(Arc<Mutex<Vec<String>>>);

impl Visit for MessageCollector {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

impl Subscriber for MessageCollector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The log of one request for a verification and one for a settlement.
async fn log_of(answer: Value) -> Vec<String> {
    let url = stub(Arc::new(move |_, _| answer.clone())).await;
    let settler = FacilitatorSettler::new(&url, &WitnessNodes { evm: None, solana: None }).unwrap();
    let messages = MessageCollector::default();
    let _guard = tracing::subscriber::set_default(messages.clone());
    let _ = settler.verify(&order()).await;
    let _ = settler.send(&claim()).await;
    let said = messages.0.lock().unwrap();
    said.iter().filter(|it| it.starts_with("the facilitator")).cloned().collect()
}

#[tokio::test]
async fn the_reasons_of_a_facilitator_are_logged_without_line_breaks_and_shortened() {
    let reason = format!("no\nfunds\u{1b}[0m {}", "x".repeat(500));
    let answer = json!({
        "isValid": false, "invalidReason": reason, "success": false, "errorReason": reason,
    });
    let kept = format!("no?funds?[0m {}", "x".repeat(128 - 13));
    assert_eq!(
        log_of(answer).await,
        [
            format!("the facilitator declined a payment at /verify: {kept}"),
            format!("the facilitator declined a payment at /settle: {kept}"),
        ]
    );
}

#[tokio::test]
async fn a_missing_reason_and_an_unusable_transaction_are_logged() {
    let answer = json!({ "isValid": false, "success": true, "transaction": "not a hash" });
    assert_eq!(
        log_of(answer).await,
        [
            "the facilitator declined a payment at /verify: no reason given",
            "the facilitator settled a payment without a usable transaction id",
        ]
    );
}
