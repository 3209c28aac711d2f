//! The content of the journal, recovery from it, and detection of damage.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::*;

/// Books with every kind of record.
fn busy() -> Books {
    let mut books = Books::with_usd(100);
    books.grant(BalanceCurrency::Vcu, 5, Some("2026-11-16"));
    books.set_allowance(AllowanceKind::DiemDaily, 10);
    let hold = books.hold_with(terms(Some(50), Some(50), LimitPeriod::Month), 20);
    let charge = books.settle(hold, 18).charge;
    books.apply(&refund(charge)).unwrap();
    let hold = books.hold_with(terms(Some(50), Some(50), LimitPeriod::Month), 30);
    books.settle(hold, 300);
    books.top_up(50);
    books.now = at("2026-11-16");
    books.sweep();
    books.job(7);
    books
}

fn audit(transfers: &[LedgerTransfer], snapshot: &LedgerSnapshot) -> Vec<LedgerInvariant> {
    let mut audit = JournalAudit::from_snapshot(snapshot);
    for row in &snapshot.allowances {
        audit.read_allowance(row.owner, row.kind, row.amount);
    }
    for transfer in transfers {
        audit.read(transfer);
    }
    for transfer in transfers {
        audit.read_again(transfer);
    }
    audit.finish(snapshot).into_kept().into_iter().map(|violation| violation.invariant).collect()
}

fn transfers(books: &Books) -> Vec<LedgerTransfer> {
    let records = books.journal.iter();
    records
        .filter_map(|record| match record {
            JournalRecord::Transfer(transfer) => Some(transfer.clone()),
            _ => None,
        })
        .collect()
}

/// Damages the journal or the rows of busy books, and expects the audit to name the broken
/// invariant.
#[track_caller]
fn check_damage(
    damage: impl FnOnce(&mut Vec<LedgerTransfer>, &mut LedgerSnapshot),
    expected: LedgerInvariant,
) {
    let books = busy();
    let (mut transfers, mut snapshot) = (transfers(&books), books.ledger.to_snapshot());
    assert_eq!(audit(&transfers, &snapshot), []);
    damage(&mut transfers, &mut snapshot);
    let found = audit(&transfers, &snapshot);
    assert!(found.contains(&expected), "{expected:?} is not in {found:?}");
}

#[test]
fn a_request_hold_leaves_no_record_and_a_job_hold_does() {
    let mut books = Books::with_usd(10);
    let from = books.journal.len();
    let hold = books.hold(4);
    books.release(hold);
    assert_eq!(books.journal.len(), from);
    let hold = books.job(4);
    books.release(hold);
    let kinds = &books.journal[from..];
    assert!(
        matches!(kinds, [JournalRecord::JobHeld(_), JournalRecord::JobHoldEnded { legs, .. }] if legs.len() == 1)
    );
}

#[test]
fn a_replay_of_the_journal_is_the_live_ledger() {
    let books = busy();
    let mut replayed = CreditLedger::new(LedgerRules::default());
    for record in &books.journal {
        replayed.replay_record(record).unwrap();
    }
    assert_eq!(replayed.to_snapshot(), books.ledger.to_snapshot());
}

#[test]
fn a_snapshot_is_the_durable_part() {
    let mut books = busy();
    let before = books.ledger.to_snapshot();
    let hold = books.hold_with(terms(Some(500), None, LimitPeriod::Month), 5);
    let during = books.ledger.to_snapshot();
    let restored = CreditLedger::from_snapshot(LedgerRules::default(), during.clone()).unwrap();
    assert_eq!(restored.to_snapshot(), during);
    // The hold opened the day's stake, which is durable; the hold itself is not.
    assert_eq!(restored.held_amount(hold), None);
    assert_eq!(restored.open_holds(), 1);
    assert_eq!(during.key_spends, before.key_spends);
    let total = restored.balances(OWNER, books.now).total();
    assert_eq!(
        total,
        books.ledger.balances(OWNER, books.now).total().saturating_add(Nano::from_nanos(5))
    );
}

#[test]
fn a_job_survives_a_restart_and_ends_once() {
    let mut books = Books::with_usd(10);
    let hold = books.job(6);
    let snapshot = books.ledger.to_snapshot();
    books.ledger = CreditLedger::from_snapshot(LedgerRules::default(), snapshot).unwrap();
    assert_eq!(books.balance(), "4 USD");
    books.settle(hold, 6);
    assert_eq!(books.apply(&CreditCommand::Release { hold }), Err(CommandRejection::NoSuchHold));
    assert_eq!(books.balance(), "4 USD");
}

#[test]
fn a_restart_remembers_recent_entries() {
    let mut books = Books::with_usd(10);
    let charge = books.charge(6);
    let entry = books.top_up(5);
    let snapshot = books.ledger.to_snapshot();
    books.ledger = CreditLedger::from_snapshot(LedgerRules::default(), snapshot).unwrap();
    assert_eq!(books.apply(&top_up(entry, 5)), Err(CommandRejection::Duplicate { earlier: None }));
    books.apply(&refund(charge)).unwrap();
    assert_eq!(books.balance(), "15 USD");
}

#[test]
fn rows_that_break_an_invariant_are_refused() {
    let break_rows = |damage: fn(&mut LedgerSnapshot)| {
        let mut snapshot = busy().ledger.to_snapshot();
        damage(&mut snapshot);
        CreditLedger::from_snapshot(LedgerRules::default(), snapshot)
            .map(|_| ())
            .unwrap_err()
            .invariant
    };
    assert_eq!(break_rows(|it| it.systems[0].columns.debits += 1), LedgerInvariant::TrialBalance);
    assert_eq!(break_rows(|it| it.lots.clear()), LedgerInvariant::NoOverdraft);
    assert_eq!(break_rows(|it| it.systems.clear()), LedgerInvariant::TrialBalance);
    assert_eq!(
        break_rows(|it| it.key_spends[0].day_spent = Nano::from_nanos(-1)),
        LedgerInvariant::KeySpent
    );
}

#[test]
fn a_record_that_does_not_follow_is_refused() {
    let books = busy();
    let refused =
        |record: &JournalRecord| books.ledger.clone().replay_record(record).unwrap_err().invariant;
    let opened =
        books.journal.iter().find(|it| matches!(it, JournalRecord::LotOpened { .. })).unwrap();
    assert_eq!(refused(opened), LedgerInvariant::Columns);
    let closed =
        books.journal.iter().find(|it| matches!(it, JournalRecord::LotClosed { .. })).unwrap();
    assert_eq!(refused(closed), LedgerInvariant::Columns);
    let hold = HoldId(uuid::Uuid::nil());
    assert_eq!(
        refused(&JournalRecord::JobHoldEnded { hold, legs: Vec::new() }),
        LedgerInvariant::HoldEndsOnce
    );
    let mut transfer = transfers(&books)[0].clone();
    transfer.amount = Nano::ZERO;
    assert_eq!(refused(&JournalRecord::Transfer(transfer)), LedgerInvariant::Transfer);
    let is_dollar_charge = |it: &LedgerTransfer| {
        it.code == TransferCode::Charge && it.credit.currency() == BalanceCurrency::Usd
    };
    let charge = transfers(&books).into_iter().find(is_dollar_charge).unwrap();
    let too_much = LedgerTransfer { amount: AMOUNT_MAX, ..charge };
    assert_eq!(refused(&JournalRecord::Transfer(too_much)), LedgerInvariant::NoOverdraft);
}

#[test]
fn an_audit_finds_a_changed_amount() {
    check_damage(
        |transfers, _| transfers[0].amount = Nano::from_nanos(99),
        LedgerInvariant::Columns,
    );
}

#[test]
fn an_audit_finds_a_missing_transfer() {
    check_damage(|transfers, _| drop(transfers.remove(0)), LedgerInvariant::NoOverdraft);
    check_damage(|transfers, _| drop(transfers.pop()), LedgerInvariant::Columns);
}

#[test]
fn an_audit_finds_a_changed_row() {
    check_damage(|_, rows| rows.lots[0].columns.credits += 1, LedgerInvariant::Columns);
    check_damage(|_, rows| rows.lots[0].granted = Nano::ZERO, LedgerInvariant::Columns);
    check_damage(|_, rows| rows.systems[0].columns.credits += 1, LedgerInvariant::Columns);
    check_damage(|_, rows| drop(rows.systems.remove(0)), LedgerInvariant::Columns);
    check_damage(|_, rows| rows.key_spends[0].month_spent = Nano::ZERO, LedgerInvariant::KeySpent);
    check_damage(|_, rows| rows.key_spends.clear(), LedgerInvariant::KeySpent);
}

#[test]
fn an_audit_finds_a_refund_that_gives_more_than_was_charged() {
    check_damage(
        |transfers, _| {
            let refund = transfers.iter().find(|it| it.code == TransferCode::Refund);
            let again = LedgerTransfer { leg: 99, ..refund.unwrap().clone() };
            transfers.push(again);
        },
        LedgerInvariant::RefundOnce,
    );
}

#[test]
fn an_audit_finds_a_transfer_between_the_wrong_accounts() {
    check_damage(
        |transfers, _| {
            let transfer = &mut transfers[0];
            std::mem::swap(&mut transfer.debit, &mut transfer.credit);
        },
        LedgerInvariant::Transfer,
    );
}

#[test]
fn an_audit_tells_a_bounded_number_of_differences() {
    let mut books = Books::with_usd(1_000);
    for _ in 0..VIOLATIONS_MAX {
        books.charge(1);
    }
    let broken: Vec<LedgerTransfer> = transfers(&books)
        .into_iter()
        .map(|it| LedgerTransfer { amount: Nano::ZERO, ..it })
        .collect();
    assert_eq!(audit(&broken, &books.ledger.to_snapshot()).len(), VIOLATIONS_MAX);
}

#[test]
fn memory_of_entries_is_bounded() {
    let mut books = Books::with_usd(AMOUNT_MAX.nanos());
    let (mut first, entry) = (None, books.top_up(1));
    for _ in 0..=RECENT_CHARGES_MAX {
        let hold = HoldId(books.id());
        let payer = HoldPayer { owner: OWNER, key: None };
        let want = HoldRange::Exactly(Nano::from_nanos(1).into());
        let take = CreditCommand::Hold { hold, payer, want, kind: HoldKind::Request };
        books.ledger.apply(&take, books.now).unwrap();
        let charge = EntryId(hold.0);
        first = first.or(Some(charge));
        let settle =
            CreditCommand::Settle { entry: charge, hold, cost: Nano::from_nanos(1).into() };
        books.ledger.apply(&settle, books.now).unwrap();
    }
    assert_eq!(books.ledger.to_snapshot().recent.len(), RECENT_CHARGES_MAX + 2);
    assert_eq!(books.ledger.recent_charge(first.unwrap()), None);
    // Many charges do not evict the top-up.
    assert!(matches!(books.apply(&top_up(entry, 1)), Err(CommandRejection::Duplicate { .. })));
}
