//! Checks that usage equals the charges in the journal: line by line, and the daily sums.

use std::collections::HashMap;

use ledger_core::{
    EntryId, InvariantViolation, LedgerAccount, LedgerInvariant, LedgerTransfer, LotKey, OwnerId,
    TransferCode, ViolationList,
};
use moment::Timestamp;
use money::{BalanceCurrency, Nano};
use store::Store;
use store::evidence::{USAGE_MARKS_MAX, UsageMark, UsagePart, VerificationEvidence};
use store::usage_digest::DigestCheck;

use super::{digest_check, price_check};
use crate::error::LedgerError;

/// Reads journal and usage side by side. Both are in the order in which groups were written, so the
/// number of unmatched lines stays small.
pub(super) struct UsageAudit {
    from_day: i64,
    after_seq: i64,
    last_seq: i64,
    /// Time of the last journal entry that was read.
    journal_at: Timestamp,
    /// Charged in the journal minus recorded in usage, in nanos, where not zero.
    open: HashMap<UsageAuditKey, i128>,
    /// The same difference for the daily sums, which are complete.
    sums: HashMap<(UsagePart, BalanceCurrency), i128>,
    /// Rows whose amount is not their units times their price, and rows that were changed.
    wrong_rows: ViolationList,
    undigested_rows: u64,
}

/// A charge, or its refund, in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct UsageAuditKey {
    charge: EntryId,
    owner: OwnerId,
    currency: BalanceCurrency,
    is_refund: bool,
}

impl UsageAudit {
    pub(super) fn from_evidence(evidence: &VerificationEvidence) -> UsageAudit {
        let sums = evidence.usage_sums.iter();
        UsageAudit {
            from_day: evidence.usage_from_day,
            after_seq: 0,
            last_seq: evidence.usage_last_seq,
            journal_at: Timestamp::default(),
            open: HashMap::new(),
            sums: sums.map(|sum| ((sum.part, sum.currency), -to_nanos(sum.amount))).collect(),
            wrong_rows: ViolationList::default(),
            undigested_rows: 0,
        }
    }

    pub(super) fn read(&mut self, transfer: &LedgerTransfer) {
        self.journal_at = transfer.at;
        let Some((charge, lot, amount)) = charged_amount(transfer) else { return };
        let day = transfer.at.unix_day();
        for part in [UsagePart::Owner(lot.owner), UsagePart::Day(day)] {
            *self.sums.entry((part, lot.currency)).or_default() += to_nanos(amount);
        }
        let is_refund = amount.is_negative();
        let line = UsageAuditKey { charge, owner: lot.owner, currency: lot.currency, is_refund };
        self.add(line, transfer.at, to_nanos(amount));
    }

    /// Reads usage up to the time of the last journal entry that was read.
    pub(super) async fn catch_up(&mut self, store: &dyn Store) -> Result<(), LedgerError> {
        let journal_at = self.journal_at;
        self.read_until(store, |mark| journal_at < mark.at).await
    }

    pub(super) async fn read_rest(&mut self, store: &dyn Store) -> Result<(), LedgerError> {
        self.read_until(store, |_| false).await
    }

    /// The rows read so far that have no digest.
    pub(super) fn undigested_rows(&self) -> u64 {
        self.undigested_rows
    }

    pub(super) fn finish(self) -> ViolationList {
        let mut violations = self.wrong_rows;
        let mut lines: Vec<(UsageAuditKey, i128)> = self.open.into_iter().collect();
        lines.sort_unstable();
        for (line, nanos) in lines {
            violations.push_with(|| line.to_violation(nanos));
        }
        let wrong = self.sums.into_iter().filter(|(_, nanos)| *nanos != 0);
        let mut wrong: Vec<_> = wrong.collect();
        wrong.sort_unstable_by_key(|((part, currency), _)| (*part, *currency));
        let sums = wrong.into_iter().map(|((part, currency), nanos)| {
            let whose = match part {
                UsagePart::Owner(owner) => format!("owner {}", owner.0),
                UsagePart::Day(day) => format!("day {}", Timestamp::start_of_day(day).date()),
            };
            let words = format!(
                "{whose}: the journal less the daily sums of usage is {nanos} nano {currency}"
            );
            LedgerInvariant::Bill.violation(words)
        });
        violations.extend(sums);
        violations
    }

    async fn read_until(
        &mut self,
        store: &dyn Store,
        is_beyond: impl Fn(&UsageMark) -> bool,
    ) -> Result<(), LedgerError> {
        while self.after_seq < self.last_seq {
            let marks = store.usage_marks(self.after_seq, USAGE_MARKS_MAX).await?;
            if marks.is_empty() {
                break;
            }
            for mark in marks {
                if self.last_seq < mark.seq || is_beyond(&mark) {
                    return Ok(());
                }
                self.after_seq = mark.seq;
                let mispriced = price_check::check_row_price(store, &mark).await?;
                if let Some(violation) = mispriced.or_else(|| digest_check::find_change(&mark)) {
                    self.wrong_rows.push(violation);
                }
                self.undigested_rows += u64::from(mark.digest == DigestCheck::Absent);
                let UsageMark { charge, owner, currency, amount, at, .. } = mark;
                let is_refund = amount.is_negative();
                self.add(
                    UsageAuditKey { charge, owner, currency, is_refund },
                    at,
                    -to_nanos(amount),
                );
            }
        }
        Ok(())
    }

    fn add(&mut self, line: UsageAuditKey, at: Timestamp, nanos: i128) {
        if at.unix_day() < self.from_day {
            return;
        }
        let sum = self.open.entry(line).or_default();
        *sum += nanos;
        if *sum == 0 {
            self.open.remove(&line);
        }
    }
}

impl UsageAuditKey {
    /// The violation of an unmatched line. Usage without its charge means that an acknowledged
    /// charge was lost.
    fn to_violation(self, nanos: i128) -> InvariantViolation {
        let (charge, currency) = (self.charge.0, self.currency);
        let invariant = if nanos < 0 { LedgerInvariant::Once } else { LedgerInvariant::Bill };
        let what = if self.is_refund { "the refund of charge" } else { "charge" };
        invariant.violation(format!(
            "{what} {charge}: the journal less its usage is {nanos} nano {currency}"
        ))
    }
}

/// The amount that a transfer charged an owner, negative for a refund; None if it is neither.
fn charged_amount(transfer: &LedgerTransfer) -> Option<(EntryId, LotKey, Nano)> {
    match (transfer.code, &transfer.debit, &transfer.credit) {
        (TransferCode::Charge, LedgerAccount::Lot(lot), _) => {
            Some((transfer.entry, *lot, transfer.amount))
        }
        (TransferCode::Refund, _, LedgerAccount::Lot(lot)) => {
            let back = Nano::ZERO.saturating_sub(transfer.amount);
            Some((transfer.entry.refunded_charge(), *lot, back))
        }
        _ => None,
    }
}

fn to_nanos(amount: Nano) -> i128 {
    i128::from(amount.nanos())
}
