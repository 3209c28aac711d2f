//! Checks that all money that came in is still accounted for: owned, earned or expired.

use std::collections::BTreeMap;

use ledger_core::{AccountSums, InvariantViolation, LedgerInvariant, LedgerSnapshot, SystemKind};
use money::BalanceCurrency;

/// Sums of one currency, in nanos.
#[derive(Default)]
struct CurrencySums {
    /// Paid in, or granted.
    came_in: i128,
    /// Balances of owners, held or not, minus their debts.
    owned: i128,
    /// Revenue minus write-offs.
    earned: i128,
    expired: i128,
}

/// Checks the rows that the service starts from, not the journal.
pub(super) fn check_conservation(snapshot: &LedgerSnapshot) -> Vec<InvariantViolation> {
    let mut currencies: BTreeMap<BalanceCurrency, CurrencySums> = BTreeMap::new();
    for row in &snapshot.lots {
        currencies.entry(row.lot.currency).or_default().owned += net_credits(row.columns);
    }
    for row in &snapshot.systems {
        let sums = currencies.entry(row.account.currency).or_default();
        let net = net_credits(row.columns);
        match row.account.kind {
            SystemKind::Cash(_) | SystemKind::Issuance => sums.came_in -= net,
            SystemKind::Revenue | SystemKind::Writeoff => sums.earned += net,
            SystemKind::Expired => sums.expired += net,
        }
    }
    let is_broken = |sums: &CurrencySums| sums.came_in != sums.owned + sums.earned + sums.expired;
    currencies
        .into_iter()
        .filter(|(_, sums)| is_broken(sums))
        .map(|(currency, sums)| {
            let CurrencySums { came_in, owned, earned, expired } = sums;
            let words = format!(
                "{currency}: {came_in} nano came in; owners have {owned}, {earned} is earned and \
                 {expired} expired"
            );
            LedgerInvariant::Conservation.violation(words)
        })
        .collect()
}

fn net_credits(columns: AccountSums) -> i128 {
    columns.credits - columns.debits
}
