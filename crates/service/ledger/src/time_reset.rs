//! Resets the books' time to the clock, after they were dated ahead of it.
//!
//! Entries are never dated before earlier ones, so one start with a clock that is a year ahead
//! would keep the limits and allowances of that day for a year. The reset changes no balance: days
//! and months that began too early count as the present ones, in which keys have spent nothing, and
//! allowances come again with the next period.

use std::time::Duration;

use moment::Timestamp;
use store::time_reset::{TIME_MENDS, TimeReset, read_time_resets, write_time_resets};
use store::write::{StoreWrite, WriteGroup};
use tokio::time::{Instant, sleep};

use crate::error::LedgerError;
use crate::state::{CoreState, Ledger};

/// Longest wait for groups that are being written.
const IN_FLIGHT_WAIT_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The result of resetting the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeResetReport {
    /// The time of the books before.
    pub from: Timestamp,
    /// The time of the clock, and of the books from now on.
    pub to: Timestamp,
}

impl Ledger {
    /// Sets the time of the books to that of the clock, with `also` in the same group. None if the
    /// books are not ahead, or if several nodes share them: those follow the database's clock.
    pub async fn reset_time(
        &self,
        also: Vec<StoreWrite>,
    ) -> Result<Option<TimeResetReport>, LedgerError> {
        let (from, to) = {
            let now = self.shared.now();
            let mut live = self.shared.lock();
            live.refuse_if_stopped()?;
            let is_ahead = live.ahead_of(now).is_some() && self.shared.homes.is_none();
            if !is_ahead {
                return Ok(None);
            }
            live.core_state = CoreState::Mending;
            (live.latest, now)
        };
        let mended = self.write_time_reset(to, also).await;
        {
            let mut live = self.shared.lock();
            if mended.is_ok() {
                live.latest = to;
                live.journal_began = Some(to);
            }
            // The core is reloaded whether or not the write succeeded.
            live.core_state = CoreState::Stopped;
        }
        self.recover().await?;
        mended?;
        tracing::warn!("the ledger was dated {from}; it follows the clock again, from {to} on");
        Ok(Some(TimeResetReport { from, to }))
    }

    async fn write_time_reset(
        &self,
        at: Timestamp,
        also: Vec<StoreWrite>,
    ) -> Result<(), LedgerError> {
        self.wait_for_in_flight().await?;
        let store = &self.shared.store;
        let after_seq = store.load_books().await?.last_seq;
        let mut mends = read_time_resets(store.setting(TIME_MENDS).await?);
        mends.push(TimeReset { after_seq, at });
        let noted = StoreWrite::PutSetting {
            name: TIME_MENDS.to_owned(),
            value: write_time_resets(&mends),
        };
        let mut writes = vec![StoreWrite::MendTime { at }, noted];
        writes.extend(also);
        store.commit(WriteGroup { writes }).await.map_err(|_| LedgerError::Unavailable)
    }

    /// Waits until no group is in flight. None is added meanwhile: the core refuses commands.
    async fn wait_for_in_flight(&self) -> Result<(), LedgerError> {
        let deadline = Instant::now() + IN_FLIGHT_WAIT_MAX;
        loop {
            self.wait_for_unwatched().await;
            if self.shared.in_flight() == 0 {
                return Ok(());
            }
            if deadline <= Instant::now() {
                return Err(LedgerError::Unavailable);
            }
            sleep(LOOK_EVERY).await;
        }
    }
}
