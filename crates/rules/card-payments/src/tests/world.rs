//! A double of Stripe for one payment: its JSON at any time, and the owner's books.

use ledger_core::{
    BeyondPaid, CreditCommand, CreditLedger, EntryId, HoldId, HoldKind, HoldPayer, HoldRange,
    LedgerRules, OwnerId, PaidFunds, PaymentNetwork, SystemKind, check_ledger,
};
use moment::Timestamp;
use money::Nano;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    CardMovement, CardOrder, CardOrderId, MovementKind, PaymentFacts, PaymentIntent,
    RefundRequestId, StripeId, StripeList, StripeMode, UsdCents,
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

/// An owner's books in a real ledger.
#[derive(Debug, Clone)]
pub(super) struct OwnerBooks {
    ledger: CreditLedger,
    ids: u128,
    held: Option<HoldId>,
}

/// The position of an owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OwnerPosition {
    pub(super) left: Nano,
    pub(super) debt: Nano,
    /// Cash that the operator has for this owner.
    pub(super) cash: i128,
}

const OWNER: OwnerId = OwnerId(Uuid::from_u128(7));

impl OwnerBooks {
    pub(super) fn new() -> OwnerBooks {
        OwnerBooks { ledger: CreditLedger::new(LedgerRules::default()), ids: 1 << 64, held: None }
    }

    /// Moves money as a movement says. A repeated one is refused.
    pub(super) fn apply(&mut self, movement: &CardMovement) {
        let network = PaymentNetwork::parse("stripe").unwrap();
        let (entry, owner, amount) = (movement.entry, OWNER, movement.amount);
        let (given, beyond) = (Nano::ZERO, BeyondPaid::Owe);
        self.run(&match movement.kind {
            MovementKind::Credit => CreditCommand::TopUp { entry, owner, network, amount },
            MovementKind::GiveBack => CreditCommand::Restore { entry, owner, network, amount },
            MovementKind::TakeBack => {
                CreditCommand::Reverse { entry, owner, network, amount, given, beyond }
            }
        });
    }

    pub(super) fn collect(&mut self) {
        let entry = EntryId(self.fresh_id());
        self.run(&CreditCommand::CollectDebt { entry, owner: OWNER, given: Nano::ZERO });
    }

    /// Spends up to `amount`, and returns what was spent.
    pub(super) fn spend(&mut self, amount: Nano) -> Nano {
        let (hold, amount) = self.hold_up_to(amount);
        let entry = EntryId(self.fresh_id());
        self.run(&CreditCommand::Settle { entry, hold, cost: amount.into() });
        amount
    }

    /// Holds up to `amount` besides what is held.
    pub(super) fn hold(&mut self, amount: Nano) {
        if self.held.is_none() {
            self.held = Some(self.hold_up_to(amount).0);
        }
    }

    /// Ends the hold, and returns what was spent of it.
    pub(super) fn end_hold(&mut self, spends: bool) -> Nano {
        let Some(hold) = self.held.take() else { return Nano::ZERO };
        if !spends {
            self.run(&CreditCommand::Release { hold });
            return Nano::ZERO;
        }
        let amount = self.ledger.held_amount(hold).unwrap();
        let entry = EntryId(self.fresh_id());
        self.run(&CreditCommand::Settle { entry, hold, cost: amount.into() });
        amount
    }

    pub(super) fn position(&self) -> OwnerPosition {
        let PaidFunds { left, debt } = self.ledger.paid_funds(OWNER, Nano::ZERO);
        let systems = self.ledger.to_snapshot().systems.into_iter();
        let cash = systems.filter(|row| matches!(row.account.kind, SystemKind::Cash(_)));
        OwnerPosition {
            left,
            debt,
            cash: cash.map(|it| it.columns.debits - it.columns.credits).sum(),
        }
    }

    fn hold_up_to(&mut self, amount: Nano) -> (HoldId, Nano) {
        let hold = HoldId(self.fresh_id());
        let payer = HoldPayer { owner: OWNER, key: None };
        let want = HoldRange::UpTo { least: Nano::ZERO.into(), most: amount.into() };
        self.run(&CreditCommand::Hold { hold, payer, want, kind: HoldKind::Request });
        (hold, self.ledger.held_amount(hold).unwrap())
    }

    fn run(&mut self, command: &CreditCommand) {
        self.ledger.apply(command, now()).unwrap();
        check_ledger(&self.ledger).unwrap();
    }

    fn fresh_id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128(self.ids)
    }
}
