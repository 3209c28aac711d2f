//! Single steps of the books.

use money::Nano;
use serde_json::json;

use super::world::{OwnerBooks, StripePayment, id, order, usd};
use crate::*;

struct Scene {
    payment: StripePayment,
    books: PaymentBooks,
    owner: OwnerBooks,
    entries: Vec<ledger_core::EntryId>,
}

impl Scene {
    fn paid(cents: u32) -> Scene {
        let mut scene = Scene {
            payment: StripePayment::paid(cents),
            books: PaymentBooks::default(),
            owner: OwnerBooks::new(),
            entries: vec![],
        };
        scene.look();
        scene
    }

    fn decide(&self) -> Option<CardMovement> {
        let standing = judge_payment(&order(1000), &self.payment.facts(), &[]);
        decide_movement(&id("pi_1"), self.books, &standing)
    }

    fn look(&mut self) -> Option<MovementKind> {
        let movement = self.decide()?;
        self.owner.apply(&movement);
        self.books = movement.books;
        assert!(!self.entries.contains(&movement.entry), "each step has an entry of its own");
        self.entries.push(movement.entry);
        assert_eq!(self.decide(), None, "a second look moves nothing");
        Some(movement.kind)
    }

    fn spend(&mut self, amount: Nano) {
        assert_eq!(self.owner.spend(amount), amount);
    }

    #[track_caller]
    fn expect(&self, left: i64, debt: i64) {
        let position = self.owner.position();
        assert_eq!((position.left, position.debt), (usd(left), usd(debt)));
    }
}

#[test]
fn a_payment_is_credited_once() {
    let mut scene = Scene::paid(1000);
    scene.expect(1000, 0);
    assert_eq!(scene.look(), None);
    assert_eq!(scene.owner.position().cash, usd(1000).nanos().into());
    let again = Scene::paid(1000);
    assert_eq!(again.entries, scene.entries, "the same payment is the same entry");
}

#[test]
fn a_refund_takes_what_is_left_and_the_rest_is_a_debt() {
    let mut scene = Scene::paid(1000);
    scene.spend(usd(700));
    scene.payment.refund(1000, "succeeded");
    assert_eq!(scene.look(), Some(MovementKind::TakeBack));
    scene.expect(0, 700);
    assert_eq!(scene.owner.position().cash, 0);
}

#[test]
fn a_later_payment_repays_the_debt_first() {
    let mut scene = Scene::paid(1000);
    scene.spend(usd(700));
    scene.payment.refund(1000, "succeeded");
    scene.look();
    let standing = judge_payment(&order(1000), &StripePayment::paid(1000).facts(), &[]);
    let books = PaymentBooks::default();
    let second = decide_movement(&id("pi_2"), books, &standing).unwrap();
    assert_ne!(second.entry, scene.entries[0]);
    scene.owner.apply(&second);
    scene.expect(300, 0);
}

#[test]
fn a_failed_refund_and_a_won_dispute_give_back() {
    let mut scene = Scene::paid(1000);
    scene.spend(usd(700));
    scene.payment.refund(400, "succeeded");
    scene.look();
    scene.expect(0, 100);
    scene.payment.refunds[0]["status"] = json!("failed");
    assert_eq!(scene.look(), Some(MovementKind::GiveBack));
    scene.expect(300, 0);
    scene.payment.dispute(1000, "needs_response", &[-1000]);
    assert_eq!(scene.look(), Some(MovementKind::TakeBack));
    scene.expect(0, 700);
    scene.payment.disputes[0]["balance_transactions"] =
        json!([{"amount": -1000, "currency": "usd"}, {"amount": 1000, "currency": "usd"}]);
    scene.payment.disputes[0]["status"] = json!("won");
    assert_eq!(scene.look(), Some(MovementKind::GiveBack));
    scene.expect(300, 0);
    assert_eq!(scene.books.revision, 5);
}

#[test]
fn a_payment_that_is_refunded_before_the_first_look_moves_nothing() {
    let mut scene = Scene::paid(0);
    scene.payment = StripePayment::paid(1000);
    scene.payment.refund(1000, "succeeded");
    assert_eq!(scene.look(), None);
    scene.payment.refunds[0]["status"] = json!("failed");
    assert_eq!(scene.look(), Some(MovementKind::Credit));
    scene.expect(1000, 0);
}

#[test]
fn a_mismatch_after_the_credit_moves_nothing_in_either_direction() {
    let mut scene = Scene::paid(1000);
    for (field, value) in [("currency", json!("eur")), ("status", json!("canceled"))] {
        let kept = scene.payment.clone();
        scene.payment.intent[field] = value;
        assert_eq!(scene.look(), None, "{field}");
        scene.payment = kept;
    }
    scene.expect(1000, 0);
}

#[test]
fn credit_that_was_held_when_its_payment_was_taken_back_repays_the_debt_later() {
    let mut scene = Scene::paid(1000);
    scene.owner.hold(usd(1000));
    scene.payment.refund(1000, "succeeded");
    scene.look();
    scene.expect(0, 1000);
    scene.owner.end_hold(false);
    scene.spend(usd(400));
    scene.expect(600, 1000);
    scene.owner.collect();
    scene.expect(0, 400);
}
