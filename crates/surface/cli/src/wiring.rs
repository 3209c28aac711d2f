//! Connects the parts: the store, the ledger, the keys, the catalogue and its engines.

use std::sync::{Arc, OnceLock};

use access::KeyRing;
use config::read::ServiceConfig;
use config::sections::rpc::RpcConfig;
use control::secrets::read_peppers;
use control::service::{CatalogueReload, ControlService, WeightsOf};
use domain::catalogue::Catalogue;
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::EntropySource;
use domain::limits::tiers::RateLimitTiers;
use engine_wiring::EngineEnvironment;
use http_frame::engines::EngineSet;
use http_frame::proxy::{CurrentChains, RpcChains, RpcProxy};
use ledger::Ledger;
use ledger_core::LedgerRules;
use moment::{Clock, SystemClock};
use money::Nano;
use rpc::billing::CreditPrice;
use rpc::networks::RpcNetwork;
use rpc::node::{ChainNodes, NodeLimits};

use crate::database::OpenDatabase;
use crate::failure::CommandError;
use crate::local::{self, LocalEngine};
use crate::randomness::SystemEntropy;
use crate::serve::cluster;
use crate::stopwatch::SystemStopwatch;

/// Builds a service that does not listen, for commands while no service runs.
pub(crate) async fn build_offline_service(
    database: OpenDatabase,
    tiers: Arc<RateLimitTiers>,
) -> Result<ControlService, CommandError> {
    let reload: CatalogueReload = Arc::new(|| Err("no service is running".to_owned()));
    let front = ServiceInfo { api_url: None, weights: Arc::new(|_| None) };
    let is_shared = database.shared.is_some();
    let catalogue = Arc::new(CurrentCatalogue::default());
    let service = build_service(database, catalogue, tiers, reload, front, None).await?;
    if is_shared {
        cluster::connect_nodes(&service).await?;
    }
    Ok(service)
}

/// Builds the service on an open database. `chosen_key` is an ADMIN key in a format of the
/// operator's choice.
pub(crate) async fn build_service(
    OpenDatabase { store, shared, .. }: OpenDatabase,
    catalogue: Arc<CurrentCatalogue>,
    tiers: Arc<RateLimitTiers>,
    reload: CatalogueReload,
    front: ServiceInfo,
    chosen_key: Option<&str>,
) -> Result<ControlService, CommandError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let entropy: Arc<dyn EntropySource> = Arc::new(SystemEntropy);
    let peppers = read_peppers(store.as_ref(), entropy.as_ref()).await?;
    let keys = KeyRing::new(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&entropy), peppers);
    let keys = match chosen_key {
        Some(secret) => keys.with_operator_secret(secret),
        None => keys,
    };
    let parts = (Arc::clone(&store), Arc::clone(&clock), Arc::clone(&entropy));
    let rules = LedgerRules::default();
    let ledger = match shared {
        None => Ledger::open(parts.0, parts.1, parts.2, rules).await?,
        Some(leases) => Ledger::open_shared(parts.0, leases, parts.1, parts.2, rules),
    };
    ledger.watch_clock(Arc::new(SystemStopwatch::start()));
    let started_at = clock.now();
    Ok(ControlService {
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
pub(crate) struct ServiceInfo {
    pub(crate) api_url: Option<String>,
    pub(crate) weights: WeightsOf,
}

/// Returns the blockchain nodes and the price of a credit from a configuration.
pub(crate) fn build_chains(rpc: &RpcConfig) -> Result<RpcChains, String> {
    let networks = rpc.networks.iter().filter_map(|network| {
        let urls = network.urls.iter().map(|url| url.expose().to_owned()).collect();
        Some((RpcNetwork::parse(network.slug)?, urls))
    });
    let limits = NodeLimits { hedge_after: rpc.hedge_after, ..NodeLimits::default() };
    let nodes = ChainNodes::new(networks, limits, Arc::new(SystemClock));
    let nodes = nodes.map_err(|error| format!("[rpc.networks]: {error}"))?;
    let price = Nano::from_nanos(rpc.price_nano_usd_per_credit);
    let price = CreditPrice::new(price)
        .ok_or("[rpc] price_nano_usd_per_credit must be between 0 and 1000000000")?;
    Ok(RpcChains { nodes, price })
}

/// Opens the JSON-RPC proxy.
pub(crate) async fn open_proxy(
    chains: Arc<CurrentChains>,
    service: &ControlService,
) -> Result<Arc<RpcProxy>, CommandError> {
    let proxy = RpcProxy::open(chains, service.store.as_ref(), service.clock.now()).await?;
    Ok(Arc::new(proxy))
}

/// A catalogue and the engines that run it, from one configuration.
pub(crate) struct CatalogueWithEngines {
    /// The number of models.
    pub(crate) count: usize,
    pub(crate) catalogue: Catalogue,
    pub(crate) engines: EngineSet,
}

impl CatalogueWithEngines {
    /// Builds an offer from a valid configuration.
    pub(crate) fn from_config(
        config: ServiceConfig,
        local: Option<&LocalEngine>,
    ) -> Result<CatalogueWithEngines, String> {
        let models = local::merge_models(config.models, local)?;
        let process = local.map(LocalEngine::process);
        let ground =
            EngineEnvironment { clock: Arc::new(SystemClock), entropy: Arc::new(SystemEntropy) };
        let engines =
            engine_wiring::connect_engines(&config.providers, &models, process.as_ref(), &ground)?;
        let count = models.len();
        let catalogue = Catalogue::build(models).map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            lines.join("\n")
        })?;
        Ok(CatalogueWithEngines { count, catalogue, engines })
    }
}
