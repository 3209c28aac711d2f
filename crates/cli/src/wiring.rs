//! Connects the parts: the store, the ledger, the keys, the catalogue and its engines.

use std::sync::{Arc, OnceLock};

use access::KeyRing;
use api::engines::EngineSet;
use api::proxy::{Chains, CurrentChains, Proxy};
use config::read::Config;
use config::sections::rpc::Rpc;
use control::secrets::peppers;
use control::service::{Reload, Service, WeightsOf};
use credits::Rules;
use domain::catalogue::Catalogue;
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::Entropy;
use domain::limits::tiers::Tiers;
use ledger::Ledger;
use moment::{Clock, SystemClock};
use money::Nano;
use rpc::billing::CreditPrice;
use rpc::networks::Network;
use rpc::node::{NodeLimits, Nodes};
use switchboard::Ground;

use crate::database::Database;
use crate::failure::Failure;
use crate::local::{self, Local};
use crate::randomness::SystemEntropy;
use crate::serve::cluster;
use crate::stopwatch::SystemStopwatch;

/// Builds a service that does not listen, for commands while no service runs.
pub(crate) async fn stopped_service(
    database: Database,
    tiers: Arc<Tiers>,
) -> Result<Service, Failure> {
    let reload: Reload = Arc::new(|| Err("no service is running".to_owned()));
    let front = Front { api_url: None, weights: Arc::new(|_| None) };
    let is_shared = database.shared.is_some();
    let catalogue = (Arc::new(CurrentCatalogue::default()), tiers);
    let service = service(database, catalogue, reload, front, None).await?;
    if is_shared {
        cluster::connect(&service).await?;
    }
    Ok(service)
}

/// Builds the service on an open database. `chosen_key` is an ADMIN key in a format of the
/// operator's choice.
pub(crate) async fn service(
    Database { store, shared, .. }: Database,
    (catalogue, tiers): (Arc<CurrentCatalogue>, Arc<Tiers>),
    reload: Reload,
    front: Front,
    chosen_key: Option<&str>,
) -> Result<Service, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let peppers = peppers(store.as_ref(), entropy.as_ref()).await?;
    let keys = KeyRing::new(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&entropy), peppers);
    let keys = match chosen_key {
        Some(secret) => keys.with_chosen(secret),
        None => keys,
    };
    let parts = (Arc::clone(&store), Arc::clone(&clock), Arc::clone(&entropy));
    let rules = Rules::default();
    let ledger = match shared {
        None => Ledger::open(parts.0, parts.1, parts.2, rules).await?,
        Some(leases) => Ledger::open_shared(parts.0, leases, parts.1, parts.2, rules),
    };
    ledger.watch_clock(Arc::new(SystemStopwatch::start()));
    let started_at = clock.now();
    Ok(Service {
        store,
        ledger: Arc::new(ledger),
        keys: Arc::new(keys),
        catalogue,
        tiers,
        reload,
        clock,
        entropy,
        started_at,
        api_url: front.api_url,
        weights: front.weights,
        payments: OnceLock::new(),
        progress_of: OnceLock::new(),
        elsewhere: OnceLock::new(),
    })
}

/// The parts of a service that operators see from outside.
pub(crate) struct Front {
    pub(crate) api_url: Option<String>,
    pub(crate) weights: WeightsOf,
}

/// Returns the blockchain nodes and the price of a credit from a configuration.
pub(crate) fn chains(rpc: &Rpc) -> Result<Chains, String> {
    let networks = rpc.networks.iter().filter_map(|network| {
        let urls = network.urls.iter().map(|url| url.expose().to_owned()).collect();
        Some((Network::parse(network.slug)?, urls))
    });
    let limits = NodeLimits { hedge_after: rpc.hedge_after, ..NodeLimits::default() };
    let nodes = Nodes::new(networks, limits, Arc::new(SystemClock));
    let nodes = nodes.map_err(|error| format!("[rpc.networks]: {error}"))?;
    let price = Nano::from_nanos(rpc.price_nano_usd_per_credit);
    let price = CreditPrice::new(price)
        .ok_or("[rpc] price_nano_usd_per_credit must be between 0 and 1000000000")?;
    Ok(Chains { nodes, price })
}

/// Opens the JSON-RPC proxy.
pub(crate) async fn proxy(
    chains: Arc<CurrentChains>,
    service: &Service,
) -> Result<Arc<Proxy>, Failure> {
    let proxy = Proxy::open(chains, service.store.as_ref(), service.clock.now()).await?;
    Ok(Arc::new(proxy))
}

/// A catalogue and the engines that run it, from one configuration.
pub(crate) struct Offer {
    /// The number of models.
    pub(crate) count: usize,
    pub(crate) catalogue: Catalogue,
    pub(crate) engines: EngineSet,
}

impl Offer {
    /// Builds an offer from a valid configuration.
    pub(crate) fn of(config: Config, local: Option<&Local>) -> Result<Offer, String> {
        let models = local::models(config.models, local)?;
        let process = local.map(Local::process);
        let ground = Ground { clock: Arc::new(SystemClock), entropy: Arc::new(SystemEntropy) };
        let engines = switchboard::connect(&config.providers, &models, process.as_ref(), &ground)?;
        let count = models.len();
        let catalogue = Catalogue::build(models).map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            lines.join("\n")
        })?;
        Ok(Offer { count, catalogue, engines })
    }
}
