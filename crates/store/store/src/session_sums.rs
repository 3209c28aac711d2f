//! The sums of usage by session and day that a transaction changes.

use hashbrown::HashMap;
use ledger_core::{EntryId, OwnerId};
use money::BalanceCurrency;

use crate::usage::{REFUND_SKU, UsageRow};

/// Identifies a sum. Sorts in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionDayKey {
    pub day: i64,
    pub owner: OwnerId,
    /// The bits of the session's digest.
    pub session: i64,
}

/// The changes of one sum. Refunds change the amounts only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionChange {
    pub requests: i64,
    pub units: i128,
    /// All currencies but DIEM.
    pub usd: i128,
    pub diem: i128,
    pub input_tokens: i128,
    pub cached_tokens: i128,
    pub output_tokens: i128,
    pub first_ms: Option<i64>,
    pub last_ms: Option<i64>,
}

#[derive(Debug, Default)]
pub struct SessionSums {
    changes: HashMap<SessionDayKey, SessionChange>,
    /// The charge of the last row. The rows of a charge are written together, so that another
    /// charge is another request.
    last_charge: Option<EntryId>,
}

impl SessionSums {
    pub fn add_row(&mut self, row: &UsageRow) {
        let Some(session) = row.details.session else { return };
        let (owner, day) = (row.owner, row.at.unix_day());
        let key = SessionDayKey { day, owner, session: session.cast_signed() };
        let change = self.changes.entry(key).or_default();
        let sum = match row.currency {
            BalanceCurrency::Diem => &mut change.diem,
            BalanceCurrency::Usd | BalanceCurrency::Bundled | BalanceCurrency::Vcu => {
                &mut change.usd
            }
        };
        *sum += i128::from(row.amount.nanos());
        if row.sku == REFUND_SKU {
            return;
        }
        change.units += i128::from(row.units);
        if self.last_charge.replace(row.charge) != Some(row.charge) {
            change.add_request(row);
        }
    }

    /// The changes in the order of the table.
    pub fn into_sorted(self) -> Vec<(SessionDayKey, SessionChange)> {
        let mut changes: Vec<_> = self.changes.into_iter().collect();
        changes.sort_unstable_by_key(|(key, _)| *key);
        changes
    }
}

impl SessionChange {
    /// Each row of a charge repeats the tokens of its request, so they are added once.
    fn add_request(&mut self, row: &UsageRow) {
        let tokens = |count: Option<u64>| i128::from(count.unwrap_or(0));
        let at_ms = row.at.ms();
        self.requests += 1;
        self.input_tokens += tokens(row.details.prompt_tokens);
        self.cached_tokens += tokens(row.details.cached_tokens);
        self.output_tokens += tokens(row.details.completion_tokens);
        self.first_ms = Some(self.first_ms.map_or(at_ms, |first| first.min(at_ms)));
        self.last_ms = Some(self.last_ms.map_or(at_ms, |last| last.max(at_ms)));
    }
}
