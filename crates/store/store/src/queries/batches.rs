//! Queries about callers' files and batches.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::StoreFuture;
use crate::batch::{BatchId, BatchLineRange, BatchLineSize, SealedResult, StoredBatch};
use crate::file::{FileFilter, FileId, FileTotals, StoredFile};

pub trait BatchStore: Send + Sync {
    /// A file that was not deleted. It may have expired.
    fn file(&self, id: FileId) -> StoreFuture<'_, Option<StoredFile>>;

    fn list_files(&self, filter: FileFilter) -> StoreFuture<'_, Vec<StoredFile>>;

    /// The files of an owner that were not deleted and have not expired.
    fn file_totals(&self, owner: OwnerId, now: Timestamp) -> StoreFuture<'_, FileTotals>;

    fn batch(&self, id: BatchId) -> StoreFuture<'_, Option<StoredBatch>>;

    /// The batches of an owner, newest first, after a batch.
    fn list_batches(
        &self,
        owner: OwnerId,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>>;

    /// The number of batches of an owner that have not ended.
    fn open_batches(&self, owner: OwnerId) -> StoreFuture<'_, u64>;

    /// True if an open batch reads this file.
    fn is_batch_input(&self, file: FileId) -> StoreFuture<'_, bool>;

    /// The oldest open batch of each owner, oldest first, after a batch.
    fn due_batches(
        &self,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>>;

    /// The numbers of the lines that have a result, in order.
    fn finished_lines(&self, batch: BatchId) -> StoreFuture<'_, Vec<u32>>;

    /// The results in a range, in order: their sizes, at most `limit`.
    fn result_sizes(
        &self,
        range: BatchLineRange,
        limit: usize,
    ) -> StoreFuture<'_, Vec<BatchLineSize>>;

    /// The results in a range, in order.
    fn read_results(&self, range: BatchLineRange) -> StoreFuture<'_, Vec<SealedResult>>;
}
