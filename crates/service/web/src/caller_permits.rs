//! Concurrency limits: for all callers together, and for each caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sandbox::CallerId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The limits of concurrent use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PermitLimits {
    pub(crate) all_max: usize,
    /// Maximum per caller. Further requests of the caller wait for its own.
    pub(crate) each_max: usize,
    /// Maximum wait of a caller within its own limit for other callers.
    pub(crate) wait_max: Duration,
}

/// The slots of all callers.
#[derive(Debug)]
pub(crate) struct CallerPermits {
    limits: PermitLimits,
    all: Arc<Semaphore>,
    /// Callers with a slot or waiting for one. Locked for a lookup, never across an await.
    own: Arc<OwnPermits>,
}

type OwnPermits = Mutex<HashMap<CallerId, Arc<Semaphore>>>;

/// One slot, until it is dropped.
#[derive(Debug)]
pub(crate) struct CallerPermit {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnPermit>,
}

/// Other callers use all slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoPermit;

impl CallerPermits {
    pub(crate) fn new(limits: PermitLimits) -> CallerPermits {
        let all = Arc::new(Semaphore::new(limits.all_max));
        CallerPermits { limits, all, own: Arc::default() }
    }

    /// Waits for a slot. The service's own work has no caller and no limit per caller.
    pub(crate) async fn take(&self, caller: Option<CallerId>) -> Result<CallerPermit, NoPermit> {
        let own = match caller {
            Some(caller) => Some(OwnPermit::take(&self.own, caller, self.limits.each_max).await?),
            None => None,
        };
        let waiting = timeout(self.limits.wait_max, Arc::clone(&self.all).acquire_owned());
        let all = waiting.await.map_err(|_| NoPermit)?.map_err(|_| NoPermit)?;
        Ok(CallerPermit { _all: all, _own: own })
    }
}

/// A slot of one caller, or the wait for it. The caller's entry is removed with the last of them.
#[derive(Debug)]
struct OwnPermit {
    callers: Arc<OwnPermits>,
    caller: CallerId,
    turns: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl OwnPermit {
    async fn take(
        callers: &Arc<OwnPermits>,
        caller: CallerId,
        each_max: usize,
    ) -> Result<OwnPermit, NoPermit> {
        let turns =
            lock_callers(callers).entry(caller).or_insert_with(|| new_semaphore(each_max)).clone();
        let callers = Arc::clone(callers);
        let mut own = OwnPermit { callers, caller, turns: Some(Arc::clone(&turns)), permit: None };
        own.permit = Some(turns.acquire_owned().await.map_err(|_| NoPermit)?);
        Ok(own)
    }
}

impl Drop for OwnPermit {
    fn drop(&mut self) {
        let mut callers = lock_callers(&self.callers);
        self.permit = None;
        self.turns = None;
        // Every holder and waiter of a slot also holds a reference to the semaphore.
        if callers.get(&self.caller).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            callers.remove(&self.caller);
        }
    }
}

fn new_semaphore(each_max: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(each_max))
}

fn lock_callers(callers: &OwnPermits) -> MutexGuard<'_, HashMap<CallerId, Arc<Semaphore>>> {
    callers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::Instant;

    use super::*;

    const LIMITS: PermitLimits =
        PermitLimits { all_max: 4, each_max: 2, wait_max: Duration::from_secs(1) };

    fn caller(number: u128) -> Option<CallerId> {
        Some(CallerId(number))
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_has_a_few_turns_and_others_are_not_held_up() {
        let turns = CallerPermits::new(LIMITS);
        let first = turns.take(caller(1)).await.unwrap();
        let _second = turns.take(caller(1)).await.unwrap();
        assert!(turns.take(caller(1)).now_or_never().is_none(), "it waits for its own");
        let _other = turns.take(caller(2)).now_or_never().unwrap().unwrap();
        drop(first);
        assert!(turns.take(caller(1)).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_turns_are_taken_others_are_told_so_in_time() {
        let turns = CallerPermits::new(LIMITS);
        let mut taken = Vec::new();
        for number in [1, 1, 2, 2] {
            taken.push(turns.take(caller(number)).await.unwrap());
        }
        let before = Instant::now();
        assert_eq!(turns.take(caller(3)).await.unwrap_err(), NoPermit);
        assert_eq!(before.elapsed(), LIMITS.wait_max);
        taken.clear();
        assert!(turns.take(caller(3)).await.is_ok());
        assert!(lock_callers(&turns.own).is_empty(), "nothing is kept of callers without a turn");
    }
}
