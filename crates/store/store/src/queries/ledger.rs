//! Queries about money: balances, the journal, and an owner's statement.

use ledger_core::{EntryId, OwnerId};
use money::{BalanceCurrency, Nano};

use crate::StoreFuture;
use crate::journal::{JournalEntry, LedgerBooks};
use crate::statement::AccountStatement;

pub trait LedgerStore: Send + Sync {
    /// Everything that the ledger needs to start, from balances and not from the journal; closed
    /// lots are left out.
    fn load_books(&self) -> StoreFuture<'_, LedgerBooks>;

    /// The owner's statement, newest first, after the first `skip` lines.
    fn read_statement(
        &self,
        owner: OwnerId,
        skip: usize,
        size: usize,
    ) -> StoreFuture<'_, AccountStatement>;

    /// The journal after a sequence number, oldest first: for export and for verification.
    fn read_journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<JournalEntry>>;

    /// The transfers of one command, empty if it never happened.
    fn find_transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<JournalEntry>>;

    /// True if a command is in the journal, with or without transfers.
    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool>;

    /// The operator's grants to an owner's main lot of a currency, minus what was taken back.
    fn given_credit(&self, owner: OwnerId, currency: BalanceCurrency) -> StoreFuture<'_, Nano>;

    /// The open accounts, and those that a transfer after a sequence number touched, for periodic
    /// reconciliation. Its size does not grow with history.
    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, LedgerBooks>;

    /// All sums of the journal, with closed lots: for verification.
    fn trial_balance(&self) -> StoreFuture<'_, LedgerBooks>;
}
