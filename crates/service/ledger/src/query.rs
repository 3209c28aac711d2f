//! Queries that are answered from memory.

use std::time::Duration;

use ledger_core::{
    AllowanceKind, CurrencyBalances, HoldPayer, KeyTerms, KeyUsage, LimitClass, OwnerId,
};
use money::{BalanceCurrency, Nano};

use crate::state::{CoreState, Ledger};

/// The state of the ledger, for metrics and health checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerStatus {
    /// False while nothing can be charged, because writes fail or the clock is not trusted.
    pub is_running: bool,
    /// False after the wall clock has jumped.
    pub is_clock_trusted: bool,
    /// The time by which the books are ahead of the clock, if more than a minute: limits and
    /// allowances stand still for that long.
    pub journal_ahead: Option<Duration>,
    pub open_holds: usize,
    /// Age of the oldest open hold.
    pub oldest_hold: Option<Duration>,
    /// Groups handed to the store that are not yet known to be durable.
    pub unwritten_groups: usize,
    /// Durable charges of refused callers that are not refunded yet.
    pub late_charges: usize,
    /// Charges settled since the start.
    pub settled_total: u64,
    pub written_off_nano_total: i64,
    /// Number of owners whose home is this node; None on a single node.
    pub at_home: Option<usize>,
}

impl Ledger {
    /// The available balances of an owner by currency, without credits that are not durable yet.
    pub fn balances(&self, owner: OwnerId) -> CurrencyBalances {
        let (now, live) = (self.shared.now(), self.shared.lock());
        live.unconfirmed.subtract_from(owner, live.core.balances(owner, live.query_time(now)))
    }

    /// The largest possible hold, within the limits of the payer's key.
    pub fn spendable(&self, payer: &HoldPayer) -> Nano {
        let (now, live) = (self.shared.now(), self.shared.lock());
        live.core.spendable(payer, live.query_time(now))
    }

    /// The currency that the next charge would start with; None if nothing can be spent.
    pub fn next_currency(&self, payer: &HoldPayer) -> Option<BalanceCurrency> {
        let (now, live) = (self.shared.now(), self.shared.lock());
        live.core.next_currency(payer, live.query_time(now))
    }

    /// The full allowance of the current day or month, spent or not.
    pub fn allocation(&self, owner: OwnerId, kind: AllowanceKind) -> Nano {
        let (now, live) = (self.shared.now(), self.shared.lock());
        live.core.allocation(owner, kind, live.query_time(now))
    }

    /// The amounts that a key has spent and reserved in the current period of its limits.
    pub fn key_usage(&self, terms: &KeyTerms, class: LimitClass) -> KeyUsage {
        let (now, live) = (self.shared.now(), self.shared.lock());
        live.core.key_usage(terms.key, class, terms.period, live.query_time(now))
    }

    pub fn status(&self) -> LedgerStatus {
        let (now, can_write) = (self.shared.now(), self.shared.store.can_write());
        let mut live = self.shared.lock();
        let is_clock_trusted =
            live.clock_watch.as_mut().is_none_or(|watch| watch.check_wall_clock(now));
        LedgerStatus {
            is_running: live.core_state == CoreState::Running && is_clock_trusted && can_write,
            is_clock_trusted,
            journal_ahead: live.ahead_of(now).filter(|_| is_clock_trusted),
            open_holds: live.core.open_holds(),
            oldest_hold: live.core.oldest_hold_at().map(|made_at| now.since(made_at)),
            unwritten_groups: self.shared.in_flight(),
            late_charges: live.late_charges.len(),
            settled_total: live.settled,
            written_off_nano_total: live.written_off_nano,
            at_home: live.count_home_owners(),
        }
    }
}
