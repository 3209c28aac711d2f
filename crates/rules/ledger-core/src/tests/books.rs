//! One owner's books with a clock, for tests that read like a bank statement.

use std::fmt::Write;

use moment::Timestamp;
use money::{BalanceCurrency, Nano};
use uuid::Uuid;

use crate::*;

pub(super) const OWNER: OwnerId = OwnerId(Uuid::from_u128(0xa11ce));
pub(super) const KEY: KeyId = KeyId(Uuid::from_u128(0x6b6579));

/// A ledger whose invariants are checked after each command. Amounts are plain nanos.
pub(super) struct Books {
    pub(super) ledger: CreditLedger,
    pub(super) now: Timestamp,
    pub(super) journal: Vec<JournalRecord>,
    next_id: u128,
}

impl Books {
    /// Empty books at noon.
    pub(super) fn new() -> Books {
        Books::with_rules(LedgerRules::default())
    }

    pub(super) fn with_rules(rules: LedgerRules) -> Books {
        let now = at("2026-11-15T12:00:00Z");
        Books { ledger: CreditLedger::new(rules), now, journal: Vec::new(), next_id: 1 << 80 }
    }

    /// Books with `nanos` nano-dollars.
    pub(super) fn with_usd(nanos: i64) -> Books {
        let mut books = Books::new();
        books.top_up(nanos);
        books
    }

    #[track_caller]
    pub(super) fn apply(
        &mut self,
        command: &CreditCommand,
    ) -> Result<CommandOutcome, CommandRejection> {
        let before = self.ledger.to_snapshot();
        let answer = self.ledger.apply(command, self.now);
        if let Err(violation) = check_ledger(&self.ledger) {
            panic!("{violation}");
        }
        match answer {
            Ok(applied) => {
                self.journal.extend(applied.records);
                Ok(applied.outcome)
            }
            Err(rejection) => {
                assert_eq!(
                    before,
                    self.ledger.to_snapshot(),
                    "a refused command changed something"
                );
                Err(rejection)
            }
        }
    }

    pub(super) fn id(&mut self) -> Uuid {
        self.next_id += 1;
        Uuid::from_u128(self.next_id)
    }

    #[track_caller]
    pub(super) fn top_up(&mut self, nanos: i64) -> EntryId {
        let entry = EntryId(self.id());
        self.apply(&top_up(entry, nanos)).unwrap();
        entry
    }

    #[track_caller]
    pub(super) fn grant(&mut self, currency: BalanceCurrency, nanos: i64, expires: Option<&str>) {
        let entry = EntryId(self.id());
        let (amount, expires_at) = (Nano::from_nanos(nanos), expires.map(at));
        self.apply(&CreditCommand::Grant { entry, owner: OWNER, currency, amount, expires_at })
            .unwrap();
    }

    #[track_caller]
    pub(super) fn set_allowance(&mut self, kind: AllowanceKind, nanos: i64) {
        let (entry, amount) = (EntryId(self.id()), Nano::from_nanos(nanos));
        self.apply(&CreditCommand::SetAllowance { entry, owner: OWNER, kind, amount }).unwrap();
    }

    pub(super) fn try_hold(
        &mut self,
        key: Option<KeyTerms>,
        want: HoldRange,
    ) -> Result<HoldId, CommandRejection> {
        let hold = HoldId(self.id());
        let payer = HoldPayer { owner: OWNER, key };
        self.apply(&CreditCommand::Hold { hold, payer, want, kind: HoldKind::Request })?;
        Ok(hold)
    }

    #[track_caller]
    pub(super) fn hold(&mut self, nanos: i64) -> HoldId {
        self.try_hold(None, HoldRange::Exactly(Nano::from_nanos(nanos).into())).unwrap()
    }

    #[track_caller]
    pub(super) fn hold_with(&mut self, key: KeyTerms, nanos: i64) -> HoldId {
        self.try_hold(Some(key), HoldRange::Exactly(Nano::from_nanos(nanos).into())).unwrap()
    }

    #[track_caller]
    pub(super) fn job(&mut self, nanos: i64) -> HoldId {
        let hold = HoldId(self.id());
        let payer = HoldPayer { owner: OWNER, key: None };
        let want = HoldRange::Exactly(Nano::from_nanos(nanos).into());
        self.apply(&CreditCommand::Hold { hold, payer, want, kind: HoldKind::Job }).unwrap();
        hold
    }

    #[track_caller]
    pub(super) fn settle(&mut self, hold: HoldId, nanos: i64) -> ChargeReceipt {
        let entry = EntryId(self.id());
        let settle = CreditCommand::Settle { entry, hold, cost: Nano::from_nanos(nanos).into() };
        match self.apply(&settle) {
            Ok(CommandOutcome::Settled(receipt)) => receipt,
            other => panic!("{other:?}"),
        }
    }

    /// Holds and settles at once.
    #[track_caller]
    pub(super) fn charge(&mut self, nanos: i64) -> EntryId {
        let hold = self.hold(nanos);
        self.settle(hold, nanos).charge
    }

    #[track_caller]
    pub(super) fn release(&mut self, hold: HoldId) {
        self.apply(&CreditCommand::Release { hold }).unwrap();
    }

    #[track_caller]
    pub(super) fn sweep(&mut self) -> SweepReport {
        let entry = EntryId(self.id());
        match self.apply(&CreditCommand::Sweep { entry }) {
            Ok(CommandOutcome::Swept(swept)) => swept,
            other => panic!("{other:?}"),
        }
    }

    /// The available balances, such as `5 USD, 3 DIEM`.
    pub(super) fn balance(&self) -> String {
        show(&self.ledger.balances(OWNER, self.now))
    }

    pub(super) fn spent(&self, class: LimitClass, period: LimitPeriod) -> (i64, i64) {
        let usage = self.ledger.key_usage(KEY, class, period, self.now);
        (usage.spent.nanos(), usage.reserved.nanos())
    }

    /// The balance of one of the operator's own accounts: credits minus debits.
    pub(super) fn system(&self, currency: BalanceCurrency, kind: SystemKind) -> i128 {
        let account = SystemAccount { currency, kind };
        let columns = self.ledger.systems.get(&account).copied().unwrap_or_default();
        columns.credits - columns.debits
    }
}

#[track_caller]
pub(super) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap_or_else(|| panic!("{text} is a moment"))
}

pub(super) fn top_up(entry: EntryId, nanos: i64) -> CreditCommand {
    let network = PaymentNetwork::parse("base").unwrap();
    CreditCommand::TopUp { entry, owner: OWNER, network, amount: Nano::from_nanos(nanos) }
}

pub(super) fn refund(charge: EntryId) -> CreditCommand {
    CreditCommand::Refund { charge, source: ChargeSource::Recent }
}

/// A key with limits in nanos per period.
pub(super) fn terms(usd: Option<i64>, diem: Option<i64>, period: LimitPeriod) -> KeyTerms {
    let (limit_usd, limit_diem) = (usd.map(Nano::from_nanos), diem.map(Nano::from_nanos));
    KeyTerms { key: KEY, limit_usd, limit_diem, period }
}

pub(super) fn show(balances: &CurrencyBalances) -> String {
    let mut text = String::new();
    for currency in BalanceCurrency::ALL {
        let nanos = balances.get(currency).nanos();
        if nanos != 0 {
            let comma = if text.is_empty() { "" } else { ", " };
            write!(text, "{comma}{nanos} {currency}").unwrap();
        }
    }
    text
}

/// The amounts paid, in order, such as `DIEM 3, USD 2`.
pub(super) fn show_legs(legs: &[PaymentLeg]) -> String {
    let legs: Vec<String> =
        legs.iter().map(|leg| format!("{} {}", leg.lot.currency, leg.amount.nanos())).collect();
    legs.join(", ")
}
