//! Deduplicates concurrent work: the first caller of a key does it, the others wait for the
//! outcome.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use tokio::sync::watch;

/// The work in progress, by key.
#[derive(Debug)]
pub struct SingleFlight<Key: Eq + Hash, Outcome> {
    /// Locked only for lookups and updates, never while waiting.
    under_way: Mutex<FlightTable<Key, Outcome>>,
}

/// Followers are rare, so the channel is created for the first one.
type FlightTable<Key, Outcome> = HashMap<Key, Option<watch::Sender<Option<Outcome>>>>;

/// The caller's part in the work.
#[derive(Debug)]
pub enum FlightRole<Key: Eq + Hash + Clone, Outcome> {
    /// No other caller is working on this key: do the work and report the outcome.
    Lead(FlightLeader<Key, Outcome>),
    /// Another caller is working on this key: wait for the outcome.
    Follow(FlightFollower<Outcome>),
}

/// The right to do the work. If dropped without an outcome, the next caller becomes the leader.
#[derive(Debug)]
pub struct FlightLeader<Key: Eq + Hash + Clone, Outcome> {
    single_flight: Arc<SingleFlight<Key, Outcome>>,
    /// `None` once the work has ended.
    key: Option<Key>,
}

#[derive(Debug)]
pub struct FlightFollower<Outcome>(watch::Receiver<Option<Outcome>>);

impl<Key: Eq + Hash, Outcome> Default for SingleFlight<Key, Outcome> {
    fn default() -> SingleFlight<Key, Outcome> {
        SingleFlight { under_way: Mutex::default() }
    }
}

impl<Key: Eq + Hash + Clone, Outcome: Clone> SingleFlight<Key, Outcome> {
    pub fn join(self: &Arc<SingleFlight<Key, Outcome>>, key: Key) -> FlightRole<Key, Outcome> {
        match self.lock().entry(key) {
            Entry::Occupied(mut known) => FlightRole::Follow(subscribe_follower(known.get_mut())),
            Entry::Vacant(new) => {
                let key = Some(new.key().clone());
                new.insert(None);
                FlightRole::Lead(FlightLeader { single_flight: Arc::clone(self), key })
            }
        }
    }
}

impl<Key: Eq + Hash, Outcome> SingleFlight<Key, Outcome> {
    pub fn is_under_way(&self, key: &Key) -> bool {
        self.lock().contains_key(key)
    }

    /// The number of keys in progress.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, FlightTable<Key, Outcome>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Key: Eq + Hash + Clone, Outcome: Clone> FlightLeader<Key, Outcome> {
    /// Sends the outcome to all followers. A later call starts the work again.
    pub fn finish(mut self, outcome: &Outcome) {
        if let Some(followed) = self.remove_key() {
            followed.send_replace(Some(outcome.clone()));
        }
    }

    /// Returns a follower of this work, for a leader that does the work in another task.
    pub fn add_follower(&self) -> FlightFollower<Outcome> {
        let mut under_way = self.single_flight.lock();
        let entry = self.key.as_ref().and_then(|key| under_way.get_mut(key));
        subscribe_follower(entry.unwrap_or(&mut None))
    }
}

impl<Key: Eq + Hash + Clone, Outcome> FlightLeader<Key, Outcome> {
    /// Removes the key and returns the channel to its followers, if there are any.
    fn remove_key(&mut self) -> Option<watch::Sender<Option<Outcome>>> {
        let key = self.key.take()?;
        self.single_flight.lock().remove(&key).flatten()
    }
}

impl<Key: Eq + Hash + Clone, Outcome> Drop for FlightLeader<Key, Outcome> {
    fn drop(&mut self) {
        drop(self.remove_key());
    }
}

impl<Outcome: Clone> FlightFollower<Outcome> {
    /// Waits for the outcome; `None` if the leader was dropped without one.
    pub async fn wait_for_outcome(mut self) -> Option<Outcome> {
        let ended = self.0.wait_for(Option::is_some).await.ok()?;
        ended.clone()
    }
}

fn subscribe_follower<Outcome>(
    followed: &mut Option<watch::Sender<Option<Outcome>>>,
) -> FlightFollower<Outcome> {
    FlightFollower(followed.get_or_insert_with(|| watch::Sender::new(None)).subscribe())
}

#[cfg(test)]
mod tests;
