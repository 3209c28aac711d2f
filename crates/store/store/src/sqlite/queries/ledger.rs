//! Queries about money: balances, the journal, and an owner's statement.

use ledger_core::{EntryId, OwnerId};
use money::{BalanceCurrency, Nano};

use crate::journal::{JournalEntry, LedgerBooks};
use crate::sqlite::{SqliteStore, journal, load, statement};
use crate::statement::AccountStatement;
use crate::{LedgerStore, StoreFuture};

impl LedgerStore for SqliteStore {
    fn load_books(&self) -> StoreFuture<'_, LedgerBooks> {
        self.query_posted(load::open_books)
    }

    fn read_statement(
        &self,
        owner: OwnerId,
        skip: usize,
        size: usize,
    ) -> StoreFuture<'_, AccountStatement> {
        self.query_posted(move |connection| {
            statement::build_statement(connection, owner, skip, size)
        })
    }

    fn read_journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<JournalEntry>> {
        self.query_posted(move |connection| journal::entries_after(connection, after_seq, limit))
    }

    fn find_transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<JournalEntry>> {
        self.query_posted(move |connection| journal::entries_of(connection, entry))
    }

    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool> {
        self.query_posted(move |connection| journal::is_recorded(connection, entry))
    }

    fn given_credit(&self, owner: OwnerId, currency: BalanceCurrency) -> StoreFuture<'_, Nano> {
        self.query_posted(move |connection| journal::given_credit(connection, owner, currency))
    }

    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, LedgerBooks> {
        self.query_posted(move |connection| load::changed_books(connection, after_seq))
    }

    fn trial_balance(&self) -> StoreFuture<'_, LedgerBooks> {
        self.query_posted(load::trial_balance)
    }
}
