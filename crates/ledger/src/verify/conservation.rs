//! Checks that all money that came in is still accounted for: owned, earned or expired.

use std::collections::BTreeMap;

use credits::{Columns, Invariant, Snapshot, SystemKind, Violation};
use money::Currency;

/// Sums of one currency, in nanos.
#[derive(Default)]
struct Sums {
    /// Paid in, or granted.
    came_in: i128,
    /// Balances of owners, held or not.
    owned: i128,
    /// Revenue minus write-offs.
    earned: i128,
    expired: i128,
}

/// Checks the rows that the service starts from, not the journal.
pub(super) fn broken(snapshot: &Snapshot) -> Vec<Violation> {
    let mut currencies: BTreeMap<Currency, Sums> = BTreeMap::new();
    for row in &snapshot.lots {
        currencies.entry(row.lot.currency).or_default().owned += net(row.columns);
    }
    for row in &snapshot.systems {
        let sums = currencies.entry(row.account.currency).or_default();
        let net = net(row.columns);
        match row.account.kind {
            SystemKind::Cash(_) | SystemKind::Issuance => sums.came_in -= net,
            SystemKind::Revenue | SystemKind::Writeoff => sums.earned += net,
            SystemKind::Expired => sums.expired += net,
        }
    }
    let is_broken = |sums: &Sums| sums.came_in != sums.owned + sums.earned + sums.expired;
    currencies
        .into_iter()
        .filter(|(_, sums)| is_broken(sums))
        .map(|(currency, sums)| {
            let Sums { came_in, owned, earned, expired } = sums;
            let words = format!(
                "{currency}: {came_in} nano came in; owners have {owned}, {earned} is earned and \
                 {expired} expired"
            );
            Invariant::Conservation.broken(words)
        })
        .collect()
}

fn net(columns: Columns) -> i128 {
    columns.credits - columns.debits
}
