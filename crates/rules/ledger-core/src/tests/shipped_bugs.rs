//! Bugs that other gateways shipped, each as a test of ours.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::sim::random::SplitMixRandom;
use crate::*;

fn exactly(nanos: i64) -> HoldRange {
    HoldRange::Exactly(Nano::from_nanos(nanos).into())
}

#[test]
fn parallel_requests_cannot_pass_a_check_before_any_of_them_pays() {
    let mut books = Books::with_usd(100);
    let mut held = Vec::new();
    for _ in 0..1_000 {
        held.extend(books.try_hold(None, exactly(1)));
    }
    assert_eq!(held.len(), 100);
    for hold in held {
        books.settle(hold, 1);
    }
    assert_eq!(books.balance(), "");
}

#[test]
fn parallel_requests_of_a_key_cannot_pass_its_limit_either() {
    let mut books = Books::with_usd(1_000);
    let key = terms(Some(45), None, LimitPeriod::Epoch);
    let held = (0..1_000).filter(|_| books.try_hold(Some(key), exactly(1)).is_ok()).count();
    assert_eq!(held, 45);
}

#[test]
fn a_rich_owner_takes_a_hold_like_any_other() {
    let mut books = Books::with_usd(AMOUNT_MAX.nanos());
    books.hold(7);
    let left = AMOUNT_MAX.nanos() - 7;
    assert_eq!(books.balance(), format!("{left} USD"));
}

#[test]
fn a_long_stream_cannot_settle_below_zero() {
    let mut books = Books::with_usd(10);
    let hold = books.try_hold(
        None,
        HoldRange::UpTo { least: Nano::from_nanos(1).into(), most: AMOUNT_MAX.into() },
    );
    let receipt = books.settle(hold.unwrap(), 60);
    assert_eq!(receipt.remaining.total(), Nano::ZERO);
    assert_eq!(receipt.written_off, Nano::from_nanos(50));
}

#[test]
fn negative_usage_does_not_credit_the_caller() {
    let mut books = Books::with_usd(10);
    let hold = books.hold(5);
    let entry = EntryId(books.id());
    let settle = CreditCommand::Settle { entry, hold, cost: Nano::from_nanos(-50).into() };
    assert_eq!(books.apply(&settle), Err(CommandRejection::InvalidAmount));
    books.release(hold);
    assert_eq!(books.balance(), "10 USD");
}

#[test]
fn an_absurd_usage_does_not_overflow() {
    let mut books = Books::with_usd(10);
    let hold = books.hold(5);
    let entry = EntryId(books.id());
    let settle = CreditCommand::Settle { entry, hold, cost: Nano::MAX.into() };
    assert_eq!(books.apply(&settle), Err(CommandRejection::InvalidAmount));
    assert_eq!(books.ledger.held_amount(hold), Some(Nano::from_nanos(5)));
}

#[test]
fn a_limit_below_what_was_spent_adds_no_credit() {
    let mut books = Books::with_usd(100);
    let hold = books.hold_with(terms(Some(50), None, LimitPeriod::Lifetime), 50);
    books.settle(hold, 50);
    let lowered = terms(Some(10), None, LimitPeriod::Lifetime);
    let payer = HoldPayer { owner: OWNER, key: Some(lowered) };
    assert_eq!(books.ledger.spendable(&payer, books.now), Nano::ZERO);
    assert_eq!(books.balance(), "50 USD");
}

#[test]
fn overlapping_pollers_refund_once() {
    let mut books = Books::with_usd(10);
    let charge = books.charge(8);
    let refunds = (0..5).filter(|_| books.apply(&refund(charge)).is_ok()).count();
    assert_eq!((refunds, books.balance()), (1, "10 USD".to_owned()));
}

#[test]
fn a_failed_job_is_released_or_settled_but_never_both() {
    let mut books = Books::with_usd(10);
    let hold = books.job(8);
    books.settle(hold, 8);
    assert_eq!(books.apply(&CreditCommand::Release { hold }), Err(CommandRejection::NoSuchHold));
    let hold = books.job(2);
    books.release(hold);
    let (entry, amount) = (EntryId(books.id()), Nano::from_nanos(2));
    assert_eq!(
        books.apply(&CreditCommand::Settle { entry, hold, cost: amount.into() }),
        Err(CommandRejection::NoSuchHold)
    );
    assert_eq!(books.balance(), "2 USD");
}

#[test]
fn no_reservation_leaks_whatever_way_a_hold_ends() {
    let mut books = Books::with_usd(1_000);
    let key = terms(Some(1_000), None, LimitPeriod::Epoch);
    for step in 0..100 {
        let hold = books.hold_with(key, 9);
        match step % 3 {
            0 => books.release(hold),
            1 => drop(books.settle(hold, 0)),
            _ => drop(books.settle(hold, 4)),
        }
    }
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Epoch), (33 * 4, 0));
    assert_eq!(books.balance(), format!("{} USD", 1_000 - 33 * 4));
    assert_eq!(books.ledger.open_holds(), 0);
}

#[test]
fn a_payment_sent_twice_is_credited_once() {
    let mut books = Books::new();
    let entry = books.top_up(5);
    let earlier = CommandOutcome::Credited(books.ledger.balances(OWNER, books.now));
    let again = CommandRejection::Duplicate { earlier: Some(Box::new(earlier)) };
    assert_eq!(books.apply(&top_up(entry, 5)), Err(again));
    assert_eq!(books.balance(), "5 USD");
    let network = PaymentNetwork::parse("base").unwrap();
    assert_eq!(books.system(BalanceCurrency::Usd, SystemKind::Cash(network)), -5);
}

#[test]
fn the_key_and_the_owner_are_charged_in_one_group() {
    let mut books = Books::with_usd(10);
    let hold = books.hold_with(terms(Some(10), None, LimitPeriod::Epoch), 5);
    let (entry, amount) = (EntryId(books.id()), Nano::from_nanos(5));
    let settle = CreditCommand::Settle { entry, hold, cost: amount.into() };
    let group = books.ledger.apply(&settle, books.now).unwrap().records;
    assert!(matches!(group[..], [JournalRecord::Transfer(_), JournalRecord::KeySpent { .. }]));
}

#[test]
fn counters_start_from_rows_and_never_add_them_up_again() {
    let mut books = Books::with_usd(100);
    let hold = books.hold_with(terms(Some(50), None, LimitPeriod::Epoch), 30);
    books.settle(hold, 30);
    for _ in 0..3 {
        let snapshot = books.ledger.to_snapshot();
        books.ledger = CreditLedger::from_snapshot(LedgerRules::default(), snapshot).unwrap();
    }
    assert_eq!(books.spent(LimitClass::Usd, LimitPeriod::Epoch), (30, 0));
    assert_eq!(books.balance(), "70 USD");
}

#[test]
fn no_number_and_no_clock_makes_the_ledger_panic() {
    let mut random = SplitMixRandom::new(1);
    let edges = [i64::MIN, i64::MIN + 1, -1, 0, 1, 999, AMOUNT_MAX.nanos(), i64::MAX - 1, i64::MAX];
    let clocks = ["0001-01-01", "1969-12-31", "2026-11-15", "9998-12-31"].map(at);
    let mut books = Books::with_usd(AMOUNT_MAX.nanos());
    let mut hold = books.job(5);
    for _ in 0..5_000 {
        let mut number = || random.pick(&edges).unwrap();
        let [first, second] = [number(), number()].map(Nano::from_nanos);
        let expires_at = Some(moment::Timestamp::from_ms(number()));
        let key = Some(terms(Some(number()), Some(number()), LimitPeriod::Month));
        let (entry, owner) = (EntryId(random.uuid()), OWNER);
        let now = random.pick(&clocks).unwrap();
        let command = match random.below(7) {
            0 => top_up(entry, first.nanos()),
            1 => {
                let currency = BalanceCurrency::ALL[random.below(4)];
                CreditCommand::Grant { entry, owner, currency, amount: first, expires_at }
            }
            2 => {
                let kind = AllowanceKind::ALL[random.below(2)];
                CreditCommand::SetAllowance { entry, owner, kind, amount: first }
            }
            3 => CreditCommand::Settle { entry, hold, cost: first.into() },
            4 => CreditCommand::Sweep { entry },
            _ => {
                hold = HoldId(entry.0);
                let want = HoldRange::UpTo { least: first.into(), most: second.into() };
                let kind = [HoldKind::Request, HoldKind::Job][random.below(2)];
                CreditCommand::Hold { hold, payer: HoldPayer { owner, key }, want, kind }
            }
        };
        books.now = now;
        let _ = books.ledger.apply(&command, now);
        check_ledger(&books.ledger).unwrap();
    }
}
