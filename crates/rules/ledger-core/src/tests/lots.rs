//! The order in which lots pay, and their expiry.

use money::BalanceCurrency::{Bundled, Diem, Usd, Vcu};

use super::books::*;
use crate::*;

#[test]
fn money_is_spent_in_the_order_diem_bundled_vcu_usd() {
    let mut books = Books::with_usd(10);
    books.grant(Vcu, 10, None);
    books.grant(Bundled, 10, None);
    books.grant(Diem, 10, None);
    let hold = books.hold(35);
    assert_eq!(
        show_legs(&books.settle(hold, 35).legs),
        "DIEM 10, BUNDLED_CREDITS 10, VCU 10, USD 5"
    );
    assert_eq!(books.balance(), "5 USD");
}

#[test]
fn the_order_can_be_chosen() {
    let order = SpendOrder::new([Usd, Vcu, Bundled, Diem]).unwrap();
    let mut books = Books::with_rules(LedgerRules { order });
    books.top_up(10);
    books.grant(Diem, 10, None);
    let hold = books.hold(15);
    assert_eq!(show_legs(&books.settle(hold, 15).legs), "USD 10, DIEM 5");
    assert_eq!(SpendOrder::new([Usd, Usd, Bundled, Diem]), None);
}

#[test]
fn within_a_currency_what_expires_first_goes_first() {
    let mut books = Books::new();
    books.grant(Vcu, 10, None);
    books.grant(Vcu, 10, Some("2026-11-20"));
    books.grant(Vcu, 10, Some("2026-11-17"));
    let hold = books.hold(25);
    let receipt = books.settle(hold, 25);
    let expiries: Vec<_> = receipt
        .legs
        .iter()
        .map(|leg| books.ledger.lot(&leg.lot).and_then(|lot| lot.expires_at))
        .collect();
    assert_eq!(expiries, [Some(at("2026-11-17")), Some(at("2026-11-20")), None]);
}

#[test]
fn a_settle_eats_the_legs_in_order_and_returns_the_rest() {
    let mut books = Books::with_usd(10);
    books.grant(Diem, 10, None);
    let hold = books.hold(18);
    assert_eq!(books.balance(), "2 USD");
    assert_eq!(show_legs(&books.settle(hold, 13).legs), "DIEM 10, USD 3");
    assert_eq!(books.balance(), "7 USD");
}

#[test]
fn an_expired_lot_cannot_be_held() {
    let mut books = Books::new();
    books.grant(Vcu, 10, Some("2026-11-16"));
    books.now = at("2026-11-15T23:59:59.999Z");
    assert_eq!(books.balance(), "10 VCU");
    books.now = at("2026-11-16");
    assert_eq!(books.balance(), "");
    let want = HoldRange::Exactly(money::Nano::from_nanos(1).into());
    assert!(matches!(books.try_hold(None, want), Err(CommandRejection::Insufficient { .. })));
}

#[test]
fn a_sweep_takes_what_lapsed_and_closes_the_lot() {
    let mut books = Books::new();
    books.grant(Vcu, 10, Some("2026-11-16"));
    books.charge(4);
    assert_eq!(books.ledger.next_expiry(), Some(at("2026-11-16")));
    books.now = at("2026-11-16");
    let swept = books.sweep();
    assert_eq!((swept.lots, show(&swept.amounts), swept.more), (1, "6 VCU".to_owned(), false));
    assert_eq!(books.system(Vcu, SystemKind::Expired), 6);
    assert_eq!(books.ledger.to_snapshot().lots, []);
    assert_eq!(books.ledger.next_expiry(), None);
    assert_eq!(books.sweep().lots, 0);
}

#[test]
fn a_hold_made_before_the_expiry_settles_after_it_and_the_rest_lapses() {
    let mut books = Books::new();
    books.grant(Vcu, 10, Some("2026-11-16"));
    let hold = books.hold(7);
    books.now = at("2026-11-16T00:00:01Z");
    assert_eq!(show(&books.sweep().amounts), "3 VCU");
    assert_eq!(books.sweep().lots, 0);
    assert_eq!(show_legs(&books.settle(hold, 5).legs), "VCU 5");
    assert_eq!(books.balance(), "");
    assert_eq!(show(&books.sweep().amounts), "2 VCU");
    assert_eq!(books.system(Vcu, SystemKind::Revenue), 5);
    assert_eq!(books.system(Vcu, SystemKind::Expired), 5);
}

#[test]
fn a_sweep_is_bounded_and_says_that_there_is_more() {
    let mut books = Books::new();
    for _ in 0..=SWEEP_LOTS_MAX {
        books.grant(Vcu, 1, Some("2026-11-16"));
    }
    books.now = at("2026-11-16");
    let swept = books.sweep();
    assert_eq!((swept.lots, swept.more), (SWEEP_LOTS_MAX, true));
    let swept = books.sweep();
    assert_eq!((swept.lots, swept.more), (1, false));
}

#[test]
fn tags_and_accounts_are_read_as_they_are_printed() {
    let entry = EntryId(uuid::Uuid::from_u128(7));
    for tag in [LotTag::Main, LotTag::Day(-3), LotTag::Month(682), LotTag::Grant(entry)] {
        assert_eq!(LotTag::parse(&tag.to_string()), Some(tag));
    }
    let cash = SystemKind::Cash(PaymentNetwork::parse("eip155:8453").unwrap());
    for kind in [SystemKind::Revenue, SystemKind::Expired, SystemKind::Issuance, cash] {
        assert_eq!(SystemKind::parse(&kind.to_string()), Some(kind));
    }
    assert_eq!(SystemKind::parse("writeoff"), Some(SystemKind::Writeoff));
    for text in ["", "main:1", "day:", "day:x", "week:1", "grant:1"] {
        assert_eq!(LotTag::parse(text), None, "{text}");
    }
    for text in ["", "cash:", "cash:a b", "profit"] {
        assert_eq!(SystemKind::parse(text), None, "{text}");
    }
    assert_eq!(PaymentNetwork::parse(&"n".repeat(65)), None);
}
