//! One simulated service: a ledger, a disk, a clock, and all its callers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use moment::Timestamp;

use crate::audit::Audit;
use crate::command::Command;
use crate::invariant::check;
use crate::ledger::{Ledger, Rules};
use crate::mutant::Mutant;
use crate::outcome::{Applied, Outcome};
use crate::rejection::Rejection;
use crate::sim::disk::Disk;
use crate::sim::oracle::Oracle;
use crate::sim::random::Random;
use crate::sim::{Bug, Stats, script};
use crate::snapshot::Snapshot;

/// Time for which entries are remembered; retries may come later than that.
const RETENTION: Duration = Duration::from_secs(6 * 3600);

pub(crate) struct World {
    random: Random,
    bug: Bug,
    now: Timestamp,
    ledger: Ledger,
    disk: Disk,
    oracle: Oracle,
    /// Applied and not yet acknowledged, with the number of groups that must be synced first.
    unacknowledged: Vec<(usize, Command, Applied)>,
    forgotten_before: Timestamp,
    stats: Stats,
}

impl World {
    pub(crate) fn new(seed: u64, bug: Bug) -> World {
        let start = Timestamp::parse("2026-11-29T20:00:00Z").expect("the date is well formed");
        let mut world = World {
            random: Random::new(seed),
            bug,
            now: start,
            ledger: Ledger::new(Rules::default()),
            disk: Disk::default(),
            oracle: Oracle::default(),
            unacknowledged: Vec::new(),
            forgotten_before: start,
            stats: Stats::default(),
        };
        world.plant();
        world
    }

    pub(crate) fn step(&mut self) -> Result<(), String> {
        self.now = script::next_time(&mut self.random, self.now);
        let command = script::next_command(&mut self.random, &self.oracle, self.now);
        let before = self.random.one_in(50).then(|| self.ledger.to_snapshot());
        match self.apply(&command)? {
            Ok(applied) => self.accept(command, applied)?,
            Err(rejection) => self.reject(&command, &rejection, before)?,
        }
        self.check()?;
        self.keep_house()?;
        if self.random.one_in(120) {
            self.crash()?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Stats, String> {
        self.disk.sync();
        self.acknowledge();
        self.compare_with_journal()?;
        Ok(self.stats)
    }

    fn apply(&mut self, command: &Command) -> Result<Result<Applied, Rejection>, String> {
        let (ledger, now) = (&mut self.ledger, self.now);
        catch_unwind(AssertUnwindSafe(|| ledger.apply(command, now)))
            .map_err(|_| format!("the ledger's own assertion failed on {command:?}"))
    }

    fn accept(&mut self, command: Command, applied: Applied) -> Result<(), String> {
        self.stats.applied += 1;
        if let Err(written_at) = self.disk.append(&applied.records) {
            if self.forgotten_before <= written_at {
                return Err(format!("an entry of {written_at} was applied again: {command:?}"));
            }
            // The entry is no longer in memory, so the journal's unique index caught the repeat.
            // The command was not written: recover from the disk.
            self.stats.reloads += 1;
            return self.reload();
        }
        if let Outcome::Settled(receipt) = &applied.outcome {
            self.stats.written_off += usize::from(receipt.written_off.is_positive());
        }
        if let Outcome::Refunded(refund) = &applied.outcome {
            self.stats.refunds += 1;
            self.stats.lapsed += usize::from(!refund.lapsed.is_empty());
        }
        self.oracle.applied(&command, &applied, self.now)?;
        self.unacknowledged.push((self.disk.groups().len(), command, applied));
        if self.bug == Bug::AckBeforeSync {
            self.acknowledge_all();
        }
        Ok(())
    }

    fn reject(
        &mut self,
        command: &Command,
        rejection: &Rejection,
        before: Option<Snapshot>,
    ) -> Result<(), String> {
        self.stats.rejected += 1;
        match rejection {
            Rejection::Duplicate { .. } | Rejection::AlreadyRefunded { .. } => {
                self.stats.duplicates += 1;
            }
            Rejection::KeyLimit { .. } => self.stats.key_limits += 1,
            _ => {}
        }
        let has_changed = before.is_some_and(|before| before != self.ledger.to_snapshot());
        if has_changed {
            return Err(format!("{command:?} was refused but changed the ledger"));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        check(&self.ledger).map_err(|violation| violation.to_string())?;
        self.oracle.check_limits(&self.ledger)
    }

    /// Syncs, acknowledges, checkpoints and forgets, each at random.
    fn keep_house(&mut self) -> Result<(), String> {
        if self.random.one_in(6) {
            self.disk.sync();
        }
        self.acknowledge();
        if self.random.one_in(80) && self.unacknowledged.is_empty() {
            self.disk.checkpoint(&self.ledger);
        }
        if self.random.one_in(40) {
            self.forgotten_before = self.now.minus(RETENTION).max(self.forgotten_before);
            self.ledger.forget(self.forgotten_before);
        }
        Ok(())
    }

    fn acknowledge(&mut self) {
        let synced = self.disk.synced();
        let (oracle, unacknowledged) = (&mut self.oracle, &mut self.unacknowledged);
        unacknowledged.retain(|(groups, command, applied)| {
            let is_durable = *groups <= synced;
            if is_durable {
                oracle.acknowledged(command, applied);
            }
            !is_durable
        });
    }

    fn acknowledge_all(&mut self) {
        for (_, command, applied) in self.unacknowledged.drain(..) {
            self.oracle.acknowledged(&command, &applied);
        }
    }

    fn crash(&mut self) -> Result<(), String> {
        self.stats.crashes += 1;
        self.disk.crash(&mut self.random, self.bug == Bug::TornGroup);
        self.unacknowledged.clear();
        self.reload()?;
        self.compare_with_journal()
    }

    fn reload(&mut self) -> Result<(), String> {
        self.ledger = self.disk.recover(Rules::default())?;
        self.ledger.forget(self.forgotten_before);
        self.plant();
        self.oracle.recovered(&self.ledger, &self.disk);
        self.check()
    }

    /// Checks that the live ledger, a replay of the journal and a fold of its transfers agree, and
    /// that every acknowledged command is in the journal once and complete.
    fn compare_with_journal(&self) -> Result<(), String> {
        let replayed = self.disk.replay_all(Rules::default())?.to_snapshot();
        let live = self.ledger.to_snapshot();
        let replayed = Snapshot { recent: live.recent.clone(), ..replayed };
        if replayed != live {
            return Err(format!("replay differs:\n{replayed:?}\nlive:\n{live:?}"));
        }
        let mut audit = Audit::of(&live);
        for record in self.disk.records() {
            audit.read_record(record);
        }
        for transfer in self.disk.transfers() {
            audit.read_again(transfer);
        }
        if let Some(violation) = audit.finish(&live).into_kept().first() {
            return Err(format!("audit: {violation}"));
        }
        self.oracle.check_journal(&self.disk)
    }

    fn plant(&mut self) {
        self.ledger.mutant = match self.bug {
            Bug::Ledger(mutant) => mutant,
            Bug::None | Bug::AckBeforeSync | Bug::TornGroup => Mutant::None,
        };
    }
}
