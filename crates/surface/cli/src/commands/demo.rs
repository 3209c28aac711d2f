//! `tollgate demo`: a service with sample accounts, keys and usage.
//!
//! All sample data goes through the ledger like real requests, with a clock set in the past, so
//! that the demo's ledger is consistent too. This process also acts as the provider and the chain
//! node, on the loopback address.

mod jobs;
mod payments;
mod upstream;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use access::KeyRing;
use config::read::ServiceConfig;
use config::sections::store::StoreLocation;
use control::actor::AuditActor;
use control::first_start::DEFAULT_ACCOUNT;
use control::operation::{ControlOperation, CreditCurrency, KeyLimitPeriod, KeyType, NewKey};
use control::reply::ControlReply;
use control::secrets::read_peppers;
use control::service::ControlService;
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::{EntropySource, request_id, time_ordered_id};
use ledger::{ChargeLine, Ledger, WorkCharge};
use ledger_core::{HoldRange, LedgerRules, OwnerId};
use moment::{Clock, ManualClock, SystemClock, Timestamp};
use money::{Price, PriceUnits, UnitRate};
use store::usage::UsageDetails;

use crate::args::ServeArgs;
use crate::command_environment::CommandEnvironment;
use crate::database::{self, DatabaseOpener};
use crate::failure::CommandError;
use crate::randomness::SystemEntropy;

const DAYS: u32 = 14;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const CREDIT_USD: &str = "250.00";
const ACCOUNTS: [(&str, &[&str]); 3] = [
    (DEFAULT_ACCOUNT, &["website", "nightly report"]),
    ("acme", &["assistant", "search"]),
    ("globex", &["support desk"]),
];
/// Days on which the sample wallet pays.
const PAYMENT_DAYS: [u32; 3] = [3, 7, 12];
/// The address that receives payments in the demo; its private key is unknown.
const PAY_TO: &str = "0x1111111111111111111111111111111111111111";
/// Port 0: the system chooses a free port.
const FREE_PORT: &str = "127.0.0.1:0";

/// A sample model in the catalogue and in the usage.
struct DemoModel {
    id: &'static str,
    name: &'static str,
    input_usd_per_million: &'static str,
    output_usd_per_million: &'static str,
    /// The maximum number of requests of one key per day.
    calls_per_day: u32,
}

const MODELS: [DemoModel; 3] = [
    DemoModel {
        id: "demo-small",
        name: "Demo Small",
        input_usd_per_million: "0.05",
        output_usd_per_million: "0.10",
        calls_per_day: 9,
    },
    DemoModel {
        id: "demo-large",
        name: "Demo Large",
        input_usd_per_million: "0.70",
        output_usd_per_million: "2.80",
        calls_per_day: 6,
    },
    DemoModel {
        id: "demo-reasoner",
        name: "Demo Reasoner",
        input_usd_per_million: "0.90",
        output_usd_per_million: "3.60",
        calls_per_day: 3,
    },
];

/// Fills in free ports where no address is given, so that the demo can run beside a service.
pub(crate) fn with_free_ports(serve: ServeArgs) -> ServeArgs {
    let free = || Some(FREE_PORT.to_owned());
    ServeArgs { listen: serve.listen.or_else(free), admin_listen: serve.admin_listen.or_else(free) }
}

/// Returns surroundings with the demo's own data directory and configuration, and fills the
/// directory on the first run. Weights are shared with the regular service.
pub(crate) async fn prepare_demo(
    surroundings: &CommandEnvironment,
) -> Result<CommandEnvironment, CommandError> {
    let mut surroundings = surroundings.clone();
    let models_dir = surroundings.data_dir.path.join("models");
    surroundings.data_dir.path = surroundings.data_dir.path.join("demo");
    if surroundings.config_file.is_none() {
        let file = surroundings.data_dir.path.join("tollgate.toml");
        write_config(&file, &render_demo_config(upstream::start_upstream()?, &models_dir))?;
        surroundings.config_file = Some(file);
    }
    let config = surroundings.gather_sources(Vec::new()).read()?;
    if !matches!(config.store.location, StoreLocation::Sqlite(_)) {
        return Err(CommandError::Failed(
            "`tollgate demo` uses its own SQLite database: remove `url` from [store]".to_owned(),
        ));
    }
    if surroundings.data_dir.path.join("tollgate.db").exists() {
        return Ok(surroundings);
    }
    let opened = database::open_database(
        &surroundings.data_dir.path,
        &config.store,
        DatabaseOpener::Command,
    );
    let store = opened.await?.store;
    let now = SystemClock.now();
    let clock = Arc::new(ManualClock::at(now.minus(DAY * DAYS)));
    let entropy: Arc<dyn EntropySource> = Arc::new(SystemEntropy);
    let time: Arc<dyn Clock> = clock.clone();
    let peppers = read_peppers(store.as_ref(), entropy.as_ref()).await?;
    let parts = (Arc::clone(&store), Arc::clone(&time), Arc::clone(&entropy));
    let ledger = Ledger::open(parts.0, parts.1, parts.2, LedgerRules::default()).await?;
    let keys = KeyRing::new(Arc::clone(&store), Arc::clone(&time), Arc::clone(&entropy), peppers);
    let service = ControlService {
        store,
        ledger: Arc::new(ledger),
        keys: Arc::new(keys),
        catalogue: Arc::new(CurrentCatalogue::default()),
        tiers: Arc::new(config.tiers.clone()),
        reload: Arc::new(|| Err("the demo does not reload its catalogue".to_owned())),
        clock: time,
        entropy,
        started_at: now,
        api_url: None,
        weights: Arc::new(|_| None),
        payments: OnceLock::new(),
        progress_of: OnceLock::new(),
        elsewhere: OnceLock::new(),
    };
    fill_demo_database(&service, &clock, &surroundings.data_dir.path, &config).await?;
    Ok(surroundings)
}

fn write_config(file: &Path, text: &str) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::Failed(format!("cannot write {}: {error}", file.display()))
    };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(file, text).map_err(failed)
}

/// Returns the configuration of the demo, with the address of its upstream.
fn render_demo_config(upstream: SocketAddr, models_dir: &Path) -> String {
    let models_dir = toml_text(&models_dir.display().to_string());
    let mut text = format!(
        r#"# Written at each start of `tollgate demo`.
[engine]
models_dir = {models_dir}
fetch = false

[[provider]]
id = "demo"
kind = "openai"
base_url = "http://{upstream}/v1"

[rpc.networks.base-mainnet]
urls = ["http://{upstream}/rpc"]

[x402]
pay_to_evm = "{PAY_TO}"
evm_rpc_url = "http://{upstream}/rpc"
facilitator_url = "http://{upstream}/facilitator"
"#
    );
    for model in &MODELS {
        let DemoModel { id, name, input_usd_per_million, output_usd_per_million, .. } = model;
        text.push_str(&format!(
            r#"
[[model]]
id = "{id}"
name = "{name}"
type = "text"
provider = "demo"
tier = "S"
context_tokens = 32768
price = {{ input_usd_per_million = "{input_usd_per_million}", output_usd_per_million = "{output_usd_per_million}" }}
"#
        ));
    }
    text
}

/// Quotes a TOML basic string.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

async fn fill_demo_database(
    service: &ControlService,
    clock: &ManualClock,
    data_dir: &Path,
    config: &ServiceConfig,
) -> Result<(), CommandError> {
    service.create_default_account(None).await?;
    let (actor, mut secrets) = (AuditActor::of_this_process(), Vec::new());
    for (account, keys) in ACCOUNTS {
        if account != DEFAULT_ACCOUNT {
            service
                .perform(&actor, ControlOperation::CreateAccount { name: account.to_owned() })
                .await?;
        }
        let credit = ControlOperation::CreditAccount {
            entry: time_ordered_id(clock.now(), service.entropy.as_ref()),
            name: account.to_owned(),
            amount: CREDIT_USD.to_owned(),
            currency: CreditCurrency::Usd,
        };
        service.perform(&actor, credit).await?;
        for key in keys {
            let made =
                service.perform(&actor, ControlOperation::CreateKey(new_key(account, key))).await?;
            if let ControlReply::CreatedKey(made) = made {
                secrets.push(made.api_key);
            }
        }
    }
    let mut dice = DemoRandom(0x7011);
    for day in 0..DAYS {
        if PAYMENT_DAYS.contains(&day) {
            payments::add_credited(service, u64::from(5 * dice.up_to(5))).await?;
        }
        let mut left = DAY;
        for secret in &secrets {
            for model in &MODELS {
                for _ in 0..dice.up_to(model.calls_per_day) {
                    let step = Duration::from_secs(u64::from(dice.up_to(240)));
                    clock.advance(step);
                    left = left.saturating_sub(step);
                    charge_sample_chat(service, secret, model, &mut dice).await?;
                }
            }
        }
        clock.advance(left);
    }
    payments::add_failed(service, 10).await?;
    if let Some(secret) = secrets.first() {
        jobs::add_sample_jobs(service, secret, data_dir, &config.media).await?;
    }
    service.keys.write_last_uses().await.map_err(to_demo_error)
}

fn new_key(account: &str, description: &str) -> NewKey {
    NewKey {
        account: account.to_owned(),
        kind: KeyType::Inference,
        description: description.to_owned(),
        limit_usd: Some("50".to_owned()),
        limit_diem: None,
        period: KeyLimitPeriod::Month,
        expires: None,
    }
}

/// Charges one sample chat: hold, then settle, as the API does.
async fn charge_sample_chat(
    service: &ControlService,
    secret: &str,
    model: &DemoModel,
    dice: &mut DemoRandom,
) -> Result<(), CommandError> {
    let holder = service.keys.authenticate(secret).await.map_err(to_demo_error)?;
    let (prompt, completion) = (u64::from(dice.up_to(6_000)), u64::from(dice.up_to(2_000)));
    let line = |name: &str, units: u64, price: &str| -> Result<ChargeLine, CommandError> {
        let price = Price::parse(price, PriceUnits::Million).map_err(to_demo_error)?;
        let sku = format!("{}-llm-{name}-mtoken", model.id);
        Ok(ChargeLine { sku, units, rate: UnitRate::at_par(price), per: PriceUnits::Million })
    };
    let charge = WorkCharge {
        lines: vec![
            line("input", prompt, model.input_usd_per_million)?,
            line("output", completion, model.output_usd_per_million)?,
        ],
        model: model.id.to_owned(),
        details: UsageDetails {
            request_id: request_id(service.entropy.as_ref()),
            prompt_tokens: Some(prompt),
            completion_tokens: Some(completion),
            execution_ms: Some(u64::from(300 + dice.up_to(5_000))),
            cached_tokens: None,
            session: Some(sample_session(holder.owner.id, service.clock.now())),
        },
        notes: "API Inference".to_owned(),
    };
    let cost = charge.total().map_err(to_demo_error)?;
    let hold =
        service.ledger.hold(holder.payer(), HoldRange::Exactly(cost)).map_err(to_demo_error)?;
    service.ledger.settle(hold, charge).await.map(drop).map_err(to_demo_error)
}

/// The digest of a session: one for each owner and hour.
fn sample_session(owner: OwnerId, now: Timestamp) -> u64 {
    let hour = now.ms().unsigned_abs() / 3_600_000;
    (owner.0.as_u64_pair().1 ^ hour).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn to_demo_error(error: impl std::fmt::Display) -> CommandError {
    CommandError::Failed(format!("cannot create the sample data of the demo: {error}"))
}

/// A pseudo-random generator with a fixed seed, so that the demo is the same each time.
struct DemoRandom(u32);

impl DemoRandom {
    /// Returns a number from 1 to `most`.
    fn up_to(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        1 + self.0 % most
    }
}
