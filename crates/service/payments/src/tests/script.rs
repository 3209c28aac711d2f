//! A chain that a test controls, and that records what was sent to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use moment::ManualClock;
use store::claim::{PaymentClaim, SentPayment};
use tokio::sync::Notify;
use wallet::{ContractCheck, TokenAmount};

use crate::settler::{
    ChainSighting, ConfirmedTransfer, PaymentDecline, PaymentPreparation, PaymentSettler,
    PreparedPayment, SettleFailure, SettlementOrder, SettlerFuture,
};

/// The chain outlives the process, so it is passed on to the restarted one.
pub(super) struct Script {
    clock: Arc<ManualClock>,
    state: Mutex<State>,
    pub(super) crash: Crash,
}

#[derive(Default)]
pub(super) struct State {
    /// The fate of payments that are prepared or sent.
    pub(super) mood: Mood,
    /// Payments that moved, by payer and nonce.
    moved: HashMap<Spent, ConfirmedTransfer>,
    /// Transactions that the node accepted and that wait to be mined. Of those that replace each
    /// other, one is mined.
    pool: HashMap<Spent, Vec<ConfirmedTransfer>>,
    pub(super) sends: usize,
    pub(super) confirms: Option<bool>,
}

type Spent = (String, [u8; 32]);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mood {
    /// Transactions are mined at once.
    #[default]
    Willing,
    /// Transactions wait until [`Script::mine`].
    Slow,
    /// Transactions are accepted and dropped.
    Forgetful,
    /// Transactions are dropped, and it is too late to send them again.
    Expired,
    /// The payer has no money.
    Poor,
    /// Our own relayer has no money.
    Broke,
    /// The node rejects transactions.
    Strict,
    /// The node mines transactions and does not answer.
    Mute,
    /// Lookups of transactions fail.
    Blind,
}

/// The step at which a process is to die.
#[derive(Default)]
pub(super) struct Crash {
    at: Mutex<Option<usize>>,
    done: Mutex<usize>,
    pub(super) reached: Notify,
}

impl Crash {
    pub(super) fn set(&self, at: Option<usize>) {
        *self.at.lock().unwrap() = at;
        *self.done.lock().unwrap() = 0;
    }

    /// Returns, unless this is the step at which the process dies: then it never returns.
    pub(super) async fn point(&self) {
        let dies = {
            let mut done = self.done.lock().unwrap();
            *done += 1;
            Some(*done) == *self.at.lock().unwrap()
        };
        if dies {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

impl Script {
    pub(super) fn new(clock: Arc<ManualClock>) -> Script {
        Script { clock, state: Mutex::default(), crash: Crash::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn set(&self, mood: Mood) {
        self.state().mood = mood;
    }

    pub(super) fn mine(&self) {
        self.mine_one_of(|candidates| candidates.pop());
    }

    /// Mines the transaction that was sent first, and not its replacement.
    pub(super) fn mine_the_first(&self) {
        self.mine_one_of(|candidates| candidates.drain(..).next());
    }

    fn mine_one_of(
        &self,
        choose: impl Fn(&mut Vec<ConfirmedTransfer>) -> Option<ConfirmedTransfer>,
    ) {
        let mut state = self.state();
        for (spent, mut candidates) in std::mem::take(&mut state.pool) {
            let chosen = choose(&mut candidates).unwrap();
            state.moved.entry(spent).or_insert(chosen);
        }
    }

    /// The ids of transactions that were sent and are not mined.
    pub(super) fn waiting(&self) -> Vec<String> {
        let state = self.state();
        state.pool.values().flatten().map(|moved| moved.transaction.clone()).collect()
    }

    /// Another account sends the payer's authorization.
    pub(super) fn front_run(&self, payer: &str, nonce: [u8; 32], units: u64) {
        let moved = moved("0xtheirs", units);
        self.state().moved.insert((payer.to_owned(), nonce), moved);
    }

    /// Reorganises the chain to before anything moved.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        state.moved.clear();
        state.pool.clear();
    }

    /// The total that the chain moved to us.
    pub(super) fn received(&self) -> u64 {
        self.state().moved.values().map(|moved| moved.amount.units()).sum()
    }

    fn sighted(&self, claim: &PaymentClaim) -> ChainSighting {
        // A lookup takes time, so that waiting ends.
        self.clock.advance(Duration::from_secs(1));
        let state = self.state();
        match state.moved.get(&spent(claim)) {
            Some(moved) => ChainSighting::Moved(moved.clone()),
            None if state.mood == Mood::Expired => {
                ChainSighting::Never(PaymentDecline::new("expired", "The payment has expired"))
            }
            None => ChainSighting::Waiting { transaction: None },
        }
    }
}

impl PaymentSettler for Script {
    fn prepare<'a>(&'a self, order: &'a SettlementOrder) -> SettlerFuture<'a, PaymentPreparation> {
        Box::pin(async move {
            self.crash.point().await;
            let state = self.state();
            let spent = (order.verified.payer.to_string(), order.verified.nonce());
            if let Some(moved) = state.moved.get(&spent) {
                return Ok(PaymentPreparation::Moved(moved.clone()));
            }
            match state.mood {
                Mood::Poor => Err(PaymentDecline::new("insufficient_funds", "no money").into()),
                Mood::Broke => Err(SettleFailure::unable("the relayer has no funds")),
                _ => Ok(PaymentPreparation::Ready(PreparedPayment {
                    sent: SentPayment {
                        transaction: Some("0xours".to_owned()),
                        raw: Some(vec![1]),
                        sequence: Some(0),
                        since_block: Some(1),
                        replaced: Vec::new(),
                    },
                    turn: None,
                })),
            }
        })
    }

    fn send<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        Box::pin(async move {
            self.crash.point().await;
            let sent = {
                let mut state = self.state();
                state.sends += 1;
                let name = claim.sent.transaction.as_deref().unwrap_or("0xours");
                let (key, moved) = (spent(claim), moved(name, claim.units));
                match state.mood {
                    Mood::Willing | Mood::Mute => drop(state.moved.entry(key).or_insert(moved)),
                    Mood::Slow => {
                        let candidates = state.pool.entry(key).or_default();
                        if !candidates.contains(&moved) {
                            candidates.push(moved);
                        }
                    }
                    _ => {}
                }
                match state.mood {
                    Mood::Strict => Ok(ChainSighting::Unsent("transaction underpriced".to_owned())),
                    Mood::Mute => Err(SettleFailure::unable("no answer in time")),
                    _ => Ok(ChainSighting::Waiting { transaction: None }),
                }
            };
            self.crash.point().await;
            sent
        })
    }

    fn look_up<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        Box::pin(async move {
            self.crash.point().await;
            if self.state().mood == Mood::Blind {
                return Err(SettleFailure::unable("no answer in time"));
            }
            Ok(self.sighted(claim))
        })
    }

    fn build_replacement<'a>(
        &'a self,
        claim: &'a PaymentClaim,
    ) -> SettlerFuture<'a, Option<SentPayment>> {
        Box::pin(async move {
            self.crash.point().await;
            let mut replaced = claim.sent.replaced.clone();
            replaced.extend(claim.sent.transaction.clone());
            let transaction = Some(format!("0xdearer{}", replaced.len()));
            Ok(Some(SentPayment { transaction, replaced, ..claim.sent.clone() }))
        })
    }

    fn confirms_signature<'a>(&'a self, _: &'a ContractCheck) -> SettlerFuture<'a, bool> {
        let confirms = self.state().confirms;
        Box::pin(async move { confirms.ok_or(SettleFailure::unable("no answer in time")) })
    }
}

fn spent(claim: &PaymentClaim) -> Spent {
    (claim.payer.clone(), claim.nonce)
}

fn moved(transaction: &str, units: u64) -> ConfirmedTransfer {
    ConfirmedTransfer {
        amount: TokenAmount::from_units(units).unwrap(),
        transaction: transaction.to_owned(),
    }
}
