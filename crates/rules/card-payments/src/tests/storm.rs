//! A storm of deliveries: whatever arrives, repeated, shuffled, late or not at all, the books end
//! where an independent computation from the facts has them.

use std::collections::BTreeMap;

use money::Nano;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::world::{OwnerBooks, OwnerPosition, StripePayment, cents, id, order_id, usd};
use crate::*;

/// Payments of one owner.
const PAYMENTS: usize = 3;

/// An event of the test, at Stripe or here.
#[derive(Debug, Clone, Copy)]
enum StormStep {
    Refund {
        payment: usize,
        amount: u32,
        is_pending: bool,
    },
    FailRefund {
        payment: usize,
        index: usize,
    },
    Dispute {
        payment: usize,
        amount: u32,
    },
    Inquire {
        payment: usize,
    },
    EndDispute {
        payment: usize,
        index: usize,
        is_won: bool,
    },
    Warn {
        payment: usize,
    },
    /// A delivery: somebody looks at the payment, and writes at once.
    Look {
        payment: usize,
    },
    /// A look that has read the row and asked Stripe, and writes later, or never.
    BeginLook {
        payment: usize,
    },
    EndLook {
        index: usize,
    },
    Spend {
        amount: u32,
    },
    Hold {
        amount: u32,
    },
    EndHold {
        spends: bool,
    },
}

fn any_step() -> impl Strategy<Value = StormStep> {
    let payment = || 0..PAYMENTS;
    prop_oneof![
        2 => (payment(), 1_u32..1500, any::<bool>())
            .prop_map(|(payment, amount, is_pending)| StormStep::Refund { payment, amount, is_pending }),
        1 => (payment(), 0_usize..4).prop_map(|(payment, index)| StormStep::FailRefund { payment, index }),
        2 => (payment(), 1_u32..1500).prop_map(|(payment, amount)| StormStep::Dispute { payment, amount }),
        1 => payment().prop_map(|payment| StormStep::Inquire { payment }),
        2 => (payment(), 0_usize..4, any::<bool>())
            .prop_map(|(payment, index, is_won)| StormStep::EndDispute { payment, index, is_won }),
        1 => payment().prop_map(|payment| StormStep::Warn { payment }),
        5 => payment().prop_map(|payment| StormStep::Look { payment }),
        2 => payment().prop_map(|payment| StormStep::BeginLook { payment }),
        2 => (0_usize..4).prop_map(|index| StormStep::EndLook { index }),
        3 => (1_u32..900).prop_map(|amount| StormStep::Spend { amount }),
        1 => (1_u32..900).prop_map(|amount| StormStep::Hold { amount }),
        1 => any::<bool>().prop_map(|spends| StormStep::EndHold { spends }),
    ]
}

/// A look between its question and its write.
struct PendingLook {
    payment: usize,
    books: PaymentBooks,
    facts: PaymentFacts,
}

struct Storm {
    stripe: Vec<StripePayment>,
    rows: Vec<PaymentBooks>,
    freezes: BTreeMap<StripeId, FreezeState>,
    owner: OwnerBooks,
    spent: Nano,
    pending: Vec<PendingLook>,
    journal: Vec<ledger_core::EntryId>,
}

fn order_of(payment: usize) -> CardOrder {
    let number = u128::try_from(payment).unwrap();
    CardOrder { id: order_id(number), amount: cents(1000), mode: StripeMode::Test, intent: None }
}

/// With tax on top for the last one.
fn received(payment: usize) -> u32 {
    if payment == PAYMENTS - 1 { 1190 } else { 1000 }
}

impl Storm {
    fn new() -> Storm {
        let stripe = (0..PAYMENTS).map(|payment| {
            let mut paid = StripePayment::paid(received(payment));
            paid.intent["id"] = json!(format!("pi_{payment}"));
            paid.intent["metadata"]["tollgate_order"] = json!(order_of(payment).id.to_string());
            paid
        });
        Storm {
            stripe: stripe.collect(),
            rows: vec![PaymentBooks::default(); PAYMENTS],
            freezes: BTreeMap::new(),
            owner: OwnerBooks::new(),
            spent: Nano::ZERO,
            pending: vec![],
            journal: vec![],
        }
    }

    fn begin_look(&self, payment: usize) -> PendingLook {
        PendingLook { payment, books: self.rows[payment], facts: self.stripe[payment].facts() }
    }

    /// Writes what follows from a look, unless the row has moved on.
    fn end_look(&mut self, look: &PendingLook) {
        if self.rows[look.payment] != look.books {
            return;
        }
        let standing = judge_payment(&order_of(look.payment), &look.facts, &[]);
        let intent = &look.facts.intent().id;
        let movement = decide_movement(intent, look.books, &standing);
        if let Some(movement) = movement {
            assert!(!self.journal.contains(&movement.entry), "an entry is written once");
            self.journal.push(movement.entry);
            self.owner.apply(&movement);
            self.rows[look.payment] = movement.books;
        }
        let rows: Vec<FreezeRow> = self
            .freezes
            .iter()
            .map(|(cause, state)| FreezeRow { cause: cause.clone(), state: *state })
            .collect();
        for step in decide_freezes(&rows, &look.facts) {
            match step {
                FreezeStep::Freeze(cause) => self.freezes.insert(cause, FreezeState::Active),
                FreezeStep::EndByWin(cause) => self.freezes.insert(cause, FreezeState::EndedByWin),
            };
        }
    }

    fn take(&mut self, step: StormStep) {
        match step {
            StormStep::Refund { payment, amount, is_pending } => {
                let status = if is_pending { "pending" } else { "succeeded" };
                self.stripe[payment].refund(amount, status);
            }
            StormStep::FailRefund { payment, index } => {
                if let Some(refund) = self.stripe[payment].refunds.get_mut(index) {
                    refund["status"] = json!("failed");
                }
            }
            StormStep::Dispute { payment, amount } => {
                self.stripe[payment].dispute(amount, "needs_response", &[-i64::from(amount)]);
            }
            StormStep::Inquire { payment } => {
                self.stripe[payment].dispute(1000, "warning_under_review", &[]);
            }
            StormStep::EndDispute { payment, index, is_won } => {
                self.end_dispute(payment, index, is_won)
            }
            StormStep::Warn { payment } => {
                if self.stripe[payment].warnings.is_empty() {
                    self.stripe[payment].warn();
                    self.stripe[payment].warnings[0]["id"] = json!(format!("issfr_{payment}"));
                }
            }
            StormStep::Look { payment } => {
                let look = self.begin_look(payment);
                self.end_look(&look);
            }
            StormStep::BeginLook { payment } => self.pending.push(self.begin_look(payment)),
            StormStep::EndLook { index } => {
                if index < self.pending.len() {
                    let look = self.pending.remove(index);
                    self.end_look(&look);
                }
            }
            StormStep::Spend { amount } => {
                let amount = self.owner.spend(usd(amount.into()));
                self.spent = self.spent.checked_add(amount).unwrap();
            }
            StormStep::Hold { amount } => self.owner.hold(usd(amount.into())),
            StormStep::EndHold { spends } => self.end_hold(spends),
        }
    }

    fn end_dispute(&mut self, payment: usize, index: usize, is_won: bool) {
        let Some(dispute) = self.stripe[payment].disputes.get_mut(index) else { return };
        if dispute["status"] != "needs_response" {
            return;
        }
        dispute["status"] = json!(if is_won { "won" } else { "lost" });
        if is_won {
            let back = json!({"amount": dispute["amount"], "currency": "usd"});
            dispute["balance_transactions"].as_array_mut().unwrap().push(back);
        }
    }

    fn end_hold(&mut self, spends: bool) {
        let spent = self.owner.end_hold(spends);
        self.spent = self.spent.checked_add(spent).unwrap();
    }

    /// The poller at the end: holds are over, and each payment is looked at.
    fn poll(&mut self) {
        self.end_hold(false);
        for payment in 0..PAYMENTS {
            let look = self.begin_look(payment);
            self.end_look(&look);
        }
        self.owner.collect();
    }

    /// The credit of all payments in nanos, from the facts and by another way of counting: what was
    /// kept, rounded up, instead of what was taken, rounded down.
    fn count_credit(&self) -> i64 {
        let mut sum = 0;
        for (payment, stripe) in self.stripe.iter().enumerate() {
            let mut kept = i64::from(received(payment));
            for refund in &stripe.refunds {
                if refund["status"] != "failed" {
                    kept -= refund["amount"].as_i64().unwrap();
                }
            }
            for dispute in &stripe.disputes {
                if dispute["status"] == "needs_response" || dispute["status"] == "lost" {
                    kept -= dispute["amount"].as_i64().unwrap();
                }
            }
            let part = i128::from(kept.max(0)) * 10_000_000_000;
            let whole = i128::from(received(payment));
            sum += i64::try_from((part + whole - 1) / whole).unwrap();
        }
        sum
    }

    fn count_causes(&self) -> Vec<String> {
        let mut causes = vec![];
        for stripe in &self.stripe {
            for dispute in &stripe.disputes {
                if dispute["status"] == "needs_response" || dispute["status"] == "lost" {
                    causes.push(dispute["id"].as_str().unwrap().to_owned());
                }
            }
            causes.extend(stripe.warnings.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        }
        causes.sort();
        causes
    }

    fn frozen_for(&self) -> Vec<String> {
        let active = self.freezes.iter().filter(|(_, state)| **state == FreezeState::Active);
        active.map(|(cause, _)| cause.to_string()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_storm_ends_with_the_books_of_the_facts(steps in vec(any_step(), 0..60)) {
        let mut storm = Storm::new();
        for step in steps {
            storm.take(step);
        }
        storm.poll();
        let credit = storm.count_credit();
        let position = credit - storm.spent.nanos();
        let OwnerPosition { left, debt, cash } = storm.owner.position();
        prop_assert_eq!(left.nanos(), position.max(0), "what is left");
        prop_assert_eq!(debt.nanos(), (-position).max(0), "what is owed");
        prop_assert_eq!(cash, i128::from(credit), "cash in is what was kept");
        prop_assert_eq!(storm.frozen_for(), storm.count_causes());
        let before = storm.owner.position();
        storm.poll();
        prop_assert_eq!(storm.owner.position(), before, "a second poll moves nothing");
    }

    #[test]
    fn deliveries_in_any_order_end_in_the_same_state(
        facts in vec(any_step(), 0..30),
        deliveries in vec(0_usize..PAYMENTS, 0..30).prop_shuffle(),
        other_deliveries in vec(0_usize..PAYMENTS, 0..30),
    ) {
        // The same facts; deliveries between them, at other times, of other payments, or none.
        let is_fact = |step: &&StormStep| !matches!(
            step,
            StormStep::Look { .. } | StormStep::BeginLook { .. } | StormStep::EndLook { .. }
                | StormStep::Spend { .. } | StormStep::Hold { .. } | StormStep::EndHold { .. }
        );
        let facts: Vec<StormStep> = facts.iter().filter(is_fact).copied().collect();
        let run = |deliveries: &[usize]| {
            let mut storm = Storm::new();
            for (index, step) in facts.iter().enumerate() {
                storm.take(*step);
                if let Some(payment) = deliveries.get(index) {
                    storm.take(StormStep::Look { payment: *payment });
                }
            }
            storm.poll();
            let nets: Vec<Nano> = storm.rows.iter().map(|row| row.net).collect();
            (storm.owner.position(), nets, storm.frozen_for())
        };
        let first = run(&deliveries);
        prop_assert_eq!(&run(&other_deliveries), &first);
        prop_assert_eq!(&run(&[]), &first, "all deliveries lost, and one poll");
    }
}

#[test]
fn an_answer_that_is_older_than_the_last_movement_moves_nothing() {
    let mut storm = Storm::new();
    let slow = storm.begin_look(0);
    storm.take(StormStep::Look { payment: 0 });
    storm.take(StormStep::Refund { payment: 0, amount: 1000, is_pending: false });
    storm.take(StormStep::Look { payment: 0 });
    let before = storm.owner.position();
    storm.end_look(&slow);
    assert_eq!(
        storm.owner.position(),
        before,
        "the credit of before the refund is not given again"
    );
    assert_eq!(storm.owner.position(), OwnerPosition::default());
    assert_eq!(id("pi_0"), storm.stripe[0].facts().intent().id);
}
