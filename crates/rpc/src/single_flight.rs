//! Work that several callers want at the same time, done once: the first does it, the rest wait.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use tokio::sync::watch;

/// The work under way, by what it is.
#[derive(Debug)]
pub struct SingleFlight<Key: Eq + Hash, Outcome> {
    /// Locked only to look something up or to note it, never while waiting.
    under_way: Mutex<UnderWay<Key, Outcome>>,
}

/// Hardly any work has followers, so the way to tell them is made for the first one.
type UnderWay<Key, Outcome> = HashMap<Key, Option<watch::Sender<Option<Outcome>>>>;

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
    single_flight: Arc<SingleFlight<Key, Outcome>>,
    /// None once it has landed.
    key: Option<Key>,
}

#[derive(Debug)]
pub struct Follower<Outcome> {
    outcome: watch::Receiver<Option<Outcome>>,
}

impl<Key: Eq + Hash, Outcome> Default for SingleFlight<Key, Outcome> {
    fn default() -> SingleFlight<Key, Outcome> {
        SingleFlight { under_way: Mutex::default() }
    }
}

impl<Key: Eq + Hash + Clone, Outcome: Clone> SingleFlight<Key, Outcome> {
    pub fn board(self: &Arc<SingleFlight<Key, Outcome>>, key: Key) -> Boarding<Key, Outcome> {
        match self.lock().entry(key) {
            Entry::Occupied(mut known) => {
                let followed = known.get_mut().get_or_insert_with(|| watch::Sender::new(None));
                Boarding::Follow(Follower { outcome: followed.subscribe() })
            }
            Entry::Vacant(new) => {
                let key = Some(new.key().clone());
                new.insert(None);
                Boarding::Lead(Leader { single_flight: Arc::clone(self), key })
            }
        }
    }
}

impl<Key: Eq + Hash, Outcome> SingleFlight<Key, Outcome> {
    fn lock(&self) -> MutexGuard<'_, UnderWay<Key, Outcome>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Key: Eq + Hash + Clone, Outcome: Clone> Leader<Key, Outcome> {
    /// Tells everybody who waits. Whoever comes later starts anew.
    pub fn land(mut self, outcome: &Outcome) {
        if let Some(followed) = self.end() {
            followed.send_replace(Some(outcome.clone()));
        }
    }
}

impl<Key: Eq + Hash + Clone, Outcome> Leader<Key, Outcome> {
    /// The work is under way no more. Gives the way to tell those who follow, if any do.
    fn end(&mut self) -> Option<watch::Sender<Option<Outcome>>> {
        let key = self.key.take()?;
        self.single_flight.lock().remove(&key).flatten()
    }
}

impl<Key: Eq + Hash + Clone, Outcome> Drop for Leader<Key, Outcome> {
    fn drop(&mut self) {
        drop(self.end());
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
