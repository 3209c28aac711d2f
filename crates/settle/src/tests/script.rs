//! A chain that does what a test says, and remembers what was done to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use moment::ManualClock;
use store::claim::{Claim, SentPayment};
use tokio::sync::Notify;
use wallet::{ContractCheck, TokenAmount};

use crate::settler::{
    Decline, Moved, Order, Preparation, Prepared, Setback, Settler, Sighting, Step,
};

/// The chain outlives the process, so a restart is given the same one.
pub(super) struct Script {
    clock: Arc<ManualClock>,
    state: Mutex<State>,
    pub(super) crash: Crash,
}

#[derive(Default)]
pub(super) struct State {
    /// What becomes of payments that are prepared or sent.
    pub(super) mood: Mood,
    /// What moved, by the payer and the nonce that moved it.
    moved: HashMap<Spent, Moved>,
    /// What was taken by the node and waits to be mined.
    pool: HashMap<Spent, Moved>,
    pub(super) sends: usize,
    pub(super) confirms: Option<bool>,
}

type Spent = (String, [u8; 32]);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mood {
    /// What is sent is mined at once.
    #[default]
    Willing,
    /// What is sent waits until [`Script::mine`].
    Slow,
    /// What is sent is taken and forgotten.
    Forgetful,
    /// Forgotten, and too late to be sent again.
    Expired,
    /// The payer has no money.
    Poor,
    /// Our own relayer has none.
    Broke,
    /// The node turns down what is sent.
    Strict,
    /// The node mines what is sent and does not answer.
    Mute,
}

/// Where a process is to die: at the n-th thing it does.
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

    /// Goes on, unless this is where the process dies: then it never returns.
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
        let mut state = self.state();
        let pool = std::mem::take(&mut state.pool);
        state.moved.extend(pool);
    }

    /// Somebody else sends the payer's authorization.
    pub(super) fn front_run(&self, payer: &str, nonce: [u8; 32], units: u64) {
        let moved = moved("0xtheirs", units);
        self.state().moved.insert((payer.to_owned(), nonce), moved);
    }

    /// What the chain moved to us in all.
    pub(super) fn received(&self) -> u64 {
        self.state().moved.values().map(|moved| moved.amount.units()).sum()
    }

    fn sighted(&self, claim: &Claim) -> Sighting {
        // Looking takes time, so that waiting ends.
        self.clock.advance(Duration::from_secs(1));
        let state = self.state();
        match state.moved.get(&spent(claim)) {
            Some(moved) => Sighting::Moved(moved.clone()),
            None if state.mood == Mood::Expired => {
                Sighting::Never(Decline::new("expired", "The payment has expired"))
            }
            None => Sighting::Waiting { transaction: None },
        }
    }
}

impl Settler for Script {
    fn prepare<'a>(&'a self, order: &'a Order) -> Step<'a, Preparation> {
        Box::pin(async move {
            self.crash.point().await;
            let state = self.state();
            let spent = (order.verified.payer.to_string(), order.verified.nonce());
            if let Some(moved) = state.moved.get(&spent) {
                return Ok(Preparation::Moved(moved.clone()));
            }
            match state.mood {
                Mood::Poor => Err(Decline::new("insufficient_funds", "no money").into()),
                Mood::Broke => Err(Setback::unable("the relayer has no funds")),
                _ => Ok(Preparation::Ready(Prepared {
                    sent: SentPayment {
                        transaction: Some("0xours".to_owned()),
                        raw: Some(vec![1]),
                        sequence: Some(0),
                        since_block: Some(1),
                    },
                    turn: None,
                })),
            }
        })
    }

    fn send<'a>(&'a self, claim: &'a Claim) -> Step<'a, Sighting> {
        Box::pin(async move {
            self.crash.point().await;
            let sent = {
                let mut state = self.state();
                state.sends += 1;
                let (key, moved) = (spent(claim), moved("0xours", claim.units));
                match state.mood {
                    Mood::Willing | Mood::Mute => drop(state.moved.entry(key).or_insert(moved)),
                    Mood::Slow => drop(state.pool.entry(key).or_insert(moved)),
                    _ => {}
                }
                match state.mood {
                    Mood::Strict => Ok(Sighting::Unsent("nonce too low".to_owned())),
                    Mood::Mute => Err(Setback::unable("no answer in time")),
                    _ => Ok(Sighting::Waiting { transaction: None }),
                }
            };
            self.crash.point().await;
            sent
        })
    }

    fn look<'a>(&'a self, claim: &'a Claim) -> Step<'a, Sighting> {
        Box::pin(async move {
            self.crash.point().await;
            Ok(self.sighted(claim))
        })
    }

    fn confirms<'a>(&'a self, _: &'a ContractCheck) -> Step<'a, bool> {
        let confirms = self.state().confirms;
        Box::pin(async move { confirms.ok_or(Setback::unable("no answer in time")) })
    }
}

fn spent(claim: &Claim) -> Spent {
    (claim.payer.clone(), claim.nonce)
}

fn moved(transaction: &str, units: u64) -> Moved {
    Moved { amount: TokenAmount::from_units(units).unwrap(), transaction: transaction.to_owned() }
}
