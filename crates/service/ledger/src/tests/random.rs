//! Random commands over several days: after each restart the ledger has the same state as before.

use std::time::Duration;

use ledger_core::{
    AllowanceKind, EntryId, HoldId, HoldPayer, HoldRange, KeyTerms, LedgerSnapshot, LimitPeriod,
};
use moment::Clock;
use money::{BalanceCurrency, Nano};
use uuid::Uuid;

use super::fixture::{World, base, cost, entry, key, nanos, owner, settled, world};
use crate::{LedgerJob, RequestHold};

const SEEDS: u64 = 12;
const STEPS: u64 = 120;

#[tokio::test]
async fn memory_rows_and_journal_agree_through_random_days_and_restarts() {
    for seed in 1..=SEEDS {
        println!("seed {seed}");
        let mut days = Days::new(seed).await;
        for step in 0..STEPS {
            days = match days.dice.below(14) {
                0 => days.restart().await,
                throw => days.step(step, throw).await,
            };
            let reconciled = days.world.ledger.reconcile().await.unwrap();
            assert_eq!(reconciled.difference_nano, 0, "step {step}");
        }
        let days = days.restart().await;
        days.world.expect_sound().await;
    }
}

struct Days {
    world: World,
    dice: Dice,
    holds: Vec<RequestHold>,
    jobs: Vec<LedgerJob>,
    charges: Vec<EntryId>,
}

impl Days {
    async fn new(seed: u64) -> Days {
        let (holds, jobs, charges) = (Vec::new(), Vec::new(), Vec::new());
        Days { world: world().await, dice: Dice(seed), holds, jobs, charges }
    }

    async fn step(mut self, step: u64, throw: u64) -> Days {
        let number = u128::from(step) + 1;
        match throw {
            1 => self.credit(number).await,
            2 => self.grant(number).await,
            3 => self.set_allowance(number).await,
            4..=6 => self.hold(),
            7..=9 => self.settle().await,
            10 => self.job(number).await,
            11 => self.refund().await,
            12 => drop(self.holds.pop()),
            _ => {
                let hours = self.dice.below(40);
                self.world.clock.advance(Duration::from_secs(hours * 3600));
                self.world.ledger.run_maintenance().await.unwrap();
            }
        }
        self
    }

    async fn credit(&mut self, number: u128) {
        let amount = self.amount();
        let ledger = &self.world.ledger;
        let also = settled(number, amount);
        ledger.top_up(entry(number), owner(1), base(), amount, also).await.unwrap();
    }

    async fn grant(&mut self, number: u128) {
        let hours = 1 + self.dice.below(60);
        let expires_at = self.world.clock.now().plus(Duration::from_secs(hours * 3600));
        let amount = (BalanceCurrency::Vcu, self.amount());
        let granted =
            self.world.ledger.grant(entry(number), owner(1), amount, Some(expires_at), Vec::new());
        granted.await.unwrap();
    }

    async fn set_allowance(&mut self, number: u128) {
        let kind = AllowanceKind::ALL[usize::try_from(self.dice.below(2)).unwrap()];
        let amount = self.amount();
        let ledger = &self.world.ledger;
        ledger.set_allowance(entry(number), owner(1), kind, amount, Vec::new()).await.unwrap();
    }

    fn hold(&mut self) {
        let want = HoldRange::UpTo { least: Nano::ZERO.into(), most: self.amount().into() };
        // A key's limit may leave nothing to hold, which is a valid result.
        let payer = self.payer();
        let held = self.world.ledger.hold(payer, want);
        self.holds.extend(held.ok());
    }

    async fn settle(&mut self) {
        let Some(hold) = self.holds.pop() else { return };
        let held = u64::try_from(hold.amount().nanos()).unwrap();
        let cost = cost(self.dice.below(held + held / 4 + 2));
        let receipt = self.world.ledger.settle(hold, cost).await.unwrap();
        if !receipt.legs.is_empty() {
            self.charges.push(receipt.charge);
        }
    }

    async fn job(&mut self, number: u128) {
        match self.jobs.pop() {
            None => {
                let job =
                    LedgerJob { hold: HoldId(Uuid::from_u128(number << 64)), payer: self.payer() };
                let want = HoldRange::UpTo { least: Nano::ZERO.into(), most: self.amount().into() };
                let held = self.world.ledger.hold_job(job, want, Vec::new()).await;
                self.jobs.extend(held.is_ok().then_some(job));
            }
            Some(job) if self.dice.below(3) == 0 => {
                self.world.ledger.release_job(job, Vec::new()).await.unwrap();
            }
            Some(job) => {
                let cost = cost(self.dice.below(3_000));
                self.world.ledger.settle_job(job, cost, Vec::new()).await.unwrap();
            }
        }
    }

    async fn refund(&mut self) {
        let Some(charge) = self.charges.pop() else { return };
        self.world.ledger.refund(charge, None, "refund", Vec::new()).await.unwrap();
    }

    /// Restarts; the loaded state equals the state in memory, except for the holds of requests.
    async fn restart(mut self) -> Days {
        self.holds.clear();
        let before = self.snapshot();
        let days = Days { world: self.world.restart().await, ..self };
        assert_eq!(days.snapshot(), before);
        days
    }

    /// The core's state, without the recent commands, which are not in the store's rows.
    fn snapshot(&self) -> LedgerSnapshot {
        let snapshot = self.world.ledger.shared.lock().core.to_snapshot();
        LedgerSnapshot { recent: Vec::new(), ..snapshot }
    }

    fn payer(&mut self) -> HoldPayer {
        let period = LimitPeriod::ALL[usize::try_from(self.dice.below(3)).unwrap()];
        let limit_usd = (self.dice.below(2) == 0).then_some(nanos(5_000));
        let limit_diem = (self.dice.below(2) == 0).then_some(nanos(2_000));
        let terms = KeyTerms { key: key(1), limit_usd, limit_diem, period };
        let has_key = self.dice.below(3) != 0;
        HoldPayer { owner: owner(1), key: has_key.then_some(terms) }
    }

    fn amount(&mut self) -> Nano {
        nanos(1 + i64::try_from(self.dice.below(3_000)).unwrap())
    }
}

/// A deterministic random generator: the same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
