//! Decides which charges may be acknowledged before they are posted: those that the tables cannot
//! refuse.
//!
//! Every constraint of the tables is checked here first, against the tables and the log together:
//! the lot has the money, the entry is new, the key exists, no sum overflows. All other charges are
//! posted at once, and refused by the tables if necessary.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use ledger_core::{EntryId, JournalRecord, KeyId, LedgerAccount, LedgerTransfer};
use rusqlite::{Connection, OptionalExtension, params};

use crate::usage::UsageRow;
use crate::write::{StoreWrite, WriteGroup};

/// The most nanos of a logged charge: about 1,100 dollars. A key or a day would need eight million
/// such charges before a sum overflows.
const NANOS_MAX: i64 = 1 << 40;

/// The most units of a logged line, for the same reason.
const UNITS_MAX: u64 = 1 << 40;

/// Capacity of the caches of accounts and keys; a lookup costs microseconds.
const REMEMBERED_MAX: usize = 100_000;

#[derive(Debug, Default)]
pub(crate) struct ChargeAdmission {
    /// The remaining room of each account in the tables, minus what the log uses.
    rooms: HashMap<LedgerAccount, AccountHeadroom>,
    /// Keys known to exist. A key is never deleted.
    keys: HashSet<KeyId>,
    /// Entries in the log that are not in the tables.
    entries: HashSet<(EntryId, u16)>,
}

/// The amounts by which an account can still be debited and credited. The log never credits lots.
#[derive(Debug, Clone, Copy)]
struct AccountHeadroom {
    debits: i64,
    credits: i64,
}

impl ChargeAdmission {
    /// Counts a group as logged if it can be posted after all that were counted before. If not, the
    /// group may be half counted, so call [`clear`](ChargeAdmission::clear) then.
    pub(crate) fn admit_group(
        &mut self,
        connection: &Connection,
        group: &WriteGroup,
    ) -> rusqlite::Result<bool> {
        for write in &group.writes {
            let is_sure = match write {
                StoreWrite::Journal(JournalRecord::Transfer(transfer)) => {
                    self.admit_transfer(connection, transfer)?
                }
                StoreWrite::Journal(JournalRecord::KeySpent { amount, .. }) => {
                    (0..=NANOS_MAX).contains(&amount.nanos())
                }
                StoreWrite::AddUsage(row) => is_modest(row),
                _ => false,
            };
            if !is_sure {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The log was posted: its entries are in the tables now, and the room they used stays used.
    pub(crate) fn finish_posting(&mut self) {
        self.entries.clear();
        if REMEMBERED_MAX <= self.rooms.len() {
            self.rooms.clear();
        }
        if REMEMBERED_MAX <= self.keys.len() {
            self.keys.clear();
        }
    }

    /// Clears everything, because the tables were changed by something else than the log.
    pub(crate) fn clear(&mut self) {
        self.rooms.clear();
        self.entries.clear();
    }

    fn admit_transfer(
        &mut self,
        connection: &Connection,
        transfer: &LedgerTransfer,
    ) -> rusqlite::Result<bool> {
        let nanos = transfer.amount.nanos();
        let is_movement = transfer.debit != transfer.credit && (1..=NANOS_MAX).contains(&nanos);
        if !is_movement {
            return Ok(false);
        }
        if let Some(stamp) = transfer.key
            && !self.knows_key(connection, stamp.key)?
        {
            return Ok(false);
        }
        let debit = self.account_headroom(connection, &transfer.debit)?;
        debit.debits -= nanos;
        let has_money = 0 <= debit.debits;
        let credit = self.account_headroom(connection, &transfer.credit)?;
        credit.credits -= nanos;
        let has_space = 0 <= credit.credits;
        if !has_money || !has_space {
            return Ok(false);
        }
        let is_new = self.entries.insert((transfer.entry, transfer.leg));
        Ok(is_new && !is_posted(connection, transfer)?)
    }

    fn knows_key(&mut self, connection: &Connection, key: KeyId) -> rusqlite::Result<bool> {
        if self.keys.contains(&key) {
            return Ok(true);
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM api_key WHERE id = ?1)";
        let is_there =
            connection.prepare_cached(sql)?.query_row([key.0.as_bytes()], |row| row.get(0))?;
        if is_there {
            self.keys.insert(key);
        }
        Ok(is_there)
    }

    fn account_headroom(
        &mut self,
        connection: &Connection,
        account: &LedgerAccount,
    ) -> rusqlite::Result<&mut AccountHeadroom> {
        match self.rooms.entry(account.clone()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => Ok(unknown.insert(read_headroom(connection, account)?)),
        }
    }
}

fn is_modest(row: &UsageRow) -> bool {
    let details = &row.details;
    let counts = [details.prompt_tokens, details.completion_tokens, details.execution_ms];
    let is_countable =
        row.units <= UNITS_MAX && counts.into_iter().flatten().all(|count| count <= UNITS_MAX);
    is_countable && (-NANOS_MAX..=NANOS_MAX).contains(&row.amount.nanos())
}

/// The room of an account by the tables. A missing or closed lot has none; a system account is
/// created on its first use.
fn read_headroom(
    connection: &Connection,
    account: &LedgerAccount,
) -> rusqlite::Result<AccountHeadroom> {
    match account {
        LedgerAccount::Lot(lot) => {
            let sql = "SELECT credits - debits - pending FROM account \
                       WHERE owner = ?1 AND currency = ?2 AND name = ?3 AND is_closed = 0";
            let tag = lot.tag.to_string();
            let left: Option<i64> = connection
                .prepare_cached(sql)?
                .query_row(params![lot.owner.0.as_bytes(), lot.currency.name(), tag], |row| {
                    row.get(0)
                })
                .optional()?;
            Ok(AccountHeadroom { debits: left.unwrap_or(0), credits: 0 })
        }
        LedgerAccount::System(system) => {
            let sql = "SELECT debits, credits FROM account \
                       WHERE owner IS NULL AND currency = ?1 AND name = ?2";
            let kind = system.kind.to_string();
            let sums: Option<(i64, i64)> = connection
                .prepare_cached(sql)?
                .query_row([system.currency.name(), &kind], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let (debits, credits) = sums.unwrap_or((0, 0));
            Ok(AccountHeadroom { debits: i64::MAX - debits, credits: i64::MAX - credits })
        }
    }
}

/// True if the journal has a transfer of this entry and leg.
fn is_posted(connection: &Connection, transfer: &LedgerTransfer) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM transfer WHERE entry = ?1 AND leg = ?2)";
    let key = params![transfer.entry.0.as_bytes(), transfer.leg];
    connection.prepare_cached(sql)?.query_row(key, |row| row.get(0))
}
