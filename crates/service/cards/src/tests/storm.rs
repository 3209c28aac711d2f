//! A storm: webhooks repeated, shuffled and lost, Stripe failing, the service killed between any two
//! steps. At the end the books are what Stripe has.

use std::sync::Arc;
use std::time::Duration;

use card_payments::UsdCents;
use stripe_double::{
    DeliveryPlan, DisputeEnd, DoubleKind, DoubleRandom, PaymentMethodKind, StripeDouble,
    WebhookDelivery,
};

use super::world::{Position, World};
use crate::*;

const SEEDS: u64 = 24;
const STEPS: usize = 150;
const OWNERS: u128 = 2;
const PLAN: DeliveryPlan =
    DeliveryPlan { lost_percent: 30, repeated_percent: 30, is_shuffled: true };

struct Storm {
    random: DoubleRandom,
    world: Arc<World>,
    service: CardService,
    adds_tax: bool,
    undelivered: Vec<WebhookDelivery>,
    spent: [i64; OWNERS as usize],
    kills: usize,
}

impl Storm {
    fn new(seed: u64) -> Storm {
        let world = World::new();
        let adds_tax = seed % 2 == 1;
        Storm {
            random: DoubleRandom::new(seed),
            service: world.start(adds_tax),
            world,
            adds_tax,
            undelivered: Vec::new(),
            spent: [0; OWNERS as usize],
            kills: 0,
        }
    }

    async fn step(&mut self) {
        self.maybe_arm();
        match self.random.below(12) {
            0 | 1 => {
                let owner = self.random.below(OWNERS as usize) as u128;
                let cents = 500 + self.random.below(1000) as u32;
                self.world.checkout(&self.service, owner, cents).await;
            }
            2..=4 => self.act_at_stripe(),
            5..=7 => self.deliver_one().await,
            8 => {
                let _ = self.world.kill.run(self.service.poll()).await;
            }
            9 => {
                let owner = self.random.below(OWNERS as usize);
                let amount = 10_000_000 * self.random.below(900) as i64;
                self.spent[owner] += self.world.lock().spend(owner as u128, amount);
            }
            10 => {
                let mut state = self.world.lock();
                state.now = state.now.plus(Duration::from_secs(self.random.below(3000) as u64));
            }
            _ => {
                let (before, after) = (self.random.below(3), self.random.below(3));
                self.world.lock().double.fail_requests(before, after);
            }
        }
        let new = self.world.lock().double.take_deliveries();
        self.undelivered.extend(PLAN.apply(new, &mut self.random));
        self.restart_if_killed();
    }

    fn maybe_arm(&mut self) {
        if self.random.chance(40) {
            self.world.kill.arm(self.random.below(40));
        }
    }

    /// A killed service starts again, with nothing but its rows.
    fn restart_if_killed(&mut self) {
        self.kills += usize::from(self.world.kill.was_killed());
        if self.world.kill.was_killed() {
            self.service = self.world.start(self.adds_tax);
        }
        self.world.kill.disarm();
    }

    async fn deliver_one(&mut self) {
        if self.undelivered.is_empty() {
            return;
        }
        let index = self.random.below(self.undelivered.len());
        let delivery = self.undelivered.swap_remove(index);
        let is_acknowledged = self.world.deliver(&self.service, &delivery.body).await;
        // Stripe delivers again what was not acknowledged, for some days.
        if !is_acknowledged && self.random.chance(50) {
            self.undelivered.push(delivery);
        }
    }

    /// Payers, banks and the dashboard. What is not possible changes nothing.
    fn act_at_stripe(&mut self) {
        let mut state = self.world.lock();
        let double = &mut state.double;
        let amount = 1 + self.random.below(900) as i64;
        let kind = match self.random.below(9) {
            0..=2 => DoubleKind::Session,
            7 => DoubleKind::Refund,
            8 => DoubleKind::Dispute,
            _ => DoubleKind::Intent,
        };
        let ids = double.ids_of(kind);
        let Some(id) = ids.get(self.random.below(ids.len())) else { return };
        let _ = match (kind, self.random.below(6)) {
            (DoubleKind::Session, 0) => double.expire_session(id),
            (DoubleKind::Session, 1 | 2) => {
                double.pay_session(id, PaymentMethodKind::BankDebit).map(drop)
            }
            (DoubleKind::Session, _) => double.pay_session(id, PaymentMethodKind::Card).map(drop),
            (DoubleKind::Refund, _) => double.fail_refund(id),
            (DoubleKind::Dispute, 0..=3) => double.end_dispute(id, DisputeEnd::Won),
            (DoubleKind::Dispute, _) => double.end_dispute(id, DisputeEnd::Lost),
            (_, 0) => double.warn(id).map(drop),
            (_, 1) => double.dispute(id, amount, self.random.chance(30)).map(drop),
            (_, 2) => double.finish_debit(id, self.random.chance(70)),
            _ => double.refund(id, amount, Default::default()).map(drop),
        };
    }

    /// Everything is well again: one poll is enough.
    async fn settle(&mut self) {
        self.world.kill.disarm();
        self.service = self.world.start(self.adds_tax);
        {
            let mut state = self.world.lock();
            state.double.fail_requests(0, 0);
            state.now = state.now.plus(Duration::from_secs(60));
        }
        let summary = self.service.poll().await.unwrap();
        assert_eq!(summary.failed, 0);
    }

    fn check(&self) {
        let state = self.world.lock();
        assert!(state.looks.is_empty(), "{:?}", state.looks);
        assert!(state.mismatches.is_empty(), "{:?}", state.mismatches);
        let mut owed = [0_i64; OWNERS as usize];
        let mut paid_intents = 0;
        for row in state.orders.values() {
            let owner = usize::try_from(row.owner.0.as_u128()).unwrap();
            let expected = row
                .intent
                .as_ref()
                .map_or(0, |intent| count_credit(&state.double, intent.as_str(), row.amount));
            assert_eq!(row.books.net.nanos(), expected, "{row:?}");
            owed[owner] += expected;
            paid_intents += usize::from(row.intent.is_some());
        }
        assert_eq!(paid_intents, state.double.ids_of(DoubleKind::Intent).len(), "all were found");
        for (owner, owed) in owed.iter().enumerate() {
            let net = owed - self.spent[owner];
            let expected = Position { left: net.max(0), debt: (-net).max(0) };
            assert_eq!(state.position(owner as u128), expected, "owner {owner}");
        }
        assert_eq!(state.cash(), i128::from(owed.iter().sum::<i64>()));
        assert_eq!(state.frozen_for(), list_causes(&state.double));
    }
}

/// The credit of a payment in nanos, by another way of counting than the service's: what was kept,
/// rounded up.
fn count_credit(double: &StripeDouble, intent: &str, amount: UsdCents) -> i64 {
    let received = double.object(intent).unwrap()["amount_received"].as_i64().unwrap();
    if received == 0 {
        return 0;
    }
    let part = i128::from(double.kept_of(intent)) * i128::from(amount.to_nano().nanos());
    let whole = i128::from(received);
    i64::try_from((part + whole - 1) / whole).unwrap()
}

fn list_causes(double: &StripeDouble) -> Vec<String> {
    let disputes = double.ids_of(DoubleKind::Dispute).into_iter().filter(|id| {
        let status = &double.object(id).unwrap()["status"];
        status == "needs_response" || status == "lost"
    });
    let mut causes: Vec<String> = disputes.chain(double.ids_of(DoubleKind::Warning)).collect();
    causes.sort();
    causes
}

#[tokio::test]
async fn a_storm_ends_with_the_books_of_stripe() {
    let (mut kills, mut entries, mut debts) = (0, 0, 0);
    for seed in 0..SEEDS {
        let mut storm = Storm::new(seed);
        for _ in 0..STEPS {
            storm.step().await;
        }
        storm.settle().await;
        storm.check();
        // Another round finds nothing to move.
        let before = storm.world.lock().entries.len();
        storm.settle().await;
        assert_eq!(storm.world.lock().entries.len(), before);
        kills += storm.kills;
        entries += before;
        debts += storm.world.lock().ledger.debtors().len();
    }
    // A storm that no longer reaches the edge cases would pass silently.
    assert!(100 < kills && 100 < entries && 1 < debts, "{kills} {entries} {debts}");
}
