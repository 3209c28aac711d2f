//! Every caller's rolling day of credits, and the cap on each.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use moment::Timestamp;

use crate::window::{CapReached, CreditWindow, Reservation};

/// Windows with nothing left to remember are dropped when there are twice as many as last time,
/// and at least this many.
const WINDOWS_SWEPT_MIN: usize = 1024;

/// The credit windows of all callers who spent something within the day.
pub struct CreditCaps<Owner> {
    credits_max: u64,
    /// Locked only to count, never while waiting.
    windows: Mutex<Windows<Owner>>,
}

struct Windows<Owner> {
    by_owner: HashMap<Owner, CreditWindow>,
    swept_at: usize,
}

/// Credits set aside for one request; dropped, they return.
#[must_use = "credits that are not kept aside return at once"]
pub struct SetAside<Owner: Eq + Hash + Copy> {
    caps: Arc<CreditCaps<Owner>>,
    owner: Owner,
    reservation: Option<Reservation>,
}

impl<Owner: Eq + Hash + Copy> CreditCaps<Owner> {
    /// Counts again what was charged within the last day.
    pub fn rebuild(
        charged: impl IntoIterator<Item = (Owner, Timestamp, u64)>,
        credits_max: u64,
        now: Timestamp,
    ) -> CreditCaps<Owner> {
        let mut rows: HashMap<Owner, Vec<(Timestamp, u64)>> = HashMap::new();
        for (owner, at, credits) in charged {
            rows.entry(owner).or_default().push((at, credits));
        }
        let windows = rows.into_iter().map(|(owner, it)| (owner, CreditWindow::rebuild(it, now)));
        let windows = Windows { by_owner: windows.collect(), swept_at: WINDOWS_SWEPT_MIN };
        CreditCaps { credits_max, windows: Mutex::new(windows) }
    }

    /// Sets credits aside, if the owner's cap has room for all of them.
    pub fn reserve(
        self: &Arc<CreditCaps<Owner>>,
        owner: Owner,
        credits: u32,
        now: Timestamp,
    ) -> Result<SetAside<Owner>, CapReached> {
        let mut windows = self.lock();
        windows.sweep(now);
        let window = windows.by_owner.entry(owner).or_insert_with(|| CreditWindow::new(now));
        let reservation = window.reserve(credits, self.credits_max, now)?;
        Ok(SetAside { caps: Arc::clone(self), owner, reservation: Some(reservation) })
    }

    fn lock(&self) -> MutexGuard<'_, Windows<Owner>> {
        // A panic while counting leaves numbers, not broken structure: go on with them.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Owner: Eq + Hash + Copy> SetAside<Owner> {
    /// Replaces what was set aside by what the request did cost.
    pub fn settle(mut self, charged: u32, now: Timestamp) {
        self.end(|window, reservation| window.settle(reservation, charged, now));
    }

    fn end(&mut self, end: impl FnOnce(&mut CreditWindow, Reservation)) {
        let Some(reservation) = self.reservation.take() else { return };
        let mut windows = self.caps.lock();
        // A window with a reservation is not idle, so it is still there.
        if let Some(window) = windows.by_owner.get_mut(&self.owner) {
            end(window, reservation);
        }
    }
}

impl<Owner: Eq + Hash + Copy> Drop for SetAside<Owner> {
    fn drop(&mut self) {
        self.end(CreditWindow::release);
    }
}

impl<Owner: Eq + Hash> Windows<Owner> {
    fn sweep(&mut self, now: Timestamp) {
        if self.by_owner.len() < self.swept_at {
            return;
        }
        self.by_owner.retain(|_, window| !window.is_idle(now));
        self.swept_at = WINDOWS_SWEPT_MIN.max(2 * self.by_owner.len());
    }
}

#[cfg(test)]
mod tests;
