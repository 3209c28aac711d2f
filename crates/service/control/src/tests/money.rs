//! Tests of operations on charges and payments, and of their audit rows.

use ledger::{ChargeLine, WorkCharge};
use ledger_core::{EntryId, HoldPayer, HoldRange, PaymentNetwork};
use money::{Nano, Price, PriceUnits, UnitRate};
use store::claim::{ClaimId, ClaimState, ClaimStep, PaymentClaim, ReceivedPayment, SentPayment};
use store::usage::UsageDetails;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use super::{ControlFixture, credit};
use crate::operation::{ControlOperation, CreditCurrency};
use crate::reply::{AuditLine, ControlReply, PaymentReport};

const PAYMENT: &str = "pay_0707070707070707070707070707070707070707";

impl ControlFixture {
    async fn charge(&self, nanos: u64) -> EntryId {
        let owner = self.service.find_account("default").await.unwrap().id;
        let hold = self
            .service
            .ledger
            .hold(HoldPayer { owner, key: None }, HoldRange::Exactly(Nano::from_units(1).into()))
            .unwrap();
        let rate = UnitRate::at_par(Price::from_nanos(1).unwrap());
        let line = ChargeLine { sku: "x".into(), units: nanos, rate, per: PriceUnits::Million };
        let (details, notes) = (UsageDetails::default(), String::new());
        let charge = WorkCharge { lines: vec![line], model: "m".into(), details, notes };
        self.service.ledger.settle(hold, charge).await.unwrap().charge
    }

    async fn trail(&self) -> Vec<AuditLine> {
        match self.perform(ControlOperation::AuditLedger { after_seq: 0 }).await {
            Ok(ControlReply::Audit(page)) => page.rows,
            other => panic!("the audit trail was expected: {other:?}"),
        }
    }

    async fn payment(&self, operation: ControlOperation) -> PaymentReport {
        match self.perform(operation).await {
            Ok(ControlReply::Payment(payment)) => payment,
            other => panic!("a payment was expected: {other:?}"),
        }
    }

    /// Adds a payment in a given state, as the service leaves it.
    async fn claim(&self, steps: Vec<(ClaimState, ClaimStep)>) {
        let at = self.service.clock.now();
        let claim = PaymentClaim {
            id: ClaimId([7; 20]),
            network: "eip155:8453".into(),
            asset: "0xa".into(),
            payer: "0xb".into(),
            nonce: [7; 32],
            pay_to: "0xc".into(),
            units: 5_000_000,
            payment: "{}".into(),
            state: ClaimState::Verified,
            sent: SentPayment::default(),
            sent_at: None,
            credit: None,
            reason: None,
            created: at,
            changed: at,
        };
        let mut writes = vec![StoreWrite::OpenClaim(claim)];
        for (from, step) in steps {
            writes.push(StoreWrite::AdvanceClaim { claim: ClaimId([7; 20]), from, step, at });
        }
        self.service.store.commit(WriteGroup { writes }).await.unwrap();
    }
}

fn refund(charge: EntryId, amount: Option<&str>, reason: &str) -> ControlOperation {
    let (amount, reason) = (amount.map(str::to_owned), reason.to_owned());
    ControlOperation::RefundCharge { charge: charge.0, amount, reason, is_repeat: false }
}

fn write_off(reason: &str) -> ControlOperation {
    ControlOperation::WriteOffPayment { id: PAYMENT.into(), reason: reason.into() }
}

#[tokio::test]
async fn a_charge_is_refunded_in_part_or_whole_and_once() {
    let scene = ControlFixture::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    let (whole, part) = (scene.charge(400_000).await, scene.charge(400_000).await);
    let reply = scene.perform(refund(whole, None, "it was slow")).await.unwrap();
    let ControlReply::Refunded(report) = reply else { panic!("{reply:?}") };
    assert_eq!(report.returned["USD"], "0.0004");
    assert!(scene.refusal(refund(whole, None, "again")).await.contains("already refunded"));
    scene.perform(refund(part, Some("0.0001"), "a quarter")).await.unwrap();
    assert!(scene.refusal(refund(part, None, "the rest")).await.contains("already refunded"));
    assert_eq!(scene.show("default").await.line.balances["USD"], "4.9997");
    for (amount, reason) in [(Some("0.5"), "too much"), (Some("x"), "no number"), (None, " ")] {
        scene.refusal(refund(scene.charge(10).await, amount, reason)).await;
    }
    let nobody = EntryId(Uuid::from_u128(99));
    scene.refusal(refund(nobody, None, "there is none")).await;
    let trail = scene.trail().await;
    let refunds: Vec<_> = trail.iter().filter(|line| line.action == "ledger refund").collect();
    assert_eq!(refunds.len(), 2, "only what was done: {refunds:?}");
    assert_eq!(refunds[0].subject, whole.0.to_string());
    assert_eq!(refunds[1].detail, "0.0001: a quarter");
}

#[tokio::test]
async fn the_audit_trail_names_who_gave_credit_and_how_much() {
    let scene = ControlFixture::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    scene.perform(credit(2, "3", CreditCurrency::Diem)).await.unwrap();
    let wallet = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B".to_owned();
    let name = "default".to_owned();
    scene
        .perform(ControlOperation::LinkWallet { name: name.clone(), wallet: wallet.clone() })
        .await
        .unwrap();
    scene.refusal(ControlOperation::LinkWallet { name, wallet }).await;
    let trail = scene.trail().await;
    let told: Vec<_> = trail.iter().map(|line| (line.action.as_str(), &line.detail[..5])).collect();
    let expected =
        [("accounts credit", "5 USD"), ("accounts credit", "3 DIE"), ("accounts link", "0xab5")];
    assert_eq!(told, expected, "a repeat and a refusal are none");
    assert!(trail.iter().all(|line| line.by == "user 4294967295"), "{trail:?}");
}

#[tokio::test]
async fn payments_are_listed_shown_and_given_up_while_nothing_runs() {
    let scene = ControlFixture::founded().await;
    let sent = SentPayment { transaction: Some("0xt".into()), ..SentPayment::default() };
    let submit = ClaimStep::Submit(sent);
    scene.claim(vec![(ClaimState::Verified, submit)]).await;
    let list = |state: Option<&str>| ControlOperation::ListPayments {
        state: state.map(str::to_owned),
        limit: 10,
    };
    for (state, count) in [(None, 1), (Some("submitted"), 1), (Some("FAILED"), 0)] {
        let reply = scene.perform(list(state)).await.unwrap();
        let ControlReply::Payments(lines) = reply else { panic!("{reply:?}") };
        assert_eq!(lines.len(), count, "{state:?}");
    }
    assert!(scene.refusal(list(Some("lost"))).await.contains("choose from verified"));
    let shown = scene.payment(ControlOperation::ShowPayment { id: PAYMENT.into() }).await;
    assert_eq!((shown.line.amount_usd.as_str(), shown.transaction.as_deref()), ("5", Some("0xt")));
    let recheck = ControlOperation::RecheckPayment { id: PAYMENT.into() };
    assert!(scene.refusal(recheck).await.contains("only a running service"));
    scene.refusal(write_off("")).await;
    let given_up = scene.payment(write_off("the node is gone")).await;
    assert_eq!(
        (given_up.line.state.as_str(), given_up.reason.as_deref()),
        ("FAILED", Some("written_off"))
    );
    assert!(scene.refusal(write_off("again")).await.contains("nothing to write off"));
    let trail = scene.trail().await;
    assert_eq!(trail.len(), 1);
    assert_eq!(trail[0].detail, "5 USD, SUBMITTED: the node is gone");
    let unknown = ControlOperation::ShowPayment { id: "pay_1".into() };
    assert!(scene.refusal(unknown).await.contains("is not a payment id"));
}

#[tokio::test]
async fn money_that_came_for_a_failed_payment_is_shown_until_it_is_written_off() {
    let scene = ControlFixture::founded().await;
    scene.claim(vec![(ClaimState::Verified, ClaimStep::Fail { reason: "expired".into() })]).await;
    let (claim, at) = (ClaimId([7; 20]), scene.service.clock.now());
    let received = ReceivedPayment { transaction: "0xl".into(), amount: Nano::from_units(5) };
    let note = StoreWrite::NoteReceivedClaim { claim, received, at };
    scene.service.store.commit(WriteGroup::from_write(note)).await.unwrap();
    let shown = scene.payment(ControlOperation::ShowPayment { id: PAYMENT.into() }).await;
    assert!(shown.line.trouble.unwrap().contains("money arrived"));
    let written_off = scene.payment(write_off("sent back by hand")).await;
    assert_eq!(written_off.line.trouble, None);
    assert_eq!(
        crate::ledger_operations::verify_ledger(&*scene.service.store)
            .await
            .unwrap()
            .differences
            .len(),
        0
    );
    assert_eq!(scene.trail().await.len(), 1);
}

#[tokio::test]
async fn a_backup_is_made_where_it_is_wanted_and_replaces_nothing() {
    let scene = ControlFixture::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    let path = scene.folder.path().join("backup");
    let backup = || ControlOperation::Backup { path: path.clone() };
    let reply = scene.perform(backup()).await.unwrap();
    let ControlReply::BackedUp(made) = reply else { panic!("{reply:?}") };
    assert_eq!((made.made_at.as_str(), made.last_transfer), ("2026-11-15T12:00:00.000Z", 1));
    assert!(scene.refusal(backup()).await.contains("is there already"));
    assert!(
        scene
            .refusal(ControlOperation::Backup { path: "relative".into() })
            .await
            .contains("absolute")
    );
    assert_eq!(scene.trail().await.last().unwrap().action, "backup");
}

fn debit(entry: u128, amount: &str, reason: &str) -> ControlOperation {
    ControlOperation::DebitAccount {
        entry: Uuid::from_u128(entry),
        name: "default".to_owned(),
        amount: amount.to_owned(),
        currency: CreditCurrency::Usd,
        reason: reason.to_owned(),
    }
}

#[tokio::test]
async fn given_credit_is_taken_back_as_far_as_it_is_left_and_paid_money_is_not() {
    let scene = ControlFixture::founded().await;
    let owner = scene.service.find_account("default").await.unwrap().id;
    let (cash, paid) = (PaymentNetwork::parse("base").unwrap(), EntryId(Uuid::from_u128(50)));
    scene.service.ledger.top_up(paid, owner, cash, Nano::from_units(4), Vec::new()).await.unwrap();
    assert!(
        scene
            .refusal(debit(1, "1", "nothing was given"))
            .await
            .contains("0 of the granted credit is unspent")
    );
    scene.perform(credit(2, "5", CreditCurrency::Usd)).await.unwrap();
    scene.charge(2_000_000_000).await;
    assert!(
        scene
            .refusal(debit(3, "3.000000001", "too much"))
            .await
            .contains("3 of the granted credit is unspent")
    );
    for _ in 0..2 {
        scene.perform(debit(4, "2", "given by mistake")).await.unwrap();
        assert_eq!(scene.show("default").await.line.balances["USD"], "5");
    }
    assert!(
        scene
            .refusal(debit(5, "1.5", "beyond the rest"))
            .await
            .contains("1 of the granted credit is unspent")
    );
    scene.perform(debit(6, "1", "the rest")).await.unwrap();
    assert!(
        scene
            .refusal(debit(7, "0.1", "paid money"))
            .await
            .contains("0 of the granted credit is unspent")
    );
    assert_eq!(scene.show("default").await.line.balances["USD"], "4");
    let trail = scene.trail().await;
    let debits: Vec<_> = trail.iter().filter(|line| line.action == "accounts debit").collect();
    assert_eq!(debits.len(), 2, "only what was done: {debits:?}");
    assert!(debits[0].detail.starts_with("2 USD, entry"), "{debits:?}");
    assert!(debits[0].detail.ends_with("given by mistake"), "{debits:?}");
    let found =
        crate::ledger_operations::verify_ledger(&*scene.service.store).await.unwrap().differences;
    // The test's top-up has no payment on a chain.
    assert!(found.iter().all(|difference| difference.starts_with("I12")), "{found:?}");
}

#[tokio::test]
async fn what_is_held_is_not_taken_back_and_bad_debits_do_nothing() {
    let scene = ControlFixture::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    let owner = scene.service.find_account("default").await.unwrap().id;
    let want = HoldRange::Exactly(Nano::from_units(2).into());
    let hold = scene.service.ledger.hold(HoldPayer { owner, key: None }, want).unwrap();
    assert!(
        scene.refusal(debit(2, "4", "held")).await.contains("3 of the granted credit is unspent")
    );
    drop(hold);
    for (amount, reason) in [("0", "zero"), ("-1", "below"), ("x", "no number"), ("1", " ")] {
        scene.refusal(debit(3, amount, reason)).await;
    }
    let mut allowance = debit(4, "1", "an allowance");
    if let ControlOperation::DebitAccount { currency, .. } = &mut allowance {
        *currency = CreditCurrency::Diem;
    }
    assert!(scene.refusal(allowance).await.contains("accounts credit"));
    assert_eq!(scene.show("default").await.line.balances["USD"], "5");
}

#[tokio::test]
async fn an_entry_of_another_movement_is_refused() {
    let scene = ControlFixture::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    for other in [credit(1, "6", CreditCurrency::Usd), debit(1, "5", "the same id")] {
        assert!(scene.refusal(other).await.contains("another movement"));
    }
    assert_eq!(scene.show("default").await.line.balances["USD"], "5");
}

#[tokio::test]
async fn a_repeated_refund_tells_what_was_given_back() {
    let scene = ControlFixture::founded().await;
    scene.perform(credit(1, "5", CreditCurrency::Usd)).await.unwrap();
    let charge = scene.charge(400_000).await;
    let first = scene.perform(refund(charge, Some("0.0001"), "slow")).await.unwrap();
    let again = ControlOperation::RefundCharge {
        charge: charge.0,
        amount: Some("0.0001".to_owned()),
        reason: "slow".to_owned(),
        is_repeat: true,
    };
    assert_eq!(scene.perform(again).await.unwrap(), first);
}

#[tokio::test]
async fn unlinking_and_freezing_are_in_the_audit_trail() {
    let scene = ControlFixture::founded().await;
    let (name, wallet) =
        ("default".to_owned(), "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B".to_owned());
    let unlink = ControlOperation::UnlinkWallet { name: name.clone(), wallet: wallet.clone() };
    scene.refusal(unlink.clone()).await;
    scene.perform(ControlOperation::LinkWallet { name: name.clone(), wallet }).await.unwrap();
    scene.perform(unlink).await.unwrap();
    scene.perform(ControlOperation::FreezeAccount { name: name.clone() }).await.unwrap();
    scene.perform(ControlOperation::UnfreezeAccount { name }).await.unwrap();
    let trail = scene.trail().await;
    let actions: Vec<&str> = trail.iter().map(|line| line.action.as_str()).collect();
    let expected = ["accounts link", "accounts unlink", "accounts freeze", "accounts unfreeze"];
    assert_eq!(actions, expected);
    assert!(trail.iter().all(|line| line.subject == "default"), "{trail:?}");
}
