//! Work that several callers want at the same time, done once: the first does it, the rest wait.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use tokio::sync::watch;

/// The work under way, by what it is.
#[derive(Debug)]
pub struct Flights<Key: Eq + Hash, Outcome> {
    /// Locked only to look something up or to note it, never while waiting.
    under_way: Mutex<HashMap<Key, watch::Receiver<Option<Outcome>>>>,
}

/// What a caller has to do.
#[derive(Debug)]
pub enum Boarding<Key: Eq + Hash + Clone, Outcome> {
    /// Nobody else is at it: do the work and say how it ended.
    Lead(Leader<Key, Outcome>),
    /// Somebody else is at it: wait.
    Follow(Follower<Outcome>),
}

/// The duty to do the work. Dropped without an outcome, it leaves the work to the next caller.
#[derive(Debug)]
pub struct Leader<Key: Eq + Hash + Clone, Outcome> {
    flights: Arc<Flights<Key, Outcome>>,
    key: Key,
    outcome: watch::Sender<Option<Outcome>>,
}

#[derive(Debug)]
pub struct Follower<Outcome> {
    outcome: watch::Receiver<Option<Outcome>>,
}

impl<Key: Eq + Hash, Outcome> Default for Flights<Key, Outcome> {
    fn default() -> Flights<Key, Outcome> {
        Flights { under_way: Mutex::default() }
    }
}

impl<Key: Eq + Hash + Clone, Outcome: Clone> Flights<Key, Outcome> {
    pub fn board(self: &Arc<Flights<Key, Outcome>>, key: Key) -> Boarding<Key, Outcome> {
        let mut under_way = self.lock();
        if let Some(outcome) = under_way.get(&key) {
            return Boarding::Follow(Follower { outcome: outcome.clone() });
        }
        let (sender, receiver) = watch::channel(None);
        under_way.insert(key.clone(), receiver);
        Boarding::Lead(Leader { flights: Arc::clone(self), key, outcome: sender })
    }
}

impl<Key: Eq + Hash, Outcome> Flights<Key, Outcome> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<Option<Outcome>>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Key: Eq + Hash + Clone, Outcome> Leader<Key, Outcome> {
    /// Tells everybody who waits. Whoever comes later starts anew.
    pub fn land(self, outcome: Outcome) {
        self.outcome.send_replace(Some(outcome));
    }
}

impl<Key: Eq + Hash + Clone, Outcome> Drop for Leader<Key, Outcome> {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.key);
    }
}

impl<Outcome: Clone> Follower<Outcome> {
    /// How the work ended; `None` if its leader gave up.
    pub async fn landed(mut self) -> Option<Outcome> {
        let landed = self.outcome.wait_for(Option::is_some).await.ok()?;
        landed.clone()
    }
}

#[cfg(test)]
mod tests;
