//! Taking and ending holds.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::*;

fn up_to(least: i64, most: i64) -> HoldRange {
    HoldRange::UpTo { least: Nano::from_nanos(least).into(), most: Nano::from_nanos(most).into() }
}

fn exactly(nanos: i64) -> HoldRange {
    HoldRange::Exactly(Nano::from_nanos(nanos).into())
}

#[test]
fn a_hold_up_to_takes_what_there_is_but_not_less_than_asked() {
    let mut books = Books::with_usd(10);
    let hold = books.try_hold(None, up_to(3, 100)).unwrap();
    assert_eq!(books.ledger.held_amount(hold), Some(Nano::from_nanos(10)));
    books.release(hold);
    let hold = books.try_hold(None, up_to(3, 6)).unwrap();
    assert_eq!(books.ledger.held_amount(hold), Some(Nano::from_nanos(6)));
    let refused = books.try_hold(None, up_to(5, 6)).unwrap_err();
    let (available, wanted) = (Nano::from_nanos(4), Nano::from_nanos(5));
    assert_eq!(refused, CommandRejection::Insufficient { available, wanted });
}

#[test]
fn free_work_takes_a_hold_too() {
    let mut books = Books::new();
    let hold = books.hold(0);
    assert_eq!(books.ledger.open_holds(), 1);
    assert_eq!(books.settle(hold, 0).legs, []);
    assert_eq!(books.journal, []);
}

#[test]
fn amounts_outside_the_range_are_refused() {
    let mut books = Books::with_usd(10);
    let over = AMOUNT_MAX.nanos() + 1;
    for want in [exactly(-1), exactly(over), up_to(-1, 5), up_to(6, 5), up_to(1, over)] {
        assert_eq!(books.try_hold(None, want), Err(CommandRejection::InvalidAmount), "{want:?}");
    }
    for nanos in [0, -1, i64::MIN, over, i64::MAX] {
        let entry = EntryId(books.id());
        assert_eq!(books.apply(&top_up(entry, nanos)), Err(CommandRejection::InvalidAmount));
        let amount = Nano::from_nanos(nanos);
        let currency = BalanceCurrency::Vcu;
        let grant =
            CreditCommand::Grant { entry, owner: OWNER, currency, amount, expires_at: None };
        assert_eq!(books.apply(&grant), Err(CommandRejection::InvalidAmount));
    }
    let entry = EntryId(books.id());
    for nanos in [-1, over] {
        let amount = Nano::from_nanos(nanos);
        let kind = AllowanceKind::DiemDaily;
        let set = CreditCommand::SetAllowance { entry, owner: OWNER, kind, amount };
        assert_eq!(books.apply(&set), Err(CommandRejection::InvalidAmount));
    }
}

#[test]
fn a_grant_must_expire_in_the_future() {
    let mut books = Books::new();
    let (entry, expires_at) = (EntryId(books.id()), Some(books.now));
    let (currency, amount) = (BalanceCurrency::Vcu, Nano::from_nanos(1));
    let grant = CreditCommand::Grant { entry, owner: OWNER, currency, amount, expires_at };
    assert_eq!(books.apply(&grant), Err(CommandRejection::ExpiryPassed));
}

#[test]
fn a_purse_has_bounds() {
    let mut books = Books::new();
    let full = LOT_BALANCE_MAX.nanos() / AMOUNT_MAX.nanos();
    for _ in 0..full {
        books.top_up(AMOUNT_MAX.nanos());
    }
    let entry = EntryId(books.id());
    assert_eq!(books.apply(&top_up(entry, 1)), Err(CommandRejection::BalanceTooLarge));

    let (currency, amount) = (BalanceCurrency::Vcu, Nano::from_nanos(1));
    let mut refused = None;
    for _ in 0..=1000 {
        let (entry, expires_at) = (EntryId(books.id()), Some(at("2027-01-01")));
        let grant = CreditCommand::Grant { entry, owner: OWNER, currency, amount, expires_at };
        refused = books.ledger.apply(&grant, books.now).err();
    }
    assert_eq!(refused, Some(CommandRejection::TooManyLots));
}

#[test]
fn a_released_hold_is_gone() {
    let mut books = Books::with_usd(10);
    let hold = books.hold(10);
    assert_eq!(books.balance(), "");
    assert_eq!(books.ledger.oldest_hold_at(), Some(books.now));
    books.release(hold);
    assert_eq!(books.balance(), "10 USD");
    assert_eq!(books.apply(&CreditCommand::Release { hold }), Err(CommandRejection::NoSuchHold));
    let settle =
        CreditCommand::Settle { entry: EntryId(hold.0), hold, cost: Nano::from_nanos(1).into() };
    assert_eq!(books.apply(&settle), Err(CommandRejection::NoSuchHold));
    assert_eq!((books.ledger.open_holds(), books.ledger.oldest_hold_at()), (0, None));
}

#[test]
fn asking_for_an_open_hold_again_tells_what_it_holds() {
    let mut books = Books::with_usd(10);
    let payer = HoldPayer { owner: OWNER, key: None };
    for kind in [HoldKind::Request, HoldKind::Job] {
        let hold = HoldId(books.id());
        let command = CreditCommand::Hold { hold, payer, want: exactly(4), kind };
        let held = books.apply(&command).unwrap();
        let again = CommandRejection::Duplicate { earlier: Some(Box::new(held)) };
        assert_eq!(books.apply(&command), Err(again));
    }
    assert_eq!(books.balance(), "2 USD");
}

#[test]
fn what_can_be_spent_next_follows_lots_and_limits() {
    let mut books = Books::with_usd(10);
    let free = HoldPayer { owner: OWNER, key: None };
    let limited =
        HoldPayer { owner: OWNER, key: Some(terms(Some(3), Some(0), LimitPeriod::Epoch)) };
    assert_eq!(books.ledger.next_currency(&free, books.now), Some(BalanceCurrency::Usd));
    books.grant(BalanceCurrency::Diem, 5, None);
    assert_eq!(books.ledger.next_currency(&free, books.now), Some(BalanceCurrency::Diem));
    assert_eq!(books.ledger.next_currency(&limited, books.now), Some(BalanceCurrency::Usd));
    assert_eq!(books.ledger.spendable(&free, books.now), Nano::from_nanos(15));
    assert_eq!(books.ledger.spendable(&limited, books.now), Nano::from_nanos(3));
    books.hold(15);
    assert_eq!(books.ledger.next_currency(&free, books.now), None);
    let stranger = HoldPayer { owner: OwnerId(uuid::Uuid::nil()), key: None };
    assert_eq!(books.ledger.next_currency(&stranger, books.now), None);
}
