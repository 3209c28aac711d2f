//! Queries about money: balances, the journal, and an owner's statement.

use ledger_core::{EntryId, OwnerId};
use money::{BalanceCurrency, Nano};

use crate::journal::{ENTRIES_MAX, JournalEntry, LedgerBooks};
use crate::sql::connection::{PagedSequence, SequencePage, SequencedTable};
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlStore, books, journal, statement};
use crate::statement::AccountStatement;
use crate::{LedgerStore, StoreFuture};

const ENTRIES: PagedSequence<JournalEntry> = PagedSequence {
    table: SequencedTable::Transfers,
    sql: journal::READ_AFTER,
    read: journal::entry_at,
    seq: |entry| entry.seq,
};

impl<S: SqlStore> LedgerStore for S {
    fn load_books(&self) -> StoreFuture<'_, LedgerBooks> {
        self.read(ReadMode::SETTLED.with_charges(), |db| Box::pin(books::open_books(db)))
    }

    fn read_statement(
        &self,
        owner: OwnerId,
        skip: usize,
        size: usize,
    ) -> StoreFuture<'_, AccountStatement> {
        self.read(ReadMode::SNAPSHOT.with_charges(), move |db| {
            Box::pin(statement::build_statement(db, owner, skip, size))
        })
    }

    fn read_journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<JournalEntry>> {
        self.read_sequence(ENTRIES, SequencePage { after_seq, limit: limit.min(ENTRIES_MAX) })
    }

    fn find_transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<JournalEntry>> {
        let (mode, values) = (ReadMode::STATEMENT.with_charges(), sql_values![entry]);
        self.read_rows(mode, journal::READ_ENTRY, values, journal::entry_at)
    }

    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool> {
        let (mode, values) = (ReadMode::LOOKUP.with_charges(), sql_values![entry]);
        self.read_single(mode, journal::IS_RECORDED, values, |row| row.get(0))
    }

    fn given_credit(&self, owner: OwnerId, currency: BalanceCurrency) -> StoreFuture<'_, Nano> {
        let values = sql_values![owner, currency.name()];
        self.read(ReadMode::STATEMENT.with_charges(), move |db| {
            Box::pin(async move {
                let given = db.row(journal::GIVEN_CREDIT, &values, |row| row.get(0)).await?;
                Ok(given.unwrap_or(Nano::ZERO))
            })
        })
    }

    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, LedgerBooks> {
        Box::pin(async move {
            let changed = self.read(ReadMode::SETTLED.with_charges(), move |db| {
                Box::pin(books::changed_books(db, after_seq))
            });
            let changed = changed.await?;
            self.note_settled(SequencedTable::Transfers, changed.last_seq);
            Ok(changed)
        })
    }

    fn trial_balance(&self) -> StoreFuture<'_, LedgerBooks> {
        self.read(ReadMode::SETTLED.with_charges(), |db| Box::pin(books::trial_balance(db)))
    }
}
