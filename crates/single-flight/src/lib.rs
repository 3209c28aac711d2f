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

/// Hardly any work has followers, so the channel to them is made for the first one.
type UnderWay<Key, Outcome> = HashMap<Key, Option<watch::Sender<Option<Outcome>>>>;

/// What a caller has to do.
#[derive(Debug)]
pub enum Role<Key: Eq + Hash + Clone, Outcome> {
    /// Nobody else is at it: do the work and say how it ended.
    Lead(Leader<Key, Outcome>),
    /// Somebody else is at it: wait.
    Follow(Follower<Outcome>),
}

/// The duty to do the work. Dropped without an outcome, it leaves the work to the next caller.
#[derive(Debug)]
pub struct Leader<Key: Eq + Hash + Clone, Outcome> {
    single_flight: Arc<SingleFlight<Key, Outcome>>,
    /// None once the work has ended.
    key: Option<Key>,
}

#[derive(Debug)]
pub struct Follower<Outcome>(watch::Receiver<Option<Outcome>>);

impl<Key: Eq + Hash, Outcome> Default for SingleFlight<Key, Outcome> {
    fn default() -> SingleFlight<Key, Outcome> {
        SingleFlight { under_way: Mutex::default() }
    }
}

impl<Key: Eq + Hash + Clone, Outcome: Clone> SingleFlight<Key, Outcome> {
    pub fn join(self: &Arc<SingleFlight<Key, Outcome>>, key: Key) -> Role<Key, Outcome> {
        match self.lock().entry(key) {
            Entry::Occupied(mut known) => Role::Follow(follow(known.get_mut())),
            Entry::Vacant(new) => {
                let key = Some(new.key().clone());
                new.insert(None);
                Role::Lead(Leader { single_flight: Arc::clone(self), key })
            }
        }
    }
}

impl<Key: Eq + Hash, Outcome> SingleFlight<Key, Outcome> {
    pub fn is_under_way(&self, key: &Key) -> bool {
        self.lock().contains_key(key)
    }

    /// How many pieces of work are under way.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay<Key, Outcome>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Key: Eq + Hash + Clone, Outcome: Clone> Leader<Key, Outcome> {
    /// Gives the outcome to all that wait. A later call starts the work again.
    pub fn finish(mut self, outcome: &Outcome) {
        if let Some(followed) = self.end() {
            followed.send_replace(Some(outcome.clone()));
        }
    }

    /// Waits for its own work, for a leader that leaves the work to a task.
    pub fn follow(&self) -> Follower<Outcome> {
        let mut under_way = self.single_flight.lock();
        let entry = self.key.as_ref().and_then(|key| under_way.get_mut(key));
        follow(entry.unwrap_or(&mut None))
    }
}

impl<Key: Eq + Hash + Clone, Outcome> Leader<Key, Outcome> {
    /// The work is under way no more. Gives the channel to those who follow, if any do.
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
    pub async fn outcome(mut self) -> Option<Outcome> {
        let ended = self.0.wait_for(Option::is_some).await.ok()?;
        ended.clone()
    }
}

fn follow<Outcome>(followed: &mut Option<watch::Sender<Option<Outcome>>>) -> Follower<Outcome> {
    Follower(followed.get_or_insert_with(|| watch::Sender::new(None)).subscribe())
}

#[cfg(test)]
mod tests;
