//! The credits of every caller in a rolling day, and the cap on them.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use moment::Timestamp;

use crate::window::{CapReached, CreditReservation, CreditWindow};

/// Minimum number of windows before empty ones are dropped, which happens whenever their number has
/// doubled since the last time.
const WINDOWS_SWEPT_MIN: usize = 1024;

/// The credit windows of all callers that spent something within the day.
pub struct CreditCaps<Owner> {
    credits_max: u64,
    /// Locked only to count, never across an await.
    windows: Mutex<OwnerWindows<Owner>>,
}

struct OwnerWindows<Owner> {
    by_owner: HashMap<Owner, CreditWindow>,
    swept_at: usize,
}

/// Credits reserved for one request; dropping this releases them.
#[must_use = "credits that are not kept aside return at once"]
pub struct ReservedCredits<Owner: Eq + Hash + Copy> {
    caps: Arc<CreditCaps<Owner>>,
    owner: Owner,
    reservation: Option<CreditReservation>,
}

impl<Owner: Eq + Hash + Copy> CreditCaps<Owner> {
    /// Restores the windows from the charges of the last day.
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
        let windows = OwnerWindows { by_owner: windows.collect(), swept_at: WINDOWS_SWEPT_MIN };
        CreditCaps { credits_max, windows: Mutex::new(windows) }
    }

    /// Reserves credits, if the owner's cap has room for all of them.
    pub fn reserve(
        self: &Arc<CreditCaps<Owner>>,
        owner: Owner,
        credits: u32,
        now: Timestamp,
    ) -> Result<ReservedCredits<Owner>, CapReached> {
        let mut windows = self.lock();
        windows.drop_idle_windows(now);
        let window = windows.by_owner.entry(owner).or_insert_with(|| CreditWindow::new(now));
        let reservation = window.reserve(credits, self.credits_max, now)?;
        Ok(ReservedCredits { caps: Arc::clone(self), owner, reservation: Some(reservation) })
    }

    fn lock(&self) -> MutexGuard<'_, OwnerWindows<Owner>> {
        // A panic while counting leaves the numbers usable: continue with them.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Owner: Eq + Hash + Copy> ReservedCredits<Owner> {
    /// Replaces the reserved credits by those that the request cost.
    pub fn settle(mut self, charged: u32, now: Timestamp) {
        self.end_reservation(|window, reservation| window.settle(reservation, charged, now));
    }

    fn end_reservation(&mut self, end: impl FnOnce(&mut CreditWindow, CreditReservation)) {
        let Some(reservation) = self.reservation.take() else { return };
        let mut windows = self.caps.lock();
        // A window with a reservation is not idle, so it still exists.
        if let Some(window) = windows.by_owner.get_mut(&self.owner) {
            end(window, reservation);
        }
    }
}

impl<Owner: Eq + Hash + Copy> Drop for ReservedCredits<Owner> {
    fn drop(&mut self) {
        self.end_reservation(CreditWindow::release);
    }
}

impl<Owner: Eq + Hash> OwnerWindows<Owner> {
    fn drop_idle_windows(&mut self, now: Timestamp) {
        if self.by_owner.len() < self.swept_at {
            return;
        }
        self.by_owner.retain(|_, window| !window.is_idle(now));
        self.swept_at = WINDOWS_SWEPT_MIN.max(2 * self.by_owner.len());
    }
}

#[cfg(test)]
mod tests;
