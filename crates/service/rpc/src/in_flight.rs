//! Limits the concurrent requests of one caller.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

/// Half of a network's default limit, so that one caller cannot exclude the others.
pub const IN_FLIGHT_PER_OWNER_MAX: usize = 128;

/// The number of requests in progress of every caller that has any.
pub struct InFlight<Owner> {
    /// Locked only to count, never across an await.
    by_owner: Mutex<HashMap<Owner, usize>>,
}

/// A request's slot; dropping it frees it.
#[must_use = "a place that is not kept is free at once"]
pub struct InFlightSlot<Owner: Eq + Hash + Copy> {
    in_flight: Arc<InFlight<Owner>>,
    owner: Owner,
}

impl<Owner> Default for InFlight<Owner> {
    fn default() -> InFlight<Owner> {
        InFlight { by_owner: Mutex::default() }
    }
}

impl<Owner: Eq + Hash + Copy> InFlight<Owner> {
    /// None if the owner has the maximum number of requests in progress.
    pub fn acquire_slot(self: &Arc<InFlight<Owner>>, owner: Owner) -> Option<InFlightSlot<Owner>> {
        let mut by_owner = self.lock();
        let count = by_owner.entry(owner).or_default();
        if IN_FLIGHT_PER_OWNER_MAX <= *count {
            return None;
        }
        *count += 1;
        Some(InFlightSlot { in_flight: Arc::clone(self), owner })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, usize>> {
        // A panic while counting leaves the numbers usable: continue with them.
        self.by_owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Owner: Eq + Hash + Copy> Drop for InFlightSlot<Owner> {
    fn drop(&mut self) {
        let mut by_owner = self.in_flight.lock();
        let Some(count) = by_owner.get_mut(&self.owner) else { return };
        *count -= 1;
        if *count == 0 {
            by_owner.remove(&self.owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_so_many_turns_and_gets_them_back() {
        let in_flight = Arc::new(InFlight::default());
        let turns: Vec<_> = (0..IN_FLIGHT_PER_OWNER_MAX)
            .map(|_| in_flight.acquire_slot(1).expect("a turn"))
            .collect();
        assert!(in_flight.acquire_slot(1).is_none());
        assert!(in_flight.acquire_slot(2).is_some());
        drop(turns);
        assert!(in_flight.acquire_slot(1).is_some());
        assert!(in_flight.lock().is_empty(), "nothing is kept of those who have none");
    }
}
