//! Queries about money: balances, the journal, and an owner's statement.

use credits::{EntryId, OwnerId};
use money::{Currency, Nano};

use crate::StoreFuture;
use crate::journal::{Books, Entry};
use crate::statement::Statement;

pub trait BookStore: Send + Sync {
    /// Everything that the ledger needs to start, from balances and not from the journal; closed
    /// lots are left out.
    fn load(&self) -> StoreFuture<'_, Books>;

    /// The owner's statement, newest first, after the first `skip` lines.
    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> StoreFuture<'_, Statement>;

    /// The journal after a sequence number, oldest first: for export and for verification.
    fn journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<Entry>>;

    /// The transfers of one command, empty if it never happened.
    fn transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<Entry>>;

    /// True if a command is in the journal, with or without transfers.
    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool>;

    /// The operator's grants to an owner's main lot of a currency, minus what was taken back.
    fn given_credit(&self, owner: OwnerId, currency: Currency) -> StoreFuture<'_, Nano>;

    /// The open accounts, and those that a transfer after a sequence number touched, for periodic
    /// reconciliation. Its size does not grow with history.
    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, Books>;

    /// All sums of the journal, with closed lots: for verification.
    fn trial_balance(&self) -> StoreFuture<'_, Books>;
}
