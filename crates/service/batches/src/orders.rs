//! Creates, queries and cancels batches.

use std::fmt::Display;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::entropy::time_ordered_id;
use ledger_core::OwnerId;
use store::batch::{BatchCounts, BatchId, BatchState, BatchStep, BatchWrite, StoredBatch};
use store::error::StoreError;
use store::file::{FileId, FileWrite};
use store::write::{StoreWrite, WriteGroup};

use crate::service::BatchService;

/// Time that the input file is kept after the window, until the last results are in files.
const INPUT_SLACK: Duration = Duration::from_secs(24 * 60 * 60);

/// A batch to be created.
pub struct BatchOrder {
    pub owner: OwnerId,
    /// The credential and country, in the form of the line server.
    pub caller: String,
    /// The path that each line names.
    pub endpoint: String,
    pub input_file: FileId,
    /// Tags of the caller, as JSON.
    pub metadata: Option<String>,
    pub keep_output: Option<Duration>,
}

/// The reason why a batch was not created or cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    #[error("the owner has {most} batches that have not ended")]
    TooMany { most: usize },
    #[error("the input file was deleted")]
    NoFile,
    /// It has ended, or all of its lines have.
    #[error("the batch cannot be cancelled any more")]
    Ended(Box<StoredBatch>),
    #[error("the batch cannot be written: {0}")]
    Unavailable(String),
}

impl BatchService {
    /// Queues a batch. Its input file is kept until it has ended.
    pub async fn create_batch(&self, order: BatchOrder) -> Result<StoredBatch, OrderError> {
        let most = self.settings.open_per_owner_max;
        let open = self.parts.store.open_batches(order.owner).await.map_err(unavailable)?;
        if most as u64 <= open {
            return Err(OrderError::TooMany { most });
        }
        let now = self.now();
        let mut key = [0; 32];
        self.parts.entropy.fill_bytes(&mut key);
        let expires = now.plus(self.settings.window);
        let batch = StoredBatch {
            id: BatchId(time_ordered_id(now, self.parts.entropy.as_ref())),
            owner: order.owner,
            caller: order.caller,
            endpoint: order.endpoint,
            input_file: order.input_file,
            metadata: order.metadata,
            keep_output_ms: order.keep_output.and_then(|it| i64::try_from(it.as_millis()).ok()),
            state: BatchState::Validating,
            errors: None,
            result_key: Some(key),
            counts: BatchCounts::default(),
            output_file: None,
            error_file: None,
            created: now,
            expires,
            started: None,
            finalizing: None,
            cancelling: None,
            ended: None,
        };
        let until = expires.plus(INPUT_SLACK);
        let writes: Vec<StoreWrite> = vec![
            FileWrite::KeepUntil { file: order.input_file, until }.into(),
            BatchWrite::Add(Box::new(batch.clone())).into(),
        ];
        match self.parts.store.commit(WriteGroup { writes }).await {
            Ok(()) => {}
            Err(StoreError::Missing(_)) => return Err(OrderError::NoFile),
            Err(error) => return Err(unavailable(error)),
        }
        self.added.notify_one();
        Ok(batch)
    }

    /// The batch of an owner; `None` if it is another's.
    pub async fn find_batch(
        &self,
        owner: OwnerId,
        id: BatchId,
    ) -> Result<Option<StoredBatch>, StoreError> {
        Ok(self.parts.store.batch(id).await?.filter(|batch| batch.owner == owner))
    }

    /// The batches of an owner, newest first, after a batch.
    pub async fn list_batches(
        &self,
        owner: OwnerId,
        after: Option<BatchId>,
        limit: usize,
    ) -> Result<Vec<StoredBatch>, StoreError> {
        self.parts.store.list_batches(owner, after, limit).await
    }

    /// Ends a batch: no more lines begin, and those in progress are settled.
    pub async fn cancel_batch(&self, batch: StoredBatch) -> Result<StoredBatch, OrderError> {
        let write = BatchWrite::Step { batch: batch.id, step: BatchStep::Cancel, at: self.now() };
        match self.parts.store.commit(WriteGroup::from_write(write.into())).await {
            Ok(()) | Err(StoreError::Missing(_)) => {}
            Err(error) => return Err(unavailable(error)),
        }
        if let Some(active) = self.lock_runs().active.get(&batch.id) {
            active.is_cancelled.store(true, Ordering::Relaxed);
        }
        self.added.notify_one();
        let found = self.parts.store.batch(batch.id).await.map_err(unavailable)?;
        let batch = found.unwrap_or(batch);
        match batch.state {
            BatchState::Cancelling | BatchState::Cancelled => Ok(batch),
            _ => Err(OrderError::Ended(Box::new(batch))),
        }
    }
}

fn unavailable(error: impl Display) -> OrderError {
    OrderError::Unavailable(error.to_string())
}
