//! The rolling 24-hour cap on credits, counted in quarter-hours.

use std::time::Duration;

use moment::Timestamp;

/// The credits that one paying caller may spend within 24 hours.
pub const CREDITS_PER_DAY_MAX: u64 = 10_000_000;

const QUARTERS: usize = 96;
const QUARTER_MS: i64 = 15 * 60 * 1000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// One caller's spending over the last 96 quarter-hours, the current one included, and the
/// reservations of calls in progress.
///
/// A charge counts until the quarter-hour it fell in is 24 hours old, counted from its start, so
/// the window is between 23:45 and 24:00 long.
#[derive(Debug, Clone)]
pub struct CreditWindow {
    spent: [u64; QUARTERS],
    /// The sum of `spent`, kept because every call needs it.
    spent_in_all: u128,
    reserved: u64,
    newest: i64,
}

impl CreditWindow {
    pub fn new(now: Timestamp) -> CreditWindow {
        let (spent, spent_in_all) = ([0; QUARTERS], 0);
        CreditWindow { spent, spent_in_all, reserved: 0, newest: to_quarter(now) }
    }

    /// Restores the window from the charges in the journal, in any order; those that are too old
    /// are skipped.
    pub fn rebuild(
        rows: impl IntoIterator<Item = (Timestamp, u64)>,
        now: Timestamp,
    ) -> CreditWindow {
        let mut window = CreditWindow::new(now);
        for (charged_at, credits) in rows {
            // A charge in the future means that the clock was set back; it counts as of now.
            let at = to_quarter(charged_at).min(window.newest);
            let is_recent = window.newest - at < QUARTERS as i64;
            if is_recent {
                window.add_credits(at, credits);
            }
        }
        window
    }

    /// Reserves credits for a call, if the cap has room for all of them.
    pub fn reserve(
        &mut self,
        credits: u32,
        credits_max: u64,
        now: Timestamp,
    ) -> Result<CreditReservation, CapReached> {
        self.advance(now);
        let wanted = u64::from(credits);
        if self.used_credits().saturating_add(wanted) <= credits_max {
            self.reserved = self.reserved.saturating_add(wanted);
            return Ok(CreditReservation { credits });
        }
        let remaining = credits_max.saturating_sub(self.used_credits());
        Err(CapReached { credits_max, remaining, resets_at: self.room_at(wanted, credits_max) })
    }

    /// Replaces a reservation by the credits that the call cost.
    pub fn settle(&mut self, reservation: CreditReservation, charged: u32, now: Timestamp) {
        self.advance(now);
        self.release(reservation);
        self.add_credits(self.newest, u64::from(charged));
    }

    /// Ends the reservation of a call that was never run, or whose outcome is unknown.
    pub fn release(&mut self, reservation: CreditReservation) {
        self.reserved = self.reserved.saturating_sub(u64::from(reservation.credits));
    }

    /// The credits charged within the window plus those reserved.
    pub fn used_credits(&self) -> u64 {
        let used = self.spent_in_all + u128::from(self.reserved);
        u64::try_from(used).unwrap_or(u64::MAX)
    }

    /// True if nothing is spent or reserved, so that the window may be dropped.
    pub fn is_idle(&mut self, now: Timestamp) -> bool {
        self.advance(now);
        self.used_credits() == 0
    }

    fn add_credits(&mut self, quarter: i64, credits: u64) {
        let spent = &mut self.spent[to_slot_index(quarter)];
        let before = *spent;
        *spent = before.saturating_add(credits);
        self.spent_in_all += u128::from(*spent - before);
    }

    /// Clears the quarter-hours that have passed. A clock that goes back changes nothing.
    fn advance(&mut self, now: Timestamp) {
        let current = to_quarter(now);
        let passed = current.saturating_sub(self.newest).clamp(0, QUARTERS as i64);
        for back in 0..passed {
            let passed = std::mem::take(&mut self.spent[to_slot_index(current - back)]);
            self.spent_in_all -= u128::from(passed);
        }
        self.newest = self.newest.max(current);
    }

    /// The time at which enough spending has left the window for `wanted` to fit, if nothing else
    /// is charged until then.
    fn room_at(&self, wanted: u64, credits_max: u64) -> Timestamp {
        let mut used = self.used_credits();
        let oldest = self.newest - (QUARTERS as i64 - 1);
        for at in oldest..=self.newest {
            used = used.saturating_sub(self.spent[to_slot_index(at)]);
            if used.saturating_add(wanted) <= credits_max {
                return to_quarter_start(at).plus(DAY);
            }
        }
        to_quarter_start(self.newest).plus(DAY)
    }
}

/// Credits reserved for one call; pass it to [`CreditWindow::settle`] when the call ends.
#[derive(Debug)]
#[must_use = "a reservation that is not settled counts against the caller until a restart"]
pub struct CreditReservation {
    credits: u32,
}

/// The cap has no room for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Credit limit reached: {credits_max} credits per 24 hours, {remaining} remaining")]
pub struct CapReached {
    pub credits_max: u64,
    pub remaining: u64,
    /// The time at which there is room, if nothing more is spent.
    pub resets_at: Timestamp,
}

fn to_quarter(at: Timestamp) -> i64 {
    at.ms().div_euclid(QUARTER_MS)
}

fn to_quarter_start(quarter: i64) -> Timestamp {
    Timestamp::from_ms(quarter.saturating_mul(QUARTER_MS))
}

fn to_slot_index(quarter: i64) -> usize {
    // The remainder is in 0..96.
    quarter.rem_euclid(QUARTERS as i64) as usize
}

#[cfg(test)]
mod tests;
