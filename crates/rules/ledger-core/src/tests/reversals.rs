//! Payments that are taken back, and the debts that this makes.

use money::{BalanceCurrency, Nano};

use super::books::*;
use crate::*;

fn stripe() -> PaymentNetwork {
    PaymentNetwork::parse("stripe").unwrap()
}

fn reverse(entry: EntryId, nanos: i64, given: i64, beyond: BeyondPaid) -> CreditCommand {
    let (amount, given) = (Nano::from_nanos(nanos), Nano::from_nanos(given));
    CreditCommand::Reverse { entry, owner: OWNER, network: stripe(), amount, given, beyond }
}

impl Books {
    /// The amounts taken from credit and added to the debt.
    #[track_caller]
    fn reverse(&mut self, nanos: i64, given: i64) -> (i64, i64) {
        let entry = EntryId(self.id());
        match self.apply(&reverse(entry, nanos, given, BeyondPaid::Owe)) {
            Ok(CommandOutcome::Reversed(receipt)) => (receipt.taken.nanos(), receipt.owed.nanos()),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn restore(&mut self, nanos: i64) {
        let (entry, amount) = (EntryId(self.id()), Nano::from_nanos(nanos));
        let network = stripe();
        self.apply(&CreditCommand::Restore { entry, owner: OWNER, network, amount }).unwrap();
    }

    #[track_caller]
    fn collect(&mut self, given: i64) -> (i64, i64) {
        let (entry, given) = (EntryId(self.id()), Nano::from_nanos(given));
        match self.apply(&CreditCommand::CollectDebt { entry, owner: OWNER, given }) {
            Ok(CommandOutcome::Collected(it)) => (it.collected.nanos(), it.debt.nanos()),
            other => panic!("{other:?}"),
        }
    }

    fn debt(&self) -> i64 {
        self.ledger.debt(OWNER).nanos()
    }

    fn cash(&self) -> i128 {
        -self.system(BalanceCurrency::Usd, SystemKind::Cash(stripe()))
    }

    /// The journal alone gives the same books.
    #[track_caller]
    fn audit(&self) {
        let snapshot = self.ledger.to_snapshot();
        let mut audit = JournalAudit::from_snapshot(&snapshot);
        self.journal.iter().for_each(|record| audit.read_record(record));
        assert_eq!(audit.finish(&snapshot).into_kept(), []);
        let mut replayed = CreditLedger::new(LedgerRules::default());
        self.journal.iter().for_each(|record| replayed.replay_record(record).unwrap());
        let expected = LedgerSnapshot { recent: vec![], ..snapshot };
        assert_eq!(LedgerSnapshot { recent: vec![], ..replayed.to_snapshot() }, expected);
    }
}

fn paid(nanos: i64) -> Books {
    let mut books = Books::new();
    let (entry, amount) = (EntryId(books.id()), Nano::from_nanos(nanos));
    let command = CreditCommand::TopUp { entry, owner: OWNER, network: stripe(), amount };
    books.apply(&command).unwrap();
    books
}

#[test]
fn a_reversal_takes_what_is_left_and_the_rest_is_a_debt() {
    let mut books = paid(10);
    books.charge(7);
    assert_eq!(books.reverse(10, 0), (3, 7));
    assert_eq!((books.balance(), books.debt(), books.cash()), (String::new(), 7, 0));
    assert_eq!(books.ledger.debtors(), [OWNER]);
    assert!(books.try_hold(None, HoldRange::Exactly(Nano::from_nanos(1).into())).is_err());
    books.audit();
}

#[test]
fn a_reversal_takes_nothing_that_is_held() {
    let mut books = paid(10);
    let hold = books.hold(8);
    assert_eq!(books.reverse(10, 0), (2, 8));
    assert_eq!(books.collect(0), (0, 8), "all that is left is held");
    books.settle(hold, 5);
    assert_eq!(books.balance(), "3 USD");
    assert_eq!(books.collect(0), (3, 5));
    assert_eq!((books.balance(), books.debt()), (String::new(), 5));
    books.audit();
}

#[test]
fn a_reversal_takes_no_grant() {
    let mut books = paid(10);
    books.grant(BalanceCurrency::Usd, 6, None);
    books.grant(BalanceCurrency::Vcu, 5, Some("2026-11-20"));
    assert_eq!(books.reverse(4, 6), (4, 0));
    // Spending was counted against the grant first: VCU 5, then 2 of the granted dollars.
    books.charge(7);
    assert_eq!(books.balance(), "10 USD");
    assert_eq!(books.reverse(8, 6), (6, 2));
    assert_eq!((books.balance(), books.debt()), ("4 USD".into(), 2));
    assert_eq!(books.collect(6), (0, 2), "grants repay no debt");
    books.grant(BalanceCurrency::Usd, 1, None);
    assert_eq!((books.balance(), books.debt()), ("5 USD".into(), 2));
    books.audit();
}

#[test]
fn a_grant_after_a_reversal_is_not_taken_for_what_was_spent_before_it() {
    let mut books = paid(10);
    books.charge(7);
    books.reverse(10, 0);
    books.grant(BalanceCurrency::Usd, 5, None);
    assert_eq!(books.collect(5), (0, 7));
    assert_eq!(books.balance(), "5 USD");
    // Nor after the debt was repaid: the payment that repaid it has paid for the spending.
    books.top_up(9);
    assert_eq!((books.balance(), books.debt()), ("7 USD".into(), 0));
    assert_eq!(books.reverse(9, 5), (2, 7));
    assert_eq!(books.balance(), "5 USD");
    books.audit();
}

#[test]
fn a_later_payment_repays_the_debt_first() {
    let mut books = paid(10);
    books.charge(7);
    books.reverse(10, 0);
    books.top_up(5);
    assert_eq!((books.balance(), books.debt()), (String::new(), 2));
    books.top_up(5);
    assert_eq!((books.balance(), books.debt()), ("3 USD".into(), 0));
    assert_eq!(books.ledger.debtors(), []);
    books.audit();
}

#[test]
fn a_restoration_undoes_a_reversal_exactly() {
    let mut books = paid(10);
    books.charge(7);
    let before = (books.balance(), books.debt(), books.cash());
    books.reverse(10, 0);
    books.restore(10);
    assert_eq!((books.balance(), books.debt(), books.cash()), before);
    // Also if another payment has repaid the debt in between.
    books.reverse(10, 0);
    books.top_up(10);
    books.restore(10);
    assert_eq!((books.balance(), books.debt()), ("13 USD".into(), 0));
    books.audit();
}

#[test]
fn a_refund_of_ours_makes_no_debt() {
    let mut books = paid(10);
    books.charge(7);
    let entry = EntryId(books.id());
    let (left, wanted) = (Nano::from_nanos(3), Nano::from_nanos(4));
    assert_eq!(
        books.apply(&reverse(entry, 4, 0, BeyondPaid::Refuse)),
        Err(CommandRejection::BeyondPaid { left, wanted })
    );
    books.apply(&reverse(entry, 3, 0, BeyondPaid::Refuse)).unwrap();
    assert_eq!((books.balance(), books.debt()), (String::new(), 0));
    books.audit();
}

#[test]
fn a_repeated_command_changes_nothing() {
    let mut books = paid(10);
    books.charge(7);
    let command = reverse(EntryId(books.id()), 10, 0, BeyondPaid::Owe);
    let first = books.apply(&command).unwrap();
    let again = CommandRejection::Duplicate { earlier: Some(Box::new(first)) };
    assert_eq!(books.apply(&command), Err(again));
    let (entry, network, amount) = (EntryId(books.id()), stripe(), Nano::from_nanos(10));
    let restore = CreditCommand::Restore { entry, owner: OWNER, network, amount };
    books.apply(&restore).unwrap();
    assert!(matches!(books.apply(&restore), Err(CommandRejection::Duplicate { .. })));
    assert_eq!((books.balance(), books.debt()), ("3 USD".into(), 0));
    books.audit();
}

#[test]
fn amounts_that_are_no_amount_are_refused() {
    let mut books = paid(10);
    for nanos in [0, -1, i64::MAX] {
        let entry = EntryId(books.id());
        let refused = Err(CommandRejection::InvalidAmount);
        assert_eq!(books.apply(&reverse(entry, nanos, 0, BeyondPaid::Owe)), refused);
        let (network, amount) = (stripe(), Nano::from_nanos(nanos));
        let restore = CreditCommand::Restore { entry, owner: OWNER, network, amount };
        assert_eq!(books.apply(&restore), Err(CommandRejection::InvalidAmount));
    }
}

#[test]
fn a_journal_that_repays_more_than_the_debt_is_refused() {
    let mut books = paid(10);
    books.charge(7);
    books.reverse(10, 0);
    let lot = LotKey { owner: OWNER, currency: BalanceCurrency::Usd, tag: LotTag::Debt };
    let cash = SystemAccount { currency: BalanceCurrency::Usd, kind: SystemKind::Cash(stripe()) };
    let repayment = LedgerTransfer {
        entry: EntryId(books.id()),
        leg: 0,
        debit: LedgerAccount::System(cash),
        credit: LedgerAccount::Lot(lot),
        amount: Nano::from_nanos(8),
        code: TransferCode::Repayment,
        at: books.now,
        key: None,
    };
    let broken = books.ledger.clone().replay_record(&JournalRecord::Transfer(repayment.clone()));
    assert_eq!(broken.unwrap_err().invariant, LedgerInvariant::NoOverdraft);
    // A code that knows nothing of debts must not name one, and the other way around.
    let main = LotKey { tag: LotTag::Main, ..lot };
    let wrong = [
        LedgerTransfer { code: TransferCode::TopUp, ..repayment.clone() },
        LedgerTransfer { code: TransferCode::Restoration, ..repayment.clone() },
        LedgerTransfer { credit: LedgerAccount::Lot(main), ..repayment },
    ];
    for transfer in wrong {
        let broken = books.ledger.clone().replay_record(&JournalRecord::Transfer(transfer));
        assert_eq!(broken.unwrap_err().invariant, LedgerInvariant::Transfer);
    }
}

#[test]
fn an_owner_moves_to_another_node_with_its_debt() {
    let mut books = paid(10);
    books.charge(7);
    books.reverse(10, 0);
    let part = LedgerSnapshot { systems: vec![], recent: vec![], ..books.ledger.to_snapshot() };
    assert!(books.ledger.release_owner(OWNER));
    assert_eq!(books.debt(), 0);
    books.ledger.take_over_owner(OWNER, part).unwrap();
    assert_eq!(books.debt(), 7);
}
