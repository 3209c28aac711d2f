//! Queries about money: balances, the journal, and an owner's statement.

use credits::{EntryId, OwnerId};
use money::{Currency, Nano};

use crate::journal::{Books, Entry};
use crate::sqlite::{Sqlite, journal, load, statement};
use crate::statement::Statement;
use crate::{BookStore, StoreFuture};

impl BookStore for Sqlite {
    fn load(&self) -> StoreFuture<'_, Books> {
        self.ask_posted(load::open_books)
    }

    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> StoreFuture<'_, Statement> {
        self.ask_posted(move |connection| statement::statement(connection, owner, skip, size))
    }

    fn journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<Entry>> {
        self.ask_posted(move |connection| journal::entries_after(connection, after_seq, limit))
    }

    fn transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<Entry>> {
        self.ask_posted(move |connection| journal::entries_of(connection, entry))
    }

    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool> {
        self.ask_posted(move |connection| journal::is_recorded(connection, entry))
    }

    fn given_credit(&self, owner: OwnerId, currency: Currency) -> StoreFuture<'_, Nano> {
        self.ask_posted(move |connection| journal::given_credit(connection, owner, currency))
    }

    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, Books> {
        self.ask_posted(move |connection| load::changed_books(connection, after_seq))
    }

    fn trial_balance(&self) -> StoreFuture<'_, Books> {
        self.ask_posted(load::trial_balance)
    }
}
