//! Batches: one row for each, and one for each result until the results are in files.
//!
//! ```text
//! validating ──► in_progress ──► finalizing ──► completed
//!   │    │            │  │
//!   │    └─► failed   │  └──────────────────────► expired
//!   └────────────►  cancelling ─────────────────► cancelled
//! ```
//!
//! A step names the states that it may be taken in; in another one it is
//! [`StoreError::Missing`](crate::error::StoreError), and changes nothing.

use ledger_core::{EntryId, OwnerId};
use moment::Timestamp;
use money::Nano;
use uuid::Uuid;

use crate::file::FileId;

/// The maximum number of batches per query.
pub const BATCHES_MAX: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub Uuid);

/// A batch, and its progress.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredBatch {
    pub id: BatchId,
    pub owner: OwnerId,
    /// The credential and country with which it was created, in a form that the store does not read.
    pub caller: String,
    /// The path that each line names.
    pub endpoint: String,
    pub input_file: FileId,
    /// Tags of the caller, as JSON.
    pub metadata: Option<String>,
    /// Time that output files are kept, if the caller chose one.
    pub keep_output_ms: Option<i64>,
    pub state: BatchState,
    /// Faults of the input file, as JSON.
    pub errors: Option<String>,
    /// Seals the results; None once the batch has ended.
    pub result_key: Option<[u8; 32]>,
    pub counts: BatchCounts,
    pub output_file: Option<FileId>,
    pub error_file: Option<FileId>,
    pub created: Timestamp,
    pub expires: Timestamp,
    pub started: Option<Timestamp>,
    pub finalizing: Option<Timestamp>,
    pub cancelling: Option<Timestamp>,
    pub ended: Option<Timestamp>,
}

/// Prints everything but the key and the caller's own words.
impl std::fmt::Debug for StoredBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Batch({}, {}, {:?})", self.id.0, self.state.name(), self.counts)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchCounts {
    pub lines: u64,
    pub completed: u64,
    pub failed: u64,
    /// Bytes of the results.
    pub result_bytes: u64,
    pub cost: BatchCost,
}

/// The amount that was charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchCost {
    /// In all currencies but DIEM.
    pub usd: Nano,
    pub diem: Nano,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchState {
    Validating,
    InProgress,
    Finalizing,
    Cancelling,
    Completed,
    Failed,
    Expired,
    Cancelled,
}

/// A change of an open batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchStep {
    /// The input file is valid.
    Start { lines: u64 },
    /// The input file has faults.
    Fail { errors: String },
    /// All lines have results.
    Finalize,
    /// The caller wants it to end.
    Cancel,
    /// Written in one group with the files. Lines without a result count as failed.
    End { state: BatchState, output_file: Option<FileId>, error_file: Option<FileId> },
}

/// The result of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchLine {
    pub batch: BatchId,
    /// The line's number in the file, from one.
    pub line: u32,
    /// The id of the charge in the same group; None for a line that failed or was free.
    pub charge: Option<EntryId>,
    pub is_failed: bool,
    pub cost: BatchCost,
    /// Sealed with the key of the batch.
    pub result: Vec<u8>,
}

/// The writes about batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchWrite {
    Add(Box<StoredBatch>),
    Step {
        batch: BatchId,
        step: BatchStep,
        at: Timestamp,
    },
    /// Adds a result. A charged one replaces an uncharged one, and a second charged one is refused;
    /// an uncharged one changes nothing if there is a result.
    FinishLine(Box<BatchLine>),
    /// Deletes results of ended batches.
    DropLines {
        rows_max: usize,
    },
    /// Deletes batches that ended before a moment.
    DropEnded {
        before: Timestamp,
        rows_max: usize,
    },
}

/// Some results of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLineRange {
    pub batch: BatchId,
    pub is_failed: bool,
    pub first: u32,
    pub last: u32,
}

/// The number of a line, and the bytes of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLineSize {
    pub line: u32,
    pub bytes: u64,
}

/// The sealed result of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedResult {
    pub line: u32,
    pub result: Vec<u8>,
}

impl BatchState {
    pub const ALL: [BatchState; 8] = [
        BatchState::Validating,
        BatchState::InProgress,
        BatchState::Finalizing,
        BatchState::Cancelling,
        BatchState::Completed,
        BatchState::Failed,
        BatchState::Expired,
        BatchState::Cancelled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            BatchState::Validating => "validating",
            BatchState::InProgress => "in_progress",
            BatchState::Finalizing => "finalizing",
            BatchState::Cancelling => "cancelling",
            BatchState::Completed => "completed",
            BatchState::Failed => "failed",
            BatchState::Expired => "expired",
            BatchState::Cancelled => "cancelled",
        }
    }

    pub fn parse(name: &str) -> Option<BatchState> {
        BatchState::ALL.into_iter().find(|state| state.name() == name)
    }

    pub fn is_open(self) -> bool {
        matches!(
            self,
            BatchState::Validating
                | BatchState::InProgress
                | BatchState::Finalizing
                | BatchState::Cancelling
        )
    }
}
