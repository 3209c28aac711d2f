//! Periodic work: expiring lots, and recovery after a failed commit.

use std::sync::Arc;
use std::time::Duration;

use ledger_core::{CommandOutcome, CreditCommand, EntryId, LedgerRules, OwnerId};
use store::journal::LedgerBooks;
use store::leases::LeaseHolder;
use store::write::{StoreWrite, WriteGroup};

use crate::commit_watch::CommitWatch;
use crate::error::LedgerError;
use crate::homes::OwnerHomes;
use crate::state::{CoreState, LastEntry, Ledger, LedgerInner};

/// Time for which the core itself recognises a repeated command; after that the journal does.
const RECENT_KEPT: Duration = Duration::from_secs(3600);

/// Sweeps per call; the rest waits for the next call.
const SWEEPS_MAX: usize = 64;

/// The core as loaded from the store.
struct LoadedCore {
    core: ledger_core::CreditLedger,
    last_seq: i64,
    /// Owners whose home is another node by now.
    gone: Vec<OwnerId>,
}

impl LoadedCore {
    fn from_books(books: LedgerBooks, rules: LedgerRules) -> Result<LoadedCore, LedgerError> {
        let core = ledger_core::CreditLedger::from_snapshot(rules, books.snapshot)?;
        Ok(LoadedCore { core, last_seq: books.last_seq, gone: Vec::new() })
    }

    fn without_owners(gone: Vec<OwnerId>, rules: LedgerRules) -> LoadedCore {
        LoadedCore { core: ledger_core::CreditLedger::new(rules), last_seq: 0, gone }
    }

    async fn lease_owners(
        homes: &OwnerHomes,
        owners: Vec<OwnerId>,
        rules: LedgerRules,
    ) -> Result<LoadedCore, LedgerError> {
        let (mut core, mut last_seq, mut gone) =
            (ledger_core::CreditLedger::new(rules), 0, Vec::new());
        for owner in owners {
            match homes.lease(owner).await? {
                LeaseHolder::Here(books) => {
                    last_seq = books.last_seq.max(last_seq);
                    core.take_over_owner(owner, books.snapshot)?;
                }
                LeaseHolder::At { .. } | LeaseHolder::Nobody => gone.push(owner),
            }
        }
        Ok(LoadedCore { core, last_seq, gone })
    }
}

impl Ledger {
    /// Does the periodic work; call it about every second. Waits for groups that no task waits for,
    /// reloads a stopped ledger once the store can be written again, refunds charges of refused
    /// callers, releases idle owners, and expires lots.
    pub async fn run_maintenance(&self) -> Result<(), LedgerError> {
        self.stop_if_retired();
        self.follow_store_clock();
        self.wait_for_unwatched().await;
        if self.shared.lock().core_state == CoreState::Stopped {
            self.recover().await?;
        }
        self.refund_late_charges().await;
        self.release_idle_owners().await;
        self.expire_lots().await?;
        let now = self.shared.now();
        self.shared.lock().core.forget_entries(now.minus(RECENT_KEPT));
        Ok(())
    }

    /// Stops a node that was declared dead: other nodes may have changed all it has in memory.
    fn stop_if_retired(&self) {
        if self.shared.homes.as_ref().is_some_and(OwnerHomes::is_retired) {
            self.shared.lock().core_state = CoreState::Stopped;
        }
    }

    /// Trusts this node's clock again after some seconds of distrust if it agrees with the
    /// database's: the machine was suspended, or its clock was corrected. Only with several nodes.
    fn follow_store_clock(&self) {
        let LedgerInner { homes, store, .. } = &*self.shared;
        if homes.is_none() || !store.can_write() {
            return;
        }
        let now = self.shared.now();
        if let Some(watch) = &mut self.shared.lock().clock_watch
            && !watch.check_wall_clock(now)
        {
            watch.accept_wall_clock(now);
        }
    }

    pub(crate) async fn wait_for_unwatched(&self) {
        let groups = std::mem::take(&mut self.shared.lock().unwatched);
        let groups: Vec<CommitWatch> = groups
            .into_iter()
            .map(|group| CommitWatch::resume(Arc::clone(&self.shared), group))
            .collect();
        for group in groups {
            // A lost group has stopped the ledger, which is checked next.
            let _ = group.await;
        }
    }

    /// Reloads the core from the store. Everything acknowledged is on disk; decisions that were not
    /// written were never acknowledged. A node that was declared dead registers again first, while
    /// nothing is decided or in flight; it then has no owners.
    pub(crate) async fn recover(&self) -> Result<(), LedgerError> {
        let (generation, at_home) = {
            let live = self.shared.lock();
            if 0 < self.shared.in_flight() {
                return Err(LedgerError::Unavailable);
            }
            (live.generation, live.home_owners())
        };
        let store = &self.shared.store;
        let retired = self.shared.homes.as_ref().filter(|homes| homes.is_retired());
        if let Some(homes) = retired {
            homes.register_again().await?;
        }
        let probe = StoreWrite::PutSetting { name: "ledger_probe".into(), value: vec![0; 1] };
        store.commit(WriteGroup::from_write(probe)).await.map_err(|_| LedgerError::Unavailable)?;
        let loaded = match &self.shared.homes {
            None => LoadedCore::from_books(store.load_books().await?, self.shared.rules)?,
            Some(_) if retired.is_some() => LoadedCore::without_owners(at_home, self.shared.rules),
            Some(homes) => LoadedCore::lease_owners(homes, at_home, self.shared.rules).await?,
        };
        let mut live = self.shared.lock();
        let was_overtaken = live.generation != generation;
        if was_overtaken {
            return Ok(());
        }
        live.core = loaded.core;
        live.unconfirmed.clear();
        live.last = LastEntry::Loaded { seq: loaded.last_seq };
        for owner in loaded.gone {
            live.remove_home(owner);
        }
        live.generation += 1;
        live.core_state = CoreState::Running;
        tracing::info!("the store can be written again: charging resumes");
        Ok(())
    }

    async fn expire_lots(&self) -> Result<(), LedgerError> {
        for _ in 0..SWEEPS_MAX {
            let swept = {
                let mut live = self.shared.lock();
                let wall = self.shared.now();
                let is_trusted =
                    live.clock_watch.as_mut().is_none_or(|watch| watch.check_wall_clock(wall));
                if !is_trusted || self.shared.store.clock_fault().is_some() {
                    return Err(LedgerError::Unavailable);
                }
                let now = live.advance_time(wall);
                let is_due = live.core.next_expiry().is_some_and(|expires_at| expires_at <= now);
                if !is_due {
                    return Ok(());
                }
                let command = CreditCommand::Sweep { entry: EntryId(self.shared.fresh_id()) };
                self.shared.apply_and_write(&mut live, &command, Vec::new(), |_, _, _| {})
            };
            let (applied, watched) = swept?;
            let Some(watched) = watched else { return Ok(()) };
            watched.await?;
            let CommandOutcome::Swept(swept) = applied.outcome else { return Ok(()) };
            if !swept.more {
                return Ok(());
            }
        }
        Ok(())
    }
}
