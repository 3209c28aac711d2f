//! The service's state and settings.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::entropy::EntropySource;
use ledger::Ledger;
use ledger_core::OwnerId;
use media_store::MediaStore;
use moment::{Clock, Timestamp};
use money::PriceFactor;
use store::Store;
use store::batch::BatchId;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::interactive::{InteractiveLoad, InteractiveWork};
use crate::room::FileRoom;
use crate::turns::OwnerTurns;

/// Dependencies of the service.
pub struct BatchDependencies {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub media: MediaStore,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn EntropySource>,
}

/// The operator's settings for batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchSettings {
    /// Factor on the prices of a line.
    pub price_factor: PriceFactor,
    /// Maximum lines at once, of all batches together.
    pub concurrency: usize,
    /// Maximum lines per batch.
    pub lines_max: u32,
    /// Maximum bytes of a line.
    pub line_bytes_max: usize,
    /// Maximum unfinished batches per owner.
    pub open_per_owner_max: usize,
    /// Maximum bytes of the results of a batch.
    pub output_bytes_max: u64,
    /// Time after which an unfinished batch ends with what is done.
    pub window: Duration,
    /// Time until an ended batch is deleted.
    pub retention: Duration,
    /// First pause before a line is tried again.
    pub retry_pause: Duration,
    pub files: FileSettings,
}

/// The operator's settings for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSettings {
    pub bytes_max: u64,
    pub per_owner_max: u64,
    pub bytes_per_owner_max: u64,
    /// Time until a file is deleted.
    pub retention: Duration,
}

impl Default for BatchSettings {
    fn default() -> BatchSettings {
        BatchSettings {
            price_factor: PriceFactor::ONE,
            concurrency: 8,
            lines_max: 50_000,
            line_bytes_max: 8 * 1024 * 1024,
            open_per_owner_max: 20,
            output_bytes_max: 2 * 1024 * 1024 * 1024,
            window: Duration::from_secs(24 * 60 * 60),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
            retry_pause: Duration::from_secs(1),
            files: FileSettings::default(),
        }
    }
}

impl Default for FileSettings {
    fn default() -> FileSettings {
        FileSettings {
            bytes_max: 100_000_000,
            per_owner_max: 1_000,
            bytes_per_owner_max: 10_000_000_000,
            retention: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// Files and batches. The rows in the store are authoritative; memory holds only the batches that
/// this process runs.
pub struct BatchService {
    pub(crate) parts: BatchDependencies,
    pub settings: BatchSettings,
    pub(crate) room: FileRoom,
    runs: Mutex<RunningBatches>,
    pub(crate) added: Notify,
    pub(crate) interactive: Arc<InteractiveLoad>,
}

/// The batches that this process runs.
#[derive(Debug, Default)]
pub(crate) struct RunningBatches {
    pub(crate) active: HashMap<BatchId, ActiveBatch>,
    pub(crate) owners: HashSet<OwnerId>,
    pub(crate) turns: OwnerTurns,
    /// Batches whose last run was broken off by a fault, until the time of the next one.
    pub(crate) resting: HashMap<BatchId, Instant>,
    /// True if owners wait for a place.
    pub(crate) has_waiting: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ActiveBatch {
    pub(crate) owner: OwnerId,
    pub(crate) is_cancelled: Arc<AtomicBool>,
}

impl BatchService {
    pub fn new(parts: BatchDependencies, settings: BatchSettings) -> BatchService {
        BatchService {
            parts,
            settings,
            room: FileRoom::default(),
            runs: Mutex::default(),
            added: Notify::new(),
            interactive: Arc::new(InteractiveLoad::new(Instant::now())),
        }
    }

    /// Counts paid work of a caller that waits for it: lines of batches make room for it.
    pub fn begin_interactive(&self) -> InteractiveWork {
        self.interactive.begin_call()
    }

    /// The lines that each active batch may run at once: an equal share of what interactive work
    /// leaves, and at least one, so that every batch goes on.
    pub(crate) fn lines_at_once(&self) -> usize {
        let interactive = self.interactive.running();
        let active = self.lock_runs().active.len().max(1);
        (self.settings.concurrency.saturating_sub(interactive) / active).max(1)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    pub(crate) fn lock_runs(&self) -> MutexGuard<'_, RunningBatches> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
