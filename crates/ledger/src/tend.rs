//! Periodic work: expiring lots, and recovery after a failed commit.

use std::sync::Arc;
use std::time::Duration;

use credits::{Command, EntryId, Outcome, OwnerId, Rules};
use store::journal::Books;
use store::leases::Leased;
use store::write::{Group, Write};

use crate::error::LedgerError;
use crate::homes::Homes;
use crate::live::{CoreState, LastEntry, Ledger, Shared};
use crate::watch::Watched;

/// Time for which the core itself recognises a repeated command; after that the journal does.
const RECENT_KEPT: Duration = Duration::from_secs(3600);

/// Sweeps per call; the rest waits for the next call.
const SWEEPS_MAX: usize = 64;

/// The core as loaded from the store.
struct Loaded {
    core: credits::Ledger,
    last_seq: i64,
    /// Owners whose home is another node by now.
    gone: Vec<OwnerId>,
}

impl Loaded {
    fn all(books: Books, rules: Rules) -> Result<Loaded, LedgerError> {
        let core = credits::Ledger::from_snapshot(rules, books.snapshot)?;
        Ok(Loaded { core, last_seq: books.last_seq, gone: Vec::new() })
    }

    fn nobody(gone: Vec<OwnerId>, rules: Rules) -> Loaded {
        Loaded { core: credits::Ledger::new(rules), last_seq: 0, gone }
    }

    async fn of(homes: &Homes, owners: Vec<OwnerId>, rules: Rules) -> Result<Loaded, LedgerError> {
        let (mut core, mut last_seq, mut gone) = (credits::Ledger::new(rules), 0, Vec::new());
        for owner in owners {
            match homes.lease(owner).await? {
                Leased::Here(books) => {
                    last_seq = books.last_seq.max(last_seq);
                    core.adopt(owner, books.snapshot)?;
                }
                Leased::At { .. } | Leased::Nobody => gone.push(owner),
            }
        }
        Ok(Loaded { core, last_seq, gone })
    }
}

impl Ledger {
    /// Does the periodic work; call it about every second. Waits for groups that no task waits for,
    /// reloads a stopped ledger once the store can be written again, refunds charges of refused
    /// callers, gives up idle owners, and expires lots.
    pub async fn tend(&self) -> Result<(), LedgerError> {
        self.stop_if_retired();
        self.follow_store_clock();
        self.wait_for_unwatched().await;
        if self.shared.lock().core_state == CoreState::Stopped {
            self.recover().await?;
        }
        self.refund_late_charges().await;
        self.give_up_idle().await;
        self.sweep().await?;
        let now = self.shared.now();
        self.shared.lock().core.forget(now.minus(RECENT_KEPT));
        Ok(())
    }

    /// Stops a node that was declared dead: other nodes may have changed all it has in memory.
    fn stop_if_retired(&self) {
        if self.shared.homes.as_ref().is_some_and(Homes::is_retired) {
            self.shared.lock().core_state = CoreState::Stopped;
        }
    }

    /// Trusts this node's clock again after some seconds of distrust if it agrees with the
    /// database's: the machine was suspended, or its clock was corrected. Only with several nodes.
    fn follow_store_clock(&self) {
        let Shared { homes, store, .. } = &*self.shared;
        if homes.is_none() || !store.can_write() {
            return;
        }
        let now = self.shared.now();
        if let Some(watch) = &mut self.shared.lock().clock_watch
            && !watch.trusts(now)
        {
            watch.follow(now);
        }
    }

    pub(crate) async fn wait_for_unwatched(&self) {
        let groups = std::mem::take(&mut self.shared.lock().unwatched);
        let groups: Vec<Watched> = groups
            .into_iter()
            .map(|group| Watched::again(Arc::clone(&self.shared), group))
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
            (live.generation, live.at_home())
        };
        let store = &self.shared.store;
        let retired = self.shared.homes.as_ref().filter(|homes| homes.is_retired());
        if let Some(homes) = retired {
            homes.register_again().await?;
        }
        let probe = Write::PutSetting { name: "ledger_probe".into(), value: vec![0; 1] };
        store.commit(Group::of(probe)).await.map_err(|_| LedgerError::Unavailable)?;
        let loaded = match &self.shared.homes {
            None => Loaded::all(store.load().await?, self.shared.rules)?,
            Some(_) if retired.is_some() => Loaded::nobody(at_home, self.shared.rules),
            Some(homes) => Loaded::of(homes, at_home, self.shared.rules).await?,
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
            live.send_away(owner);
        }
        live.generation += 1;
        live.core_state = CoreState::Running;
        tracing::info!("the store can be written again, and charging goes on");
        Ok(())
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        for _ in 0..SWEEPS_MAX {
            let swept = {
                let mut live = self.shared.lock();
                let wall = self.shared.now();
                let is_trusted = live.clock_watch.as_mut().is_none_or(|watch| watch.trusts(wall));
                if !is_trusted || self.shared.store.clock_fault().is_some() {
                    return Err(LedgerError::Unavailable);
                }
                let now = live.advance(wall);
                let is_due = live.core.next_expiry().is_some_and(|expires_at| expires_at <= now);
                if !is_due {
                    return Ok(());
                }
                let command = Command::Sweep { entry: EntryId(self.shared.fresh_id()) };
                self.shared.carry_out(&mut live, &command, Vec::new(), |_, _, _| {})
            };
            let (applied, watched) = swept?;
            let Some(watched) = watched else { return Ok(()) };
            watched.await?;
            let Outcome::Swept(swept) = applied.outcome else { return Ok(()) };
            if !swept.more {
                return Ok(());
            }
        }
        Ok(())
    }
}
