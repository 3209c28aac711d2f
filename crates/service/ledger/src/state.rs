//! The state behind the lock: the core, and the progress of its decisions to disk.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use domain::entropy::{EntropySource, time_ordered_id};
use ledger_core::{AppliedCommand, CreditCommand, EntryId, JournalRecord, LedgerRules, OwnerId};
use moment::{Clock, Timestamp};
use store::Store;
use store::error::StoreError;
use store::leases::OwnerLeases;
use store::time_reset::{TIME_MENDS, read_time_resets};
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::clock_watch::{CLOCK_JUMP_MAX, ClockWatch, MonotonicClock};
use crate::commit_watch::{CommitWatch, UnwatchedGroup};
use crate::error::{HoldRefused, LedgerError};
use crate::homes::{OwnerHomes, owner_of};
use crate::late_charge::LateCharge;
use crate::reconcile::ReconcileBaseline;
use crate::unconfirmed_credits::UnconfirmedCredits;

/// Bound on open holds plus settles that are being committed. Below the bound of the store's queue,
/// so that a settle always fits there.
pub const UNSETTLED_MAX: usize = 32_768;

/// Balances, holds and charges of the running service.
///
/// Every group of records is handed to the store while the lock is held, so the journal has the
/// order in which the core decided. Nothing is awaited under the lock.
pub struct Ledger {
    pub(crate) shared: Arc<LedgerInner>,
}

pub(crate) struct LedgerInner {
    pub(crate) store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn EntropySource>,
    pub(crate) rules: LedgerRules,
    /// A `std::sync::Mutex`: it is held for microseconds and never across an await.
    live: Mutex<LedgerState>,
    /// Groups handed to the store whose outcome is not yet known. Incremented under the lock and
    /// decremented without it, so that completing a group never waits.
    in_flight: AtomicUsize,
    pub(crate) baseline: Mutex<Option<ReconcileBaseline>>,
    /// Serialises debits.
    pub(crate) debiting: tokio::sync::Mutex<()>,
    /// None on a single node, which decides for all owners.
    pub(crate) homes: Option<OwnerHomes>,
}

pub(crate) struct LedgerState {
    pub(crate) core: ledger_core::CreditLedger,
    pub(crate) core_state: CoreState,
    /// Counts reloads: holds of an earlier generation are unknown to the core.
    pub(crate) generation: u64,
    /// Groups in flight whose waiter was dropped; `run_maintenance` waits for them.
    pub(crate) unwatched: Vec<UnwatchedGroup>,
    /// Credits of groups in flight, and of lost ones until the core is reloaded.
    pub(crate) unconfirmed: UnconfirmedCredits,
    /// Durable charges of refused callers, refunded by `run_maintenance`.
    pub(crate) late_charges: Vec<LateCharge>,
    /// The last journal entry that was written or handed to the store.
    pub(crate) last: LastEntry,
    pub(crate) settled: u64,
    pub(crate) written_off_nano: i64,
    /// The time of the books: the time of the newest entry, or later.
    pub(crate) latest: Timestamp,
    /// None if the clock is not checked.
    pub(crate) clock_watch: Option<ClockWatch>,
    /// The time of the newest journal entry when the store was opened; None if there was none.
    pub(crate) journal_began: Option<Timestamp>,
    /// The owners whose home is here, and when each was last used; None on a single node.
    home: Option<HashMap<OwnerId, Instant>>,
}

/// States of the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoreState {
    Running,
    /// A group was lost, so the core is ahead of the disk: no commands until it is reloaded.
    Stopped,
    /// The time of the books is being reset; the core is reloaded afterwards.
    Mending,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum LastEntry {
    /// As loaded from the store.
    Loaded {
        seq: i64,
    },
    HandedIn {
        entry: EntryId,
        leg: u16,
    },
}

impl Ledger {
    /// Starts from the balances in the store; does not replay the journal.
    pub async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn EntropySource>,
        rules: LedgerRules,
    ) -> Result<Ledger, LedgerError> {
        let books = store.load_books().await?;
        let newest = store.read_journal(books.last_seq - 1, 1).await?;
        let mends = read_time_resets(store.setting(TIME_MENDS).await?);
        let journal_began = newest.first().map(|entry| match mends.last() {
            Some(mend) if entry.seq <= mend.after_seq => mend.at,
            _ => entry.transfer.at,
        });
        let latest = books_time(journal_began, clock.now());
        let core = ledger_core::CreditLedger::from_snapshot(rules, books.snapshot)?;
        let mut live = LedgerState::new(core, latest, None);
        live.last = LastEntry::Loaded { seq: books.last_seq };
        live.journal_began = journal_began;
        Ok(Ledger::from_state(live, store, clock, entropy, rules, None))
    }

    /// Starts without owners: each is loaded on its first request, see [`Ledger::home_of`].
    pub fn open_shared(
        store: Arc<dyn Store>,
        leases: Arc<dyn OwnerLeases>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn EntropySource>,
        rules: LedgerRules,
    ) -> Ledger {
        // If the clock differs from the database's, it is not used as the time of the books.
        let is_right = store.clock_fault().is_none();
        let latest = if is_right { clock.now() } else { Timestamp::default() };
        let live =
            LedgerState::new(ledger_core::CreditLedger::new(rules), latest, Some(HashMap::new()));
        Ledger::from_state(live, store, clock, entropy, rules, Some(OwnerHomes::new(leases)))
    }

    fn from_state(
        live: LedgerState,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn EntropySource>,
        rules: LedgerRules,
        homes: Option<OwnerHomes>,
    ) -> Ledger {
        let (live, baseline, in_flight) = (Mutex::new(live), Mutex::new(None), AtomicUsize::new(0));
        let debiting = tokio::sync::Mutex::default();
        let shared = LedgerInner {
            store,
            clock,
            entropy,
            rules,
            live,
            in_flight,
            baseline,
            debiting,
            homes,
        };
        Ledger { shared: Arc::new(shared) }
    }

    /// Compares the wall clock with a stopwatch from now on: while they disagree, nothing new is
    /// charged.
    pub fn watch_clock(&self, stopwatch: Arc<dyn MonotonicClock>) {
        let watch = ClockWatch::start(stopwatch, self.shared.now());
        self.shared.lock().clock_watch = Some(watch);
    }

    /// The time that pruning of old details may count from: at most the newest entry at the start
    /// plus the time that has passed since. None while the clock is not trusted, or if there was no
    /// entry. With several nodes it is the clock's time, which is compared with the database's.
    pub fn pruning_time(&self) -> Option<Timestamp> {
        let now = self.shared.now();
        let is_writable = self.shared.store.can_write();
        let mut live = self.shared.lock();
        if self.shared.homes.is_some() {
            let is_trusted =
                live.clock_watch.as_mut().is_none_or(|watch| watch.check_wall_clock(now));
            return (is_trusted && is_writable).then_some(now);
        }
        let journal_began = live.journal_began?;
        let Some(watch) = &mut live.clock_watch else { return Some(now) };
        let known = journal_began.plus(watch.running_time());
        watch.check_wall_clock(now).then(|| now.min(known))
    }
}

/// The time the books start at. It never runs backwards, not even across restarts: otherwise the
/// limits and allowances of a day that began would no longer count.
fn books_time(journal: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let Some(newest) = journal else { return now };
    if CLOCK_JUMP_MAX < newest.since(now) {
        tracing::error!(
            "the newest entry of the journal is of {newest} and the clock says {now}: the clock was, \
             or is, wrong. What is charged is entered at {newest} until the clock is there. If the \
             clock is right now, run `tollgate ledger mend-time`"
        );
    }
    newest.max(now)
}

impl LedgerInner {
    /// Locks the state. A panic under the lock may have left the core half changed: then it is
    /// stopped, and reloaded as after a lost group.
    pub(crate) fn lock(&self) -> MutexGuard<'_, LedgerState> {
        self.live.lock().unwrap_or_else(|poisoned| {
            self.live.clear_poison();
            let mut live = poisoned.into_inner();
            live.core_state = CoreState::Stopped;
            live
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn fresh_id(&self) -> Uuid {
        time_ordered_id(self.clock.now(), &*self.entropy)
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// Applies one command and hands its records to the store, with the rows that `also` adds in
    /// the same group. `writes` is empty; the caller may have reserved its capacity before taking
    /// the lock.
    ///
    /// The result is durable once the returned `CommitWatch` resolves; `None` means that there was
    /// nothing to write.
    pub(crate) fn apply_and_write(
        self: &Arc<LedgerInner>,
        live: &mut LedgerState,
        command: &CreditCommand,
        mut writes: Vec<StoreWrite>,
        also: impl FnOnce(&AppliedCommand, Timestamp, &mut Vec<StoreWrite>),
    ) -> Result<(AppliedCommand, Option<CommitWatch>), HoldRefused> {
        live.refuse_if_stopped()?;
        if owner_of(command).is_some_and(|owner| !live.is_home(owner)) {
            // The caller has looked up the owner's home before. Either the home changed since, or
            // the owner does not exist, and then any node knows that it has no money.
            let is_hold = matches!(command, CreditCommand::Hold { payer, .. }
                if self.homes.as_ref().is_some_and(|homes| homes.is_unknown_owner(payer.owner)));
            if !is_hold {
                return Err(HoldRefused::Unavailable);
            }
        }
        let now = live.command_time(command, self.now(), self.store.clock_fault().is_none())?;
        let mut applied = live.core.apply(command, now)?;
        let records = std::mem::take(&mut applied.records);
        live.set_last_entry(&records);
        writes.extend(records.into_iter().map(StoreWrite::Journal));
        also(&applied, now, &mut writes);
        let credits = live.unconfirmed.add(&writes);
        let watched = self.commit_writes(writes).map(|watched| watched.with_credits(credits));
        Ok((applied, watched))
    }

    fn commit_writes(self: &Arc<LedgerInner>, writes: Vec<StoreWrite>) -> Option<CommitWatch> {
        if writes.is_empty() {
            return None;
        }
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let commit = self.store.commit(WriteGroup { writes });
        Some(CommitWatch::new(Arc::clone(self), commit))
    }

    /// Handles the outcome of a group. A lost group stops the ledger.
    pub(crate) fn finish_group(&self, outcome: Result<(), StoreError>) -> Result<(), LedgerError> {
        let noted = outcome.map_err(|error| self.stop_ledger(&error));
        // Last, so that a task that sees nothing in flight sees the stop as well.
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        noted
    }

    fn stop_ledger(&self, error: &StoreError) -> LedgerError {
        let mut live = self.lock();
        if live.core_state == CoreState::Running {
            tracing::error!(%error, "a group was not written, so charging is paused: {error}");
        }
        live.core_state = CoreState::Stopped;
        LedgerError::Unavailable
    }
}

impl LedgerState {
    fn new(
        core: ledger_core::CreditLedger,
        latest: Timestamp,
        home: Option<HashMap<OwnerId, Instant>>,
    ) -> LedgerState {
        LedgerState {
            core,
            core_state: CoreState::Running,
            generation: 0,
            unwatched: Vec::new(),
            late_charges: Vec::new(),
            unconfirmed: UnconfirmedCredits::default(),
            last: LastEntry::Loaded { seq: 0 },
            settled: 0,
            written_off_nano: 0,
            latest,
            clock_watch: None,
            journal_began: None,
            home,
        }
    }

    pub(crate) fn is_home(&self, owner: OwnerId) -> bool {
        self.home.as_ref().is_none_or(|home| home.contains_key(&owner))
    }

    pub(crate) fn add_home(&mut self, owner: OwnerId) {
        if let Some(home) = &mut self.home {
            home.insert(owner, Instant::now());
        }
    }

    pub(crate) fn remove_home(&mut self, owner: OwnerId) {
        if let Some(home) = &mut self.home {
            home.remove(&owner);
        }
    }

    /// The owners whose home is here; empty on a single node.
    pub(crate) fn home_owners(&self) -> Vec<OwnerId> {
        self.home.iter().flatten().map(|(owner, _)| *owner).collect()
    }

    pub(crate) fn count_home_owners(&self) -> Option<usize> {
        self.home.as_ref().map(HashMap::len)
    }

    /// True if an owner's home is here. Counts as a use of the owner.
    pub(crate) fn touch_home(&mut self, owner: OwnerId) -> bool {
        let Some(home) = &mut self.home else { return true };
        home.get_mut(&owner).map(|visited| *visited = Instant::now()).is_some()
    }

    /// The owners whose home is here and that were not used for `time`.
    pub(crate) fn idle_owners(&self, time: Duration) -> Vec<OwnerId> {
        let home = self.home.iter().flatten();
        home.filter(|(_, visited)| time <= visited.elapsed()).map(|(owner, _)| *owner).collect()
    }

    pub(crate) fn refuse_if_stopped(&self) -> Result<(), HoldRefused> {
        match self.core_state {
            CoreState::Running => Ok(()),
            CoreState::Stopped | CoreState::Mending => Err(HoldRefused::Unavailable),
        }
    }

    /// The time by which the books are ahead of the clock, if more than `CLOCK_JUMP_MAX`.
    pub(crate) fn ahead_of(&self, now: Timestamp) -> Option<Duration> {
        let ahead = self.latest.since(now);
        (CLOCK_JUMP_MAX < ahead).then_some(ahead)
    }

    /// The time of a command. While the clock is not trusted, settles and releases happen at the
    /// last trusted time, and everything else is refused.
    fn command_time(
        &mut self,
        command: &CreditCommand,
        now: Timestamp,
        agrees_with_store: bool,
    ) -> Result<Timestamp, HoldRefused> {
        let is_trusted = self.clock_watch.as_mut().is_none_or(|watch| watch.check_wall_clock(now));
        match command {
            _ if is_trusted && agrees_with_store => Ok(self.advance_time(now)),
            CreditCommand::Settle { .. } | CreditCommand::Release { .. } => Ok(self.latest),
            _ => Err(HoldRefused::Unavailable),
        }
    }

    /// The time of the books for a query; the clock is ignored while it is not trusted.
    pub(crate) fn query_time(&self, now: Timestamp) -> Timestamp {
        let is_trusted = self.clock_watch.as_ref().is_none_or(ClockWatch::is_trusted);
        if is_trusted { self.latest.max(now) } else { self.latest }
    }

    fn set_last_entry(&mut self, records: &[JournalRecord]) {
        let last = records.iter().rev().find_map(|record| match record {
            JournalRecord::Transfer(transfer) => Some((transfer.entry, transfer.leg)),
            _ => None,
        });
        if let Some((entry, leg)) = last {
            self.last = LastEntry::HandedIn { entry, leg };
        }
    }

    /// Advances the time of the books, which never runs backwards, even if the system clock does:
    /// usage is then in the journal in time order, and paging by cursor misses nothing.
    pub(crate) fn advance_time(&mut self, now: Timestamp) -> Timestamp {
        if self.clock_watch.as_ref().is_some_and(|watch| !watch.is_trusted()) {
            return self.latest;
        }
        self.latest = self.latest.max(now);
        self.latest
    }
}
