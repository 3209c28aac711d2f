//! One simulated service: a ledger, a disk, a clock, and all its callers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use moment::Timestamp;

use crate::audit::JournalAudit;
use crate::command::CreditCommand;
use crate::invariant::check_ledger;
use crate::ledger::{CreditLedger, LedgerRules};
use crate::mutant::LedgerMutant;
use crate::outcome::{AppliedCommand, CommandOutcome};
use crate::rejection::CommandRejection;
use crate::sim::disk::SimulatedDisk;
use crate::sim::oracle::SimulationOracle;
use crate::sim::random::SplitMixRandom;
use crate::sim::{InjectedBug, SimulationStats, script};
use crate::snapshot::LedgerSnapshot;

/// Time for which entries are remembered; retries may come later than that.
const RETENTION: Duration = Duration::from_secs(6 * 3600);

pub(crate) struct SimulatedService {
    random: SplitMixRandom,
    bug: InjectedBug,
    now: Timestamp,
    ledger: CreditLedger,
    disk: SimulatedDisk,
    oracle: SimulationOracle,
    /// Applied and not yet acknowledged, with the number of groups that must be synced first.
    unacknowledged: Vec<(usize, CreditCommand, AppliedCommand)>,
    forgotten_before: Timestamp,
    stats: SimulationStats,
}

impl SimulatedService {
    pub(crate) fn new(seed: u64, bug: InjectedBug) -> SimulatedService {
        let start = Timestamp::parse("2026-11-29T20:00:00Z").expect("the date is well formed");
        let mut world = SimulatedService {
            random: SplitMixRandom::new(seed),
            bug,
            now: start,
            ledger: CreditLedger::new(LedgerRules::default()),
            disk: SimulatedDisk::default(),
            oracle: SimulationOracle::default(),
            unacknowledged: Vec::new(),
            forgotten_before: start,
            stats: SimulationStats::default(),
        };
        world.plant_bug();
        world
    }

    pub(crate) fn step(&mut self) -> Result<(), String> {
        self.now = script::next_time(&mut self.random, self.now);
        let command = script::next_command(&mut self.random, &self.oracle, self.now);
        let before = self.random.one_in(50).then(|| self.ledger.to_snapshot());
        match self.apply(&command)? {
            Ok(applied) => self.note_applied(command, applied)?,
            Err(rejection) => self.note_rejection(&command, &rejection, before)?,
        }
        self.check()?;
        self.run_maintenance()?;
        if self.random.one_in(120) {
            self.crash()?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<SimulationStats, String> {
        self.disk.sync();
        self.acknowledge();
        self.compare_with_journal()?;
        Ok(self.stats)
    }

    fn apply(
        &mut self,
        command: &CreditCommand,
    ) -> Result<Result<AppliedCommand, CommandRejection>, String> {
        let (ledger, now) = (&mut self.ledger, self.now);
        catch_unwind(AssertUnwindSafe(|| ledger.apply(command, now)))
            .map_err(|_| format!("the ledger's own assertion failed on {command:?}"))
    }

    fn note_applied(
        &mut self,
        command: CreditCommand,
        applied: AppliedCommand,
    ) -> Result<(), String> {
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
        if let CommandOutcome::Settled(receipt) = &applied.outcome {
            self.stats.written_off += usize::from(receipt.written_off.is_positive());
        }
        if let CommandOutcome::Refunded(refund) = &applied.outcome {
            self.stats.refunds += 1;
            self.stats.lapsed += usize::from(!refund.lapsed.is_empty());
        }
        if let CommandOutcome::Reversed(receipt) = &applied.outcome {
            self.stats.debts += usize::from(receipt.owed.is_positive());
        }
        if let CommandOutcome::Collected(receipt) = &applied.outcome {
            self.stats.collections += usize::from(receipt.collected.is_positive());
        }
        self.oracle.check_applied(&command, &applied, self.now)?;
        self.unacknowledged.push((self.disk.groups().len(), command, applied));
        if self.bug == InjectedBug::AckBeforeSync {
            self.acknowledge_all();
        }
        Ok(())
    }

    fn note_rejection(
        &mut self,
        command: &CreditCommand,
        rejection: &CommandRejection,
        before: Option<LedgerSnapshot>,
    ) -> Result<(), String> {
        self.stats.rejected += 1;
        match rejection {
            CommandRejection::Duplicate { .. } | CommandRejection::AlreadyRefunded { .. } => {
                self.stats.duplicates += 1;
            }
            CommandRejection::KeyLimit { .. } => self.stats.key_limits += 1,
            _ => {}
        }
        let has_changed = before.is_some_and(|before| before != self.ledger.to_snapshot());
        if has_changed {
            return Err(format!("{command:?} was refused but changed the ledger"));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        check_ledger(&self.ledger).map_err(|violation| violation.to_string())?;
        self.oracle.check_debts(&self.ledger)?;
        self.oracle.check_limits(&self.ledger)
    }

    /// Syncs, acknowledges, checkpoints and forgets, each at random.
    fn run_maintenance(&mut self) -> Result<(), String> {
        if self.random.one_in(6) {
            self.disk.sync();
        }
        self.acknowledge();
        if self.random.one_in(80) && self.unacknowledged.is_empty() {
            self.disk.checkpoint(&self.ledger);
        }
        if self.random.one_in(40) {
            self.forgotten_before = self.now.minus(RETENTION).max(self.forgotten_before);
            self.ledger.forget_entries(self.forgotten_before);
        }
        Ok(())
    }

    fn acknowledge(&mut self) {
        let synced = self.disk.synced_count();
        let (oracle, unacknowledged) = (&mut self.oracle, &mut self.unacknowledged);
        unacknowledged.retain(|(groups, command, applied)| {
            let is_durable = *groups <= synced;
            if is_durable {
                oracle.note_acknowledged(command, applied);
            }
            !is_durable
        });
    }

    fn acknowledge_all(&mut self) {
        for (_, command, applied) in self.unacknowledged.drain(..) {
            self.oracle.note_acknowledged(&command, &applied);
        }
    }

    fn crash(&mut self) -> Result<(), String> {
        self.stats.crashes += 1;
        self.disk.lose_unsynced(&mut self.random, self.bug == InjectedBug::TornGroup);
        self.unacknowledged.clear();
        self.reload()?;
        self.compare_with_journal()
    }

    fn reload(&mut self) -> Result<(), String> {
        self.ledger = self.disk.recover(LedgerRules::default())?;
        self.ledger.forget_entries(self.forgotten_before);
        self.plant_bug();
        self.oracle.note_recovery(&self.ledger, &self.disk);
        self.check()
    }

    /// Checks that the live ledger, a replay of the journal and a fold of its transfers agree, and
    /// that every acknowledged command is in the journal once and complete.
    fn compare_with_journal(&self) -> Result<(), String> {
        let replayed = self.disk.replay_all(LedgerRules::default())?.to_snapshot();
        let live = self.ledger.to_snapshot();
        let replayed = LedgerSnapshot { recent: live.recent.clone(), ..replayed };
        if replayed != live {
            return Err(format!("replay differs:\n{replayed:?}\nlive:\n{live:?}"));
        }
        let mut audit = JournalAudit::from_snapshot(&live);
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

    fn plant_bug(&mut self) {
        self.ledger.mutant = match self.bug {
            InjectedBug::Ledger(mutant) => mutant,
            InjectedBug::None | InjectedBug::AckBeforeSync | InjectedBug::TornGroup => {
                LedgerMutant::None
            }
        };
    }
}
