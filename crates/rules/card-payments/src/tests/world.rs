//! A double of Stripe for one payment: its JSON at any time, and the owner's books.

use moment::Timestamp;
use money::Nano;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    CardMovement, CardOrder, CardOrderId, MovementKind, PaidFunds, PaymentFacts, PaymentIntent,
    RefundRequestId, StripeId, StripeList, StripeMode, UsdCents, collect_debt,
};

pub(super) fn order_id(number: u128) -> CardOrderId {
    CardOrderId(Uuid::from_u128(number))
}

pub(super) fn request_id(number: u128) -> RefundRequestId {
    RefundRequestId(Uuid::from_u128(number))
}

pub(super) fn id(text: &str) -> StripeId {
    StripeId::parse(text).unwrap()
}

pub(super) fn cents(cents: u32) -> UsdCents {
    UsdCents::from_cents(cents)
}

pub(super) fn usd(cents: i64) -> Nano {
    Nano::from_nanos(cents * 10_000_000)
}

pub(super) fn now() -> Timestamp {
    Timestamp::from_ms(1_795_000_000_000)
}

pub(super) fn order(amount: u32) -> CardOrder {
    CardOrder { id: order_id(1), amount: cents(amount), mode: StripeMode::Test, intent: None }
}

/// Stripe's record of a payment.
#[derive(Debug, Clone)]
pub(super) struct StripePayment {
    pub(super) intent: Value,
    pub(super) refunds: Vec<Value>,
    pub(super) disputes: Vec<Value>,
    pub(super) warnings: Vec<Value>,
}

impl StripePayment {
    pub(super) fn paid(received: u32) -> StripePayment {
        let intent = json!({
            "id": "pi_1", "object": "payment_intent", "status": "succeeded", "amount": received,
            "amount_received": received, "currency": "usd", "livemode": false,
            "metadata": {"tollgate_order": order_id(1).to_string()},
            "latest_charge": {"id": "ch_1", "object": "charge"}, "customer": "cus_1",
            "payment_method": "pm_1", "last_payment_error": null,
        });
        StripePayment { intent, refunds: vec![], disputes: vec![], warnings: vec![] }
    }

    pub(super) fn refund(&mut self, amount: u32, status: &str) {
        let number = self.refunds.len();
        self.refunds.push(json!({
            "id": format!("re_{number}"), "object": "refund", "amount": amount, "status": status,
            "charge": "ch_1", "payment_intent": self.intent["id"], "metadata": {},
        }));
    }

    /// A dispute with the movements on our balance so far.
    pub(super) fn dispute(&mut self, amount: u32, status: &str, moved: &[i64]) {
        let number = self.disputes.len();
        let moved: Vec<Value> = moved
            .iter()
            .map(|amount| json!({"amount": amount, "fee": 1500, "currency": "usd"}))
            .collect();
        self.disputes.push(json!({
            "id": format!("dp_{}_{number}", self.intent["id"].as_str().unwrap()),
            "object": "dispute", "amount": amount,
            "status": status, "currency": "usd", "charge": "ch_1",
            "payment_intent": self.intent["id"], "balance_transactions": moved,
        }));
    }

    pub(super) fn warn(&mut self) {
        self.warnings.push(json!({
            "id": "issfr_1", "object": "radar.early_fraud_warning", "charge": "ch_1",
            "payment_intent": self.intent["id"], "actionable": true,
        }));
    }

    /// The facts, through the JSON of the API.
    pub(super) fn facts(&self) -> PaymentFacts {
        let list = |items: &[Value]| {
            json!({"object": "list", "data": items, "has_more": false}).to_string().into_bytes()
        };
        PaymentFacts::new(
            PaymentIntent::parse(self.intent.to_string().as_bytes()).unwrap(),
            StripeList::parse_refunds(&list(&self.refunds)).unwrap(),
            StripeList::parse_disputes(&list(&self.disputes)).unwrap(),
            StripeList::parse_warnings(&list(&self.warnings)).unwrap(),
        )
        .unwrap()
    }
}

/// An owner's paid credit and debt, moved as the ledger would.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OwnerBooks {
    pub(super) funds: PaidFunds,
    /// Paid credit that is held for work.
    pub(super) held: Nano,
    /// Cash that the operator has for this owner.
    pub(super) cash: Nano,
}

impl OwnerBooks {
    pub(super) fn apply(&mut self, movement: &CardMovement) {
        assert!(movement.amount.is_positive());
        assert!(!movement.lot.is_negative() && !movement.debt.is_negative());
        assert_eq!(movement.lot.checked_add(movement.debt), Some(movement.amount));
        let add = |one: Nano, other: Nano| one.checked_add(other).unwrap();
        let subtract = |one: Nano, other: Nano| one.checked_sub(other).unwrap();
        let PaidFunds { left, shortfall } = self.funds;
        match movement.kind {
            MovementKind::Credit | MovementKind::GiveBack => {
                self.funds.left = add(left, movement.lot);
                self.funds.shortfall = subtract(shortfall, movement.debt);
                self.cash = add(self.cash, movement.amount);
            }
            MovementKind::TakeBack => {
                self.funds.left = subtract(left, movement.lot);
                self.funds.shortfall = add(shortfall, movement.debt);
                self.cash = subtract(self.cash, movement.amount);
            }
        }
        self.check();
    }

    pub(super) fn collect(&mut self) {
        let amount = collect_debt(self.funds);
        self.funds.left = self.funds.left.checked_sub(amount).unwrap();
        self.funds.shortfall = self.funds.shortfall.checked_sub(amount).unwrap();
        self.check();
    }

    fn check(&self) {
        assert!(!self.funds.left.is_negative(), "a balance is never below zero");
        assert!(!self.funds.shortfall.is_negative());
        assert!(!self.cash.is_negative());
    }
}
