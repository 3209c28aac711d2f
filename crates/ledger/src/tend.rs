//! Periodic work: expiring lots and holds, and recovery after a failed commit.

use std::sync::Arc;
use std::time::Duration;

use credits::{Command, EntryId, Outcome, OwnerId, Rules};
use store::journal::Books;
use store::leases::Leased;
use store::write::{Group, Write};

use crate::error::LedgerError;
use crate::homes::Homes;
use crate::live::{CoreState, LastEntry, Ledger};
use crate::watch::Watched;

/// How long the core recognises a command by itself; after that the journal does.
const RECENT_KEPT: Duration = Duration::from_secs(3600);

/// Sweeps in a row; what is left waits for the next time.
const SWEEPS_MAX: usize = 64;

/// The core as the store has it.
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
    /// Call this every second or so. It waits for groups that nobody waits for, brings a stopped
    /// ledger back once the store can be written again, and moves what has expired.
    pub async fn tend(&self) -> Result<(), LedgerError> {
        self.wait_for_unwatched().await;
        if self.shared.lock().core_state == CoreState::Stopped {
            self.recover().await?;
        }
        self.sweep().await?;
        self.give_up_idle().await;
        let now = self.shared.now();
        self.shared.lock().core.forget(now.minus(RECENT_KEPT));
        Ok(())
    }

    pub(crate) async fn wait_for_unwatched(&self) {
        let commits = std::mem::take(&mut self.shared.lock().unwatched);
        let groups: Vec<Watched> = commits
            .into_iter()
            .map(|commit| Watched::new(Arc::clone(&self.shared), commit))
            .collect();
        for group in groups {
            // A lost group has stopped the ledger, which is looked at next.
            let _ = group.await;
        }
    }

    /// Loads the core afresh. Everything acknowledged is on disk; what was decided since and not
    /// written was acknowledged to nobody.
    pub(crate) async fn recover(&self) -> Result<(), LedgerError> {
        let (generation, at_home) = {
            let live = self.shared.lock();
            if 0 < self.shared.in_flight() {
                return Err(LedgerError::Unavailable);
            }
            (live.generation, live.at_home())
        };
        let store = &self.shared.store;
        let probe = Write::PutSetting { name: "ledger_probe".into(), value: vec![0; 1] };
        store.commit(Group::of(probe)).await.map_err(|_| LedgerError::Unavailable)?;
        let loaded = match &self.shared.homes {
            None => Loaded::all(store.load().await?, self.shared.rules)?,
            Some(homes) => Loaded::of(homes, at_home, self.shared.rules).await?,
        };
        let mut live = self.shared.lock();
        let was_overtaken = live.generation != generation;
        if was_overtaken {
            return Ok(());
        }
        live.core = loaded.core;
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
                if live.clock_watch.as_mut().is_some_and(|watch| !watch.trusts(wall)) {
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
