//! The state: objects by kind, events, and remembered answers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::API_VERSION;
use crate::request::DoubleAnswer;
use crate::webhook::WebhookDelivery;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleSettings {
    /// The secret key that requests must have.
    pub api_key: String,
    /// Part of every id, so that ids of two runs differ.
    pub id_prefix: String,
    pub is_live: bool,
    /// Tax on top of an amount, where a session asks for it.
    pub tax_percent: i64,
    /// The address of the payment page.
    pub page_url: String,
}

impl Default for DoubleSettings {
    fn default() -> DoubleSettings {
        DoubleSettings {
            api_key: "sk_test_double".to_owned(),
            id_prefix: "d".to_owned(),
            is_live: false,
            tax_percent: 19,
            page_url: "http://127.0.0.1".to_owned(),
        }
    }
}

/// A kind of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DoubleKind {
    Session,
    Intent,
    Refund,
    Dispute,
    Warning,
}

/// Stripe's state in memory.
#[derive(Debug)]
pub struct StripeDouble {
    pub(crate) settings: DoubleSettings,
    pub(crate) sessions: ObjectTable,
    pub(crate) intents: ObjectTable,
    pub(crate) charges: ObjectTable,
    pub(crate) refunds: ObjectTable,
    pub(crate) disputes: ObjectTable,
    pub(crate) warnings: ObjectTable,
    pub(crate) customers: ObjectTable,
    pub(crate) events: ObjectTable,
    pub(crate) answers: BTreeMap<String, KeptAnswer>,
    /// Requests that are carried out and then answered with HTTP 500.
    pub(crate) failing_after: usize,
    /// Requests that are answered with HTTP 500 and not carried out.
    pub(crate) failing_before: usize,
    pub(crate) now_s: i64,
    ids: u64,
    undelivered: Vec<WebhookDelivery>,
}

/// The answer to a request with an idempotency key.
#[derive(Debug)]
pub(crate) struct KeptAnswer {
    /// Method, path and parameters.
    pub(crate) request: String,
    pub(crate) answer: DoubleAnswer,
}

/// Objects of one kind, oldest first.
#[derive(Debug, Default)]
pub(crate) struct ObjectTable {
    items: Vec<Value>,
}

impl ObjectTable {
    pub(crate) fn items(&self) -> &[Value] {
        &self.items
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Value> {
        self.items.iter().find(|item| text(item, "id") == id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Value> {
        self.items.iter_mut().find(|item| text(item, "id") == id)
    }

    pub(crate) fn add(&mut self, item: Value) {
        self.items.push(item);
    }

    pub(crate) fn of_intent<'a>(&'a self, intent: &'a str) -> impl Iterator<Item = &'a Value> {
        self.items.iter().filter(move |item| text(item, "payment_intent") == intent)
    }
}

impl StripeDouble {
    pub fn new(settings: DoubleSettings) -> StripeDouble {
        StripeDouble {
            settings,
            sessions: ObjectTable::default(),
            intents: ObjectTable::default(),
            charges: ObjectTable::default(),
            refunds: ObjectTable::default(),
            disputes: ObjectTable::default(),
            warnings: ObjectTable::default(),
            customers: ObjectTable::default(),
            events: ObjectTable::default(),
            answers: BTreeMap::new(),
            failing_after: 0,
            failing_before: 0,
            now_s: 0,
            ids: 0,
            undelivered: Vec::new(),
        }
    }

    /// Sets the time of what follows.
    pub fn set_time(&mut self, now_s: i64) {
        self.now_s = now_s;
    }

    /// Fails the next requests: `before` of them without effect, then `after` of them with it.
    pub fn fail_requests(&mut self, before: usize, after: usize) {
        self.failing_before = before;
        self.failing_after = after;
    }

    /// Takes the events that were not delivered yet, oldest first.
    pub fn take_deliveries(&mut self) -> Vec<WebhookDelivery> {
        std::mem::take(&mut self.undelivered)
    }

    /// Forgets all events, as Stripe does after 30 days.
    pub fn forget_events(&mut self) {
        self.events = ObjectTable::default();
    }

    /// The ids of all objects of a kind, oldest first.
    pub fn ids_of(&self, kind: DoubleKind) -> Vec<String> {
        let table = match kind {
            DoubleKind::Session => &self.sessions,
            DoubleKind::Intent => &self.intents,
            DoubleKind::Refund => &self.refunds,
            DoubleKind::Dispute => &self.disputes,
            DoubleKind::Warning => &self.warnings,
        };
        table.items().iter().map(|item| text(item, "id").to_owned()).collect()
    }

    /// The amount that is kept of a payment by now, in cents: received, not refunded and not withdrawn.
    pub fn kept_of(&self, intent: &str) -> i64 {
        let Some(found) = self.intents.find(intent) else { return 0 };
        let refunds = self.refunds.of_intent(intent);
        let refunds = refunds.filter(|refund| text(refund, "status") != "failed");
        let refunded: i64 = refunds.map(|refund| integer(refund, "amount")).sum();
        let moved = self.disputes.of_intent(intent).flat_map(|dispute| {
            let moved = dispute.get("balance_transactions").and_then(Value::as_array);
            moved.into_iter().flatten().map(|moved| integer(moved, "amount"))
        });
        integer(found, "amount_received") - refunded + moved.sum::<i64>()
    }

    /// The object with an id, of any kind.
    pub fn object(&self, id: &str) -> Option<&Value> {
        let tables = [
            &self.sessions,
            &self.intents,
            &self.charges,
            &self.refunds,
            &self.disputes,
            &self.warnings,
            &self.customers,
        ];
        tables.into_iter().find_map(|table| table.find(id))
    }

    pub(crate) fn mint_id(&mut self, kind: &str) -> String {
        self.ids += 1;
        format!("{kind}_{}{:06}", self.settings.id_prefix, self.ids)
    }

    /// Adds an event about an object, to be delivered.
    pub(crate) fn emit(&mut self, kind: &str, object: &Value) {
        let id = self.mint_id("evt");
        let event = json!({
            "id": id, "object": "event", "api_version": API_VERSION, "created": self.now_s,
            "data": {"object": object}, "livemode": self.settings.is_live,
            "pending_webhooks": 1, "request": {"id": null, "idempotency_key": null}, "type": kind,
        });
        self.undelivered.push(WebhookDelivery { event: id, body: event.to_string() });
        self.events.add(event);
    }
}

/// A text of an object; empty if it has none.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// An integer of an object; zero if it has none.
pub(crate) fn integer(object: &Value, field: &str) -> i64 {
    object.get(field).and_then(Value::as_i64).unwrap_or_default()
}

/// Sets a field of an object.
pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}
