//! Whom a connection wakes: the task that uses it, but not for what that task does itself.
//!
//! A task that takes a piece of an answer lets the connection read on, and the connection asks to be
//! polled for that. The task polls it anyway before it waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

pub(crate) struct Ear {
    /// Locked only to note something, never while anything is polled or woken.
    state: Mutex<State>,
}

struct State {
    task: Waker,
    is_shut: bool,
    has_missed: bool,
}

impl Ear {
    pub(crate) fn new() -> Arc<Ear> {
        let state = State { task: Waker::noop().clone(), is_shut: false, has_missed: false };
        Arc::new(Ear { state: Mutex::new(state) })
    }

    /// From now on this task is woken.
    pub(crate) fn hear_for(&self, task: &Waker) {
        let mut state = self.lock();
        if !state.task.will_wake(task) {
            let before = std::mem::replace(&mut state.task, task.clone());
            drop(state);
            // With the last waker goes a task that has ended.
            drop(before);
        }
    }

    /// Does something that wakes nobody, and tells whether it would have, or somebody else has.
    pub(crate) fn shut_while<T>(&self, act: impl FnOnce() -> T) -> (T, bool) {
        self.lock().is_shut = true;
        let done = act();
        let mut state = self.lock();
        state.is_shut = false;
        (done, std::mem::take(&mut state.has_missed))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Ear {
    fn wake(self: Arc<Ear>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Ear>) {
        let mut state = self.lock();
        if state.is_shut {
            state.has_missed = true;
            return;
        }
        let task = state.task.clone();
        drop(state);
        task.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Woken>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_task_that_listens_is_woken_except_while_it_shuts_its_ear() {
        let (first, second) = (Arc::<Woken>::default(), Arc::<Woken>::default());
        let ear = Ear::new();
        let connection = Waker::from(Arc::clone(&ear));
        ear.hear_for(&Waker::from(Arc::clone(&first)));
        connection.wake_by_ref();
        ear.hear_for(&Waker::from(Arc::clone(&second)));
        connection.wake_by_ref();
        let woken = || (first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed));
        assert_eq!(woken(), (1, 1));

        assert_eq!(ear.shut_while(|| connection.wake_by_ref()), ((), true), "it is told");
        assert_eq!(ear.shut_while(|| 7), (7, false), "and told once");
        assert_eq!(woken(), (1, 1));
        connection.wake_by_ref();
        assert_eq!(woken(), (1, 2));
    }
}
