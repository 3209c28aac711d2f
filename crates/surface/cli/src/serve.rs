//! `tollgate serve`: opens all parts, listens, and shuts down gracefully.

mod app_state;
mod batch;
mod brand;
pub(crate) mod cluster;
mod console;
mod engine;
mod housekeeping;
pub(crate) mod limits;
mod listeners;
pub(crate) mod logging;
pub(crate) mod node_operations;
pub(crate) mod queue;
mod signals;
pub(crate) mod startup_message;
mod weights;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::payments::PaymentService;
use api::console::ConsoleApp;
use api::response_worker;
use background::spawn_loop;
use config::read::ServiceConfig;
use config::sections::store::StoreLocation;
use config::sources::FlagSetting;
use control::service::{CatalogueReload, ControlService};
use control::socket;
use domain::current_catalogue::CurrentCatalogue;
use domain::secret::SECRET_BYTES_MAX;
use http_frame::app::SharedApp;
use http_frame::engines::CurrentEngines;
use http_frame::proxy::CurrentChains;
use lanes::LanePool;
use store_postgres::{LeaseState, PostgresStore};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::engine::EngineSupervision;
use self::listeners::ServiceListeners;
use self::signals::ProcessSignals;
use self::startup_message::StartupMessage;
use crate::args;
use crate::command_environment::CommandEnvironment;
use crate::database::{self, DatabaseOpener};
use crate::engine::BuiltInEngine;
use crate::failure::CommandError;
use crate::local::LocalEngine;
use crate::mcp::McpSections;
use crate::payments;
use crate::stakes;
use crate::web::WebSections;
use crate::wiring::{self, CatalogueWithEngines, ServiceInfo};

/// Environment variable with the first ADMIN key, if the operator chooses it.
const ADMIN_KEY: &str = "TOLLGATE_ADMIN_KEY";
/// Shorter keys could be guessed within days.
const CHOSEN_KEY_CHARS_MIN: usize = 16;
/// Additional time for writes after the requests have ended.
const LAST_WRITES_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run_serve_command(
    surroundings: &CommandEnvironment,
    serve: args::ServeArgs,
    engine: BuiltInEngine,
    lanes: Arc<LanePool>,
) -> Result<(), CommandError> {
    let flags = to_flag_settings(serve);
    let config = surroundings.gather_sources(flags.clone()).read()?;
    let _last_lines = logging::start_logging(&config.log)?;
    log_warnings(&config);
    let stakes = stakes::build_stake_reader(config.diem.as_ref()).map_err(CommandError::Failed)?;
    let web = WebSections::from_config(&config, surroundings);
    let mcp = McpSections::from_config(&config);
    let mut signals = ProcessSignals::listen()?;
    // Bound before the database is opened: the first key is shown only once and must not be lost
    // because a port is in use.
    let listeners = ServiceListeners::bind(&config.server).await?;
    let for_nodes = cluster::bind_node_socket(config.cluster.as_ref())?;
    let counts = limits::open_shared_counts(&config.limits)?;
    let chosen_key = chosen_key(surroundings)?;
    let engines = Arc::new(CurrentEngines::default());
    let chains = wiring::build_chains(&config.rpc).map_err(CommandError::Failed)?;
    let local = LocalEngine::from_config(engine, surroundings, &config)?;
    let address = listeners.api_address;
    let front = build_service_info(local.as_ref(), address);
    let sources = console::ConsoleConfigSources::new(surroundings, &flags, &engines);
    let parts = ReloadParts { engines, chains: Arc::new(CurrentChains::new(chains)), local };
    let (service, (lease, shared)) =
        open_service(surroundings, flags, &config, &parts, front, chosen_key).await?;
    let ReloadParts { engines, chains, local } = parts;
    let service = Arc::new(service);
    let control = bind_control(&socket::socket_path(&surroundings.data_dir.path))?;
    let first_key = service.create_first_key(chosen_key).await?;
    let console::OpenConsole { console, sessions, link } =
        console::open_console(&service, sources, local.clone(), first_key.is_some()).await?;

    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let nodes = cluster::connect_if_shared(&service, shared.as_deref()).await?;
    let payments = payments::open_payments(&config.x402, &service, nodes.as_ref(), &tasks).await;
    let payments = payments.map_err(CommandError::Failed)?;
    let order = app_state::AppOrder {
        data_dir: &surroundings.data_dir.path,
        config: &config,
        service: &service,
        engines,
        chains: Arc::clone(&chains),
        sessions,
        nodes,
        payments: payments.clone(),
        web,
        mcp,
        strangers: limits::build_anonymous_limits(counts.as_ref()),
        is_alone: shared.is_none(),
        address,
        tasks: &tasks,
    };
    let app = app_state::open_app(order).await?;
    let (working, is_alone) = (Arc::clone(&app), shared.is_none());
    let child = local.map(|local| EngineSupervision::start(local, &service, &config.log));
    let report = engine::build_report(child.as_ref());
    cluster::release_init_lease(shared.as_deref()).await?;
    limits::start_shared_counts(counts, &app, shared.clone(), &tasks, &stop);
    let grace = config.server.shutdown_grace;
    let served = ConsoleApp { app, console };
    let membership =
        cluster::start_membership(for_nodes, shared, &served, &service, &lanes, grace)?;
    listeners.serve(served, report, lanes, &tasks, &stop)?;
    housekeeping::start_housekeeping(&service, config.store.keep_usage_days, stakes, &tasks, &stop);
    start_response_loops(&working, is_alone, &tasks, &stop).await?;
    start_background_loops(&working, payments, chains, &tasks, &stop);
    serve_control(control, &service, &tasks, &stop);
    StartupMessage { address, first_key, is_key_chosen: chosen_key.is_some(), link }.print()?;

    let ended = wait_for_stop(&mut signals, &service, lease).await;
    stop.cancel();
    wait_for_tasks(&tasks, grace, &mut signals).await;
    shut_down(membership, child, &service).await;
    ended
}

/// Starts background work: jobs, batches, payments and chain checks.
fn start_background_loops(
    app: &SharedApp,
    payments: Option<PaymentService>,
    chains: Arc<CurrentChains>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    batch::start_batches(app, tasks, stop);
    let jobs = Arc::clone(&app.jobs);
    let (working, runs) = (Arc::clone(&jobs), tasks.clone());
    spawn_loop(tasks, stop, "jobs", move |stop| {
        Arc::clone(&working).run_worker(runs.clone(), stop)
    });
    spawn_loop(tasks, stop, "job_results", move |stop| Arc::clone(&jobs).run_maintenance(stop));
    spawn_loop(tasks, stop, "chain_watch", move |stop| {
        housekeeping::watch_chains(Arc::clone(&chains), stop)
    });
    if let Some(payments) = payments {
        spawn_loop(tasks, stop, "payments", move |stop| payments.clone().run_reconciliation(stop));
    }
}

/// Starts the worker of background responses and the deletion of expired ones.
async fn start_response_loops(
    app: &SharedApp,
    is_alone: bool,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> Result<(), CommandError> {
    // No other process uses this database, so all interrupted responses can be resumed.
    if is_alone {
        response_worker::break_leases(app).await?;
    }
    let (working, sweeping) = (Arc::clone(app), Arc::clone(app));
    spawn_loop(tasks, stop, "responses", move |stop| {
        response_worker::run_worker(Arc::clone(&working), stop)
    });
    spawn_loop(tasks, stop, "expired_responses", move |stop| {
        response_worker::run_sweep(Arc::clone(&sweeping), stop)
    });
    Ok(())
}

fn serve_control(
    control: socket::server::SocketServer,
    service: &Arc<ControlService>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let (control, service, attending) = (Arc::new(control), Arc::clone(service), tasks.clone());
    spawn_loop(tasks, stop, "control_socket", move |stop| {
        Arc::clone(&control).serve(Arc::clone(&service), attending.clone(), stop)
    });
}

/// Shuts down the parts that requests depend on, after all requests have ended.
async fn shut_down(
    membership: Option<cluster::ClusterMembership>,
    child: Option<EngineSupervision>,
    service: &ControlService,
) {
    if let Some(membership) = membership {
        membership.stop_serving().await;
    }
    if let Some(child) = child {
        child.stop().await;
    }
    housekeeping::write_pending_data(service).await;
    tracing::info!("stopped");
}

/// Waits for a stop signal or the loss of the database lease.
async fn wait_for_stop(
    signals: &mut ProcessSignals,
    service: &ControlService,
    lease: Option<watch::Receiver<LeaseState>>,
) -> Result<(), CommandError> {
    tokio::select! {
        () = signals.until_stopped(&service.reload) => Ok(()),
        lost = wait_for_lost_lease(lease) => Err(lost),
    }
}

/// Returns an error if another process has taken over this one's lease of the database. This
/// process can no longer charge; after a restart, the error message names the new holder.
async fn wait_for_lost_lease(lease: Option<watch::Receiver<LeaseState>>) -> CommandError {
    let Some(mut lease) = lease else { return std::future::pending().await };
    if lease.wait_for(|state| *state == LeaseState::Lost).await.is_err() {
        return std::future::pending().await;
    }
    CommandError::Failed("another process has taken this one's place in the database".to_owned())
}

/// The effect of `trusted_proxies` without an https `public_url`.
pub(crate) const PLAIN_COOKIES: &str = "trusted_proxies are set and public_url is not https, so the \
     console's cookie is sent without `Secure`";

/// Logs warnings about settings that are valid but may not do what the operator expects.
fn log_warnings(config: &ServiceConfig) {
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let is_restricted = config.models.iter().any(|model| !model.region_restrictions.is_empty());
    if is_restricted && config.server.country_header.is_none() {
        tracing::warn!(
            "region_restrictions of models are not enforced: set country_header in [server]"
        );
    }
    if config.server.lacks_https_url() {
        tracing::warn!("{PLAIN_COOKIES}: set public_url in [server] to the https URL of callers");
    }
}

/// Returns the operator's own ADMIN key, which must be usable in a header.
fn chosen_key(surroundings: &CommandEnvironment) -> Result<Option<&str>, CommandError> {
    let Some(key) = surroundings.environment.get(ADMIN_KEY) else { return Ok(None) };
    let is_plain = key.chars().all(|letter| letter.is_ascii_graphic());
    let is_long = CHOSEN_KEY_CHARS_MIN <= key.len() && key.len() <= SECRET_BYTES_MAX;
    if is_plain && is_long {
        return Ok(Some(key));
    }
    Err(CommandError::Failed(format!(
        "{ADMIN_KEY} must be {CHOSEN_KEY_CHARS_MIN} to {SECRET_BYTES_MAX} letters, digits and \
         signs, without spaces"
    )))
}

fn to_flag_settings(serve: args::ServeArgs) -> Vec<FlagSetting> {
    let given = [
        ("--listen", "listen", serve.listen),
        ("--admin-listen", "admin_listen", serve.admin_listen),
    ];
    let setting = |(flag, key, value): (&'static str, &'static str, Option<String>)| {
        Some(FlagSetting { flag, section: "server", key, value: value? })
    };
    given.into_iter().filter_map(setting).collect()
}

fn bind_control(path: &Path) -> Result<socket::server::SocketServer, CommandError> {
    socket::server::SocketServer::bind(path).map_err(|error| {
        let path = path.display();
        // The usual cause is the operating system's limit of about 100 characters for socket paths.
        CommandError::Failed(format!(
            "cannot make the control socket {path}: {error}; a shorter --data-dir may help"
        ))
    })
}

/// Returns the data that operators see: the API URL and the state of weights.
fn build_service_info(local: Option<&LocalEngine>, address: SocketAddr) -> ServiceInfo {
    let local = local.cloned();
    ServiceInfo {
        api_url: Some(format!("http://{}/api/v1", startup_message::to_reachable_address(address))),
        weights: Arc::new(move |model| local.as_ref().and_then(|it| it.weights_of(model))),
    }
}

/// The parts that a reload of the configuration replaces, and the local engine that it connects.
#[derive(Clone)]
struct ReloadParts {
    engines: Arc<CurrentEngines>,
    chains: Arc<CurrentChains>,
    local: Option<LocalEngine>,
}

/// The write lease of this process, and the database that it shares with other nodes.
type LeaseAndSharedStore = (Option<watch::Receiver<LeaseState>>, Option<Arc<PostgresStore>>);

/// Opens the database, initializes it if it is new, and activates the catalogue.
async fn open_service(
    surroundings: &CommandEnvironment,
    flags: Vec<FlagSetting>,
    config: &ServiceConfig,
    parts: &ReloadParts,
    front: ServiceInfo,
    chosen_key: Option<&str>,
) -> Result<(ControlService, LeaseAndSharedStore), CommandError> {
    let current_catalogue = Arc::new(CurrentCatalogue::default());
    let tiers = Arc::new(config.tiers.clone());
    let reload =
        build_reload(surroundings.clone(), flags, Arc::clone(&current_catalogue), parts.clone());
    let data_dir = &surroundings.data_dir.path;
    let opener = config.cluster.as_ref().map_or(DatabaseOpener::Service, DatabaseOpener::Node);
    let opened = database::open_database(data_dir, &config.store, opener).await;
    let database = opened.map_err(|failure| match &config.store.location {
        StoreLocation::Sqlite(_) if matches!(failure, CommandError::Unreachable(_)) => {
            CommandError::Failed(format!(
                "the database in {} is in use: another tollgate runs there; stop it, or choose \
             another directory with --data-dir",
                data_dir.display()
            ))
        }
        _ => failure,
    })?;
    let footing = (database.lease.clone(), database.shared.clone());
    cluster::wait_for_init_lease(footing.1.as_deref()).await?;
    let catalogue = Arc::clone(&current_catalogue);
    let service =
        wiring::build_service(database, catalogue, tiers, reload, front, chosen_key).await?;
    let development = &config.development;
    service
        .create_default_account(development.enabled.then_some(development.starting_credit))
        .await?;
    service.add_built_in_characters().await?;
    activate_catalogue(config.clone(), &current_catalogue, &parts.engines, parts.local.as_ref())
        .map_err(CommandError::Failed)?;
    Ok((service, footing))
}

/// Returns a function that reads the whole configuration again, and activates its catalogue if it
/// has no faults.
fn build_reload(
    surroundings: CommandEnvironment,
    flags: Vec<FlagSetting>,
    current_catalogue: Arc<CurrentCatalogue>,
    parts: ReloadParts,
) -> CatalogueReload {
    let ReloadParts { engines, chains, local } = parts;
    Arc::new(move || {
        let config =
            surroundings.gather_sources(flags.clone()).read().map_err(|it| it.to_string())?;
        let fresh_chains = wiring::build_chains(&config.rpc)?;
        let count = activate_catalogue(config, &current_catalogue, &engines, local.as_ref())?;
        chains.replace(fresh_chains);
        Ok(count)
    })
}

/// Activates a configuration's catalogue and engines. Requests in progress keep the old ones.
fn activate_catalogue(
    config: ServiceConfig,
    current_catalogue: &CurrentCatalogue,
    engines: &CurrentEngines,
    local: Option<&LocalEngine>,
) -> Result<usize, String> {
    let offer = CatalogueWithEngines::from_config(config, local)?;
    let count = offer.count;
    // Engines first, so that every listed model can be run.
    engines.replace(offer.engines);
    current_catalogue.replace(offer.catalogue);
    Ok(count)
}

/// Waits for requests in progress, up to a timeout or a second stop signal.
async fn wait_for_tasks(tasks: &TaskTracker, grace: Duration, signals: &mut ProcessSignals) {
    tracing::info!("stopping: requests in progress may complete");
    tasks.close();
    let grace = grace + LAST_WRITES_MAX;
    tokio::select! {
        ended = tokio::time::timeout(grace, tasks.wait()) => {
            if ended.is_err() {
                tracing::warn!("some tasks had not ended after {} s", grace.as_secs());
            }
        }
        () = signals.stop() => tracing::warn!("second stop signal: stopping immediately"),
    }
}
