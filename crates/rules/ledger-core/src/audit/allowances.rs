//! Checks that the stored allowances are those that were set and granted.

use std::collections::BTreeMap;

use moment::Timestamp;
use money::Nano;

use crate::account::{LedgerAccount, LotTag};
use crate::allowance::AllowanceKind;
use crate::id::OwnerId;
use crate::record::{LedgerTransfer, TransferCode};
use crate::snapshot::AllowanceRow;
use crate::violation::{InvariantViolation, LedgerInvariant};

type Name = (OwnerId, AllowanceKind);

#[derive(Debug, Default)]
pub(super) struct AllowanceAudit {
    /// The amount that each allowance was last set to.
    set: BTreeMap<Name, Nano>,
    /// The newest period of each allowance that the journal has opened.
    opened: BTreeMap<Name, i64>,
}

impl AllowanceAudit {
    pub(super) fn record_amount(&mut self, owner: OwnerId, kind: AllowanceKind, amount: Nano) {
        self.set.insert((owner, kind), amount);
    }

    pub(super) fn read(&mut self, transfer: &LedgerTransfer) {
        let (TransferCode::Allowance, LedgerAccount::Lot(lot)) = (transfer.code, &transfer.credit)
        else {
            return;
        };
        let (LotTag::Day(period) | LotTag::Month(period)) = lot.tag else { return };
        let Some(kind) = AllowanceKind::from_currency(lot.currency) else { return };
        let newest = self.opened.entry((lot.owner, kind)).or_insert(period);
        *newest = period.max(*newest);
    }

    pub(super) fn mend_time(&mut self, at: Timestamp) {
        for ((_, kind), newest) in &mut self.opened {
            *newest = kind.period(at).min(*newest);
        }
    }

    pub(super) fn compare(mut self, rows: &[AllowanceRow]) -> Vec<InvariantViolation> {
        let mut violations = Vec::new();
        for row in rows {
            let name = (row.owner, row.kind);
            let (amount, opened) = (self.set.remove(&name), self.opened.remove(&name));
            let amount = amount.unwrap_or_default();
            if amount != row.amount || opened != row.opened {
                violations.push(build_mismatch_violation(name, amount, opened, Some(row)));
            }
        }
        for (name, amount) in self.set {
            let opened = self.opened.remove(&name);
            let is_nothing = amount == Nano::ZERO && opened.is_none();
            if !is_nothing {
                violations.push(build_mismatch_violation(name, amount, opened, None));
            }
        }
        for (name, period) in self.opened {
            violations.push(build_mismatch_violation(name, Nano::ZERO, Some(period), None));
        }
        violations
    }
}

fn build_mismatch_violation(
    name: Name,
    amount: Nano,
    opened: Option<i64>,
    row: Option<&AllowanceRow>,
) -> InvariantViolation {
    let (owner, kind) = name;
    let words = format!(
        "{kind:?} of {}: {amount} was set and period {opened:?} opened, the row has {:?}",
        owner.0,
        row.map(|row| (row.amount, row.opened)),
    );
    LedgerInvariant::Replay.violation(words)
}
