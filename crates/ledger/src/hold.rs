//! Holds of requests: money set aside in memory before work starts.

use std::fmt;
use std::sync::Arc;

use credits::{Command, HoldId, HoldKind, Outcome, Payer, Want};
use money::{Means, Nano};

use crate::error::HoldRefused;
use crate::live::{Ledger, Shared, UNSETTLED_MAX};

/// Money held for one piece of work. `settle` and `release` consume it, so neither can happen
/// twice; dropping it releases it.
#[must_use = "a hold that is not kept is released at once"]
pub struct Hold {
    pub(crate) id: HoldId,
    pub(crate) payer: Payer,
    pub(crate) means: Means,
    pub(crate) generation: u64,
    shared: Arc<Shared>,
    is_open: bool,
}

impl Ledger {
    /// Holds money, or says what is lacking. Kept in memory only: a crash ends the request, and the
    /// hold with it, so there is nothing to write.
    pub fn hold(&self, payer: Payer, want: Want) -> Result<Hold, HoldRefused> {
        let id = HoldId(self.shared.fresh_id());
        if !self.shared.store.can_write() {
            return Err(HoldRefused::Unavailable);
        }
        let mut live = self.shared.lock();
        if UNSETTLED_MAX <= live.core.open_holds() + self.shared.in_flight() {
            return Err(HoldRefused::Unavailable);
        }
        let command = Command::Hold { hold: id, payer, want, kind: HoldKind::Request };
        let carried_out = self.shared.carry_out(&mut live, &command, Vec::new(), |_, _, _| {});
        let (applied, watched) = carried_out?;
        if let Some(opened) = watched {
            // The first hold of a day opens the day's allowance. If that write is lost, the settle
            // after it is lost too, and reports the error.
            opened.leave(&mut live.unwatched);
        }
        let Outcome::Held(held) = applied.outcome else {
            unreachable!("a hold is answered by what was held");
        };
        let (shared, generation) = (Arc::clone(&self.shared), live.generation);
        Ok(Hold { id, payer, means: held.means, generation, shared, is_open: true })
    }

    /// Releases the held money; nothing is charged.
    pub fn release(&self, hold: Hold) {
        drop(hold);
    }
}

impl Hold {
    /// The amounts held, by currency. Work that costs no more needs no further check.
    pub fn means(&self) -> Means {
        self.means
    }

    /// The sum held over all currencies.
    pub fn amount(&self) -> Nano {
        self.means.total()
    }

    pub fn payer(&self) -> &Payer {
        &self.payer
    }

    /// Marks the hold as ended or unknown to the core, so that dropping it releases nothing.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let mut live = self.shared.lock();
        if live.generation != self.generation {
            return;
        }
        let now = live.advance(self.shared.now());
        let released = live.core.apply(&Command::Release { hold: self.id }, now);
        debug_assert!(released.is_ok(), "an open hold is known to the core");
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("id", &self.id).field("means", &self.means).finish()
    }
}
