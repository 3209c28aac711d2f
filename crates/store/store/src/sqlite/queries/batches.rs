//! Queries about callers' files and batches.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::batch::{BatchId, BatchLineRange, BatchLineSize, SealedResult, StoredBatch};
use crate::file::{FileFilter, FileId, FileTotals, StoredFile};
use crate::sqlite::{SqliteStore, batches, files};
use crate::{BatchStore, StoreFuture};

impl BatchStore for SqliteStore {
    fn file(&self, id: FileId) -> StoreFuture<'_, Option<StoredFile>> {
        self.query(move |connection| files::read_file(connection, id))
    }

    fn list_files(&self, filter: FileFilter) -> StoreFuture<'_, Vec<StoredFile>> {
        self.query(move |connection| files::list_files(connection, &filter))
    }

    fn file_totals(&self, owner: OwnerId, now: Timestamp) -> StoreFuture<'_, FileTotals> {
        self.query(move |connection| files::sum_files(connection, owner, now))
    }

    fn batch(&self, id: BatchId) -> StoreFuture<'_, Option<StoredBatch>> {
        self.query(move |connection| batches::read_batch(connection, id))
    }

    fn list_batches(
        &self,
        owner: OwnerId,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        self.query(move |connection| batches::list_batches(connection, owner, after, limit))
    }

    fn open_batches(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.query(move |connection| batches::count_open(connection, owner))
    }

    fn is_batch_input(&self, file: FileId) -> StoreFuture<'_, bool> {
        self.query(move |connection| batches::is_input(connection, file))
    }

    fn due_batches(
        &self,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        self.query(move |connection| batches::find_due(connection, after, limit))
    }

    fn finished_lines(&self, batch: BatchId) -> StoreFuture<'_, Vec<u32>> {
        self.query(move |connection| batches::list_finished_lines(connection, batch))
    }

    fn result_sizes(
        &self,
        range: BatchLineRange,
        limit: usize,
    ) -> StoreFuture<'_, Vec<BatchLineSize>> {
        self.query(move |connection| batches::read_sizes(connection, range, limit))
    }

    fn read_results(&self, range: BatchLineRange) -> StoreFuture<'_, Vec<SealedResult>> {
        self.query(move |connection| batches::read_results(connection, range))
    }
}
