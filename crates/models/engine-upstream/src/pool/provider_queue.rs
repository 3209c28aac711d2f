//! Limits concurrent and queued requests per provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::EngineError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::upstream::ConcurrencyLimits;

/// About the time until a running answer ends and frees its slot.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Divisor for the slots that work that may wait leaves free.
const SPARE_DIVISOR: usize = 4;

/// Admits requests to one provider in order of arrival.
pub(crate) struct ProviderQueue {
    places: Option<Arc<Semaphore>>,
    slots: usize,
    waiting: AtomicUsize,
    queue_max: usize,
    queue_wait_max: Duration,
}

/// A slot at a provider, released on drop.
pub(super) struct ProviderSlot {
    _permit: Option<OwnedSemaphorePermit>,
}

impl ProviderQueue {
    pub(crate) fn new(concurrency: ConcurrencyLimits) -> ProviderQueue {
        let places = concurrency.requests_max.map(|it| it.min(Semaphore::MAX_PERMITS));
        ProviderQueue {
            slots: places.unwrap_or_default(),
            places: places.map(|count| Arc::new(Semaphore::new(count))),
            waiting: AtomicUsize::new(0),
            queue_max: concurrency.queue_max,
            queue_wait_max: concurrency.queue_wait_max,
        }
    }

    pub(super) fn has_room(&self) -> bool {
        match &self.places {
            Some(places) => 0 < places.available_permits(),
            None => true,
        }
    }

    /// True if a quarter of the slots, and at least one, are free, and no request waits.
    pub(super) fn has_spare_slots(&self) -> bool {
        let Some(places) = &self.places else { return true };
        let kept = (self.slots / SPARE_DIVISOR).max(1);
        self.waiting.load(Ordering::Acquire) == 0 && kept <= places.available_permits()
    }

    pub(super) async fn acquire_slot(&self) -> Result<ProviderSlot, EngineError> {
        let Some(places) = &self.places else { return Ok(ProviderSlot { _permit: None }) };
        if let Ok(permit) = Arc::clone(places).try_acquire_owned() {
            return Ok(ProviderSlot { _permit: Some(permit) });
        }
        let full = || EngineError::Overloaded { retry_after: Some(RETRY_AFTER) };
        let _waiting = QueuePlace::join_queue(&self.waiting, self.queue_max).ok_or_else(full)?;
        match timeout(self.queue_wait_max, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(ProviderSlot { _permit: Some(permit) }),
            Ok(Err(_)) | Err(_) => Err(full()),
        }
    }
}

/// A place in the queue, released on drop: a caller may disconnect while waiting.
struct QueuePlace<'a> {
    count: &'a AtomicUsize,
}

impl QueuePlace<'_> {
    fn join_queue(count: &AtomicUsize, queue_max: usize) -> Option<QueuePlace<'_>> {
        let more = |waiting| (waiting < queue_max).then_some(waiting + 1);
        count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(QueuePlace { count })
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
    }
}
