//! `tollgate demo`: a service whose accounts, keys and usage are invented, to look around in.
//!
//! Everything goes through the ledger as real work does, only with a clock that stands in the
//! past, so that the books of a demonstration are right too.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use access::KeyRing;
use config::sections::store::StoreLocation;
use control::actor::Actor;
use control::founding::DEFAULT_ACCOUNT;
use control::operation::{CreditCurrency, KeyType, NewKey, Operation, Period};
use control::reply::Reply;
use control::secrets::peppers;
use control::service::Service;
use credits::{Rules, Want};
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::{Entropy, request_id, time_ordered_id};
use ledger::{Charge, ChargeLine, Ledger};
use moment::{Clock, ManualClock, SystemClock};
use money::{Per, Price, Rate};
use store::usage::UsageDetails;

use crate::database::{self, Opener};
use crate::failure::Failure;
use crate::randomness::SystemEntropy;
use crate::surroundings::Surroundings;

const DAYS: u32 = 14;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const CREDIT_USD: &str = "250.00";
const ACCOUNTS: [(&str, &[&str]); 3] = [
    (DEFAULT_ACCOUNT, &["website", "nightly report"]),
    ("acme", &["assistant", "search"]),
    ("globex", &["support desk"]),
];
/// A model, what a token in and out costs per million, and how often it is asked in a day.
const MODELS: [(&str, &str, &str, u32); 3] = [
    ("smollm2-135m", "0.05", "0.10", 9),
    ("llama-3.3-70b", "0.70", "2.80", 6),
    ("deepseek-v4-pro", "0.90", "3.60", 3),
];

/// The same surroundings with a data directory of the demonstration's own, filled once.
pub(crate) async fn prepare(surroundings: &Surroundings) -> Result<Surroundings, Failure> {
    let mut surroundings = surroundings.clone();
    surroundings.data_dir.path = surroundings.data_dir.path.join("demo");
    let config = surroundings.sources(Vec::new()).read()?;
    if !matches!(config.store.location, StoreLocation::Sqlite(_)) {
        return Err(Failure::Failed(
            "a demonstration has a database of its own, in SQLite: leave `url` in [store] out"
                .to_owned(),
        ));
    }
    if surroundings.data_dir.path.join("tollgate.db").exists() {
        return Ok(surroundings);
    }
    let opened = database::open(&surroundings.data_dir.path, &config.store, Opener::Command);
    let store = opened.await?.store;
    let now = SystemClock.now();
    let clock = Arc::new(ManualClock::at(now.minus(DAY * DAYS)));
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let time: Arc<dyn Clock> = clock.clone();
    let peppers = peppers(store.as_ref(), entropy.as_ref()).await?;
    let parts = (Arc::clone(&store), Arc::clone(&time), Arc::clone(&entropy));
    let ledger = Ledger::open(parts.0, parts.1, parts.2, Rules::default()).await?;
    let keys = KeyRing::new(Arc::clone(&store), Arc::clone(&time), Arc::clone(&entropy), peppers);
    let service = Service {
        store,
        ledger: Arc::new(ledger),
        keys: Arc::new(keys),
        catalogue: Arc::new(CurrentCatalogue::default()),
        tiers: Arc::new(config.tiers),
        reload: Arc::new(|| Err("this is a demonstration".to_owned())),
        clock: time,
        entropy,
        started_at: now,
        api_url: None,
        weights: Arc::new(|_| None),
        payments: OnceLock::new(),
        progress_of: OnceLock::new(),
        elsewhere: OnceLock::new(),
    };
    fill(&service, &clock).await?;
    Ok(surroundings)
}

async fn fill(service: &Service, clock: &ManualClock) -> Result<(), Failure> {
    service.found(None).await?;
    let (actor, mut secrets) = (Actor::of_this_process(), Vec::new());
    for (account, keys) in ACCOUNTS {
        if account != DEFAULT_ACCOUNT {
            service.perform(&actor, Operation::CreateAccount { name: account.to_owned() }).await?;
        }
        let credit = Operation::CreditAccount {
            entry: time_ordered_id(clock.now(), service.entropy.as_ref()),
            name: account.to_owned(),
            amount: CREDIT_USD.to_owned(),
            currency: CreditCurrency::Usd,
        };
        service.perform(&actor, credit).await?;
        for key in keys {
            let made = service.perform(&actor, Operation::CreateKey(new_key(account, key))).await?;
            if let Reply::CreatedKey(made) = made {
                secrets.push(made.api_key);
            }
        }
    }
    let mut dice = Dice(0x7011);
    for _ in 0..DAYS {
        let mut left = DAY;
        for secret in &secrets {
            for model in MODELS {
                for _ in 0..dice.up_to(model.3) {
                    let step = Duration::from_secs(u64::from(dice.up_to(240)));
                    clock.advance(step);
                    left = left.saturating_sub(step);
                    charge(service, secret, model, &mut dice).await?;
                }
            }
        }
        clock.advance(left);
    }
    service.keys.note_uses().await.map_err(|error| Failure::Failed(error.to_string()))
}

fn new_key(account: &str, description: &str) -> NewKey {
    NewKey {
        account: account.to_owned(),
        kind: KeyType::Inference,
        description: description.to_owned(),
        limit_usd: Some("50".to_owned()),
        limit_diem: None,
        period: Period::Month,
        expires: None,
    }
}

/// One chat: held, then settled, as the API does it.
async fn charge(
    service: &Service,
    secret: &str,
    (model, input, output, _): (&str, &str, &str, u32),
    dice: &mut Dice,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
    let holder = service.keys.open(secret).await.map_err(|error| failed(&error))?;
    let (prompt, completion) = (u64::from(dice.up_to(6_000)), u64::from(dice.up_to(2_000)));
    let line = |name: &str, units: u64, price: &str| -> Result<ChargeLine, Failure> {
        let price = Price::parse(price, Per::Million).map_err(|error| failed(&error))?;
        let sku = format!("{model}-llm-{name}-mtoken");
        Ok(ChargeLine { sku, units, rate: Rate::at_par(price), per: Per::Million })
    };
    let charge = Charge {
        lines: vec![line("input", prompt, input)?, line("output", completion, output)?],
        model: model.to_owned(),
        details: UsageDetails {
            request_id: request_id(service.entropy.as_ref()),
            prompt_tokens: Some(prompt),
            completion_tokens: Some(completion),
            execution_ms: Some(u64::from(300 + dice.up_to(5_000))),
        },
        notes: "API Inference".to_owned(),
    };
    let cost = charge.total().map_err(|error| failed(&error))?;
    let hold = service.ledger.hold(holder.payer(), Want::Exactly(cost));
    let hold = hold.map_err(|error| failed(&error))?;
    service.ledger.settle(hold, charge).await.map_err(|error| failed(&error))?;
    Ok(())
}

/// Numbers that look like chance and are the same each time.
struct Dice(u32);

impl Dice {
    /// From 1 to `most`.
    fn up_to(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        1 + self.0 % most
    }
}
