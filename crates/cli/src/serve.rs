//! `tollgate serve`: opens all parts, listens, and shuts down gracefully.

pub(crate) mod cluster;
mod console;
mod engine;
mod housekeeping;
pub(crate) mod limits;
mod listeners;
pub(crate) mod logging;
pub(crate) mod orders;
pub(crate) mod queue;
mod signals;
mod weights;
pub(crate) mod welcome;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::payments::Payments;
use ::web::{Names, SystemNames};
use api::app::App;
use api::console::Console;
use api::engines::Engines;
use api::home::Nodes;
use api::hosts::Hosts;
use api::input::Bodies;
use api::proxy::{CurrentChains, Proxy};
use api::settings::{Brand, BrandLogo, Settings};
use api::strangers::Strangers;
use api::wallets::Wallets;
use api::web::Web;
use background::spawn_loop;
use config::read::Config;
use config::sections::chat::Chat;
use config::sections::limits::Limits;
use config::sections::server::Server;
use config::sections::store::StoreLocation;
use config::sources::FlagSetting;
use control::service::{Reload, Service};
use control::socket;
use domain::current_catalogue::CurrentCatalogue;
use domain::limits::failures::Failures;
use domain::limits::tiers::Tiers;
use domain::limits::window::Limiter;
use domain::secret::SECRET_BYTES_MAX;
use jobs::Jobs;
use lanes::Lanes;
use reader::Reader;
use store_postgres::{LeaseState, Postgres};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::engine::LocalChild;
use self::listeners::Listeners;
use self::signals::Signals;
use self::welcome::Welcome;
use crate::args;
use crate::database::{self, Opener};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::local::Local;
use crate::payments;
use crate::reading;
use crate::stakes;
use crate::surroundings::Surroundings;
use crate::wallets;
use crate::web::WebSections;
use crate::wiring::{self, Front, Offer};

/// Environment variable with the first ADMIN key, if the operator chooses it.
const ADMIN_KEY: &str = "TOLLGATE_ADMIN_KEY";
/// Shorter keys could be guessed within days.
const CHOSEN_KEY_CHARS_MIN: usize = 16;
/// Additional time for writes after the requests have ended.
const LAST_WRITES_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run(
    surroundings: &Surroundings,
    serve: args::Serve,
    engine: Engine,
    lanes: Arc<Lanes>,
) -> Result<(), Failure> {
    let flags = flags(serve);
    let config = surroundings.sources(flags.clone()).read()?;
    let _last_lines = logging::start(&config.log)?;
    warn(&config);
    let (server, chat) = (config.server.clone(), config.chat.clone());
    let (limits, keep_usage_days) = (config.limits.clone(), config.store.keep_usage_days);
    let (x402, log) = (config.x402.clone(), config.log.clone());
    let stakes = stakes::reader(config.diem.as_ref()).map_err(Failure::Failed)?;
    let (is_development, brand) = (config.development.enabled, config.brand.clone());
    let queue = (config.queue.clone(), config.media.clone());
    let watermark = config.image.mark(config.development.enabled);
    let web = WebSections::of(&config, surroundings);
    let mut signals = Signals::listen()?;
    // Bound before the database is opened: the first key is shown only once and must not be lost
    // because a port is in use.
    let listeners = Listeners::bind(&server).await?;
    let for_nodes = cluster::bind(config.cluster.as_ref())?;
    let counts = limits::open(&limits)?;
    let chosen_key = chosen_key(surroundings)?;
    let engines = Arc::new(Engines::default());
    let chains = wiring::chains(&config.rpc).map_err(Failure::Failed)?;
    let chains = Arc::new(CurrentChains::new(chains));
    let local = Local::of(engine, surroundings, (&config.engine, &config.log))?;
    let address = listeners.api_address;
    let front = front(local.as_ref(), address);
    let sources = console::Sources::new(surroundings, &flags, &engines);
    let offer = (Arc::clone(&engines), Arc::clone(&chains), local.clone());
    let (service, (lease, shared)) =
        open(surroundings, flags, config, offer, (front, chosen_key)).await?;
    let service = Arc::new(service);
    let control = bind_control(&socket::path(&surroundings.data_dir.path))?;
    let first_key = service.first_key(chosen_key).await?;
    let (console, link) =
        console::open(&service, (sources, local.clone()), first_key.is_some()).await?;

    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let nodes = cluster::nodes(&service, shared.as_deref()).await?;
    let payments =
        payments::open(&x402, &service, nodes.as_ref(), &tasks).await.map_err(Failure::Failed)?;
    let proxy = wiring::proxy(Arc::clone(&chains), &service).await?;
    let limits = (&limits, Arc::clone(&service.tiers));
    let settings = settings((&server, is_development), limits, (chat, watermark), address);
    let public_url = settings.public_url.as_str();
    let wallets = wallets::open(&service, (&server, &x402), public_url, payments.clone()).await?;
    let settings = (with_brand(settings, brand, payments.is_some()), server.bodies_bytes_max);
    let data_dir = &surroundings.data_dir.path;
    let jobs = queue::open(data_dir, &service, &engines, &queue, shared.is_none()).await?;
    let reader: Arc<dyn Reader> = Arc::new(reading::reader());
    let web = web.open(Arc::clone(&reader))?;
    let parts = (engines, proxy, wallets, Arc::clone(&jobs), (web, reader), (console, nodes));
    let app = app(&service, (parts, limits::strangers(counts.as_ref())), settings, &tasks);
    let child = local.map(|local| LocalChild::start(local, &service, &log));
    let report = child.as_ref().map(LocalChild::report);
    let report = report.unwrap_or_else(|| Arc::new(|| None));
    cluster::end_turn(shared.as_deref()).await?;
    limits::start(counts, (&app, shared.clone()), &tasks, &stop);
    let place = (&service, &lanes);
    let membership = cluster::start((for_nodes, shared), &app, place, server.shutdown_grace)?;
    listeners.serve(app, report, (lanes, &tasks), &stop)?;
    serve_control(control, &service, &tasks, &stop);
    housekeeping::start(&service, (keep_usage_days, stakes), &tasks, &stop);
    set_to_work((jobs, payments, chains), &tasks, &stop);
    Welcome { address, first_key, is_key_chosen: chosen_key.is_some(), link }.print()?;

    let ended = until_ended(&mut signals, &service, lease).await;
    tracing::info!("stopping: requests under way may end");
    stop.cancel();
    tasks.close();
    wind_down(&tasks, server.shutdown_grace, &mut signals).await;
    end((membership, child), &service).await;
    ended
}

/// Starts background work: jobs, payments and chain checks.
fn set_to_work(
    (jobs, payments, chains): (Arc<Jobs>, Option<Payments>, Arc<CurrentChains>),
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let (working, runs) = (Arc::clone(&jobs), tasks.clone());
    spawn_loop(tasks, stop, "jobs", move |stop| Arc::clone(&working).work(runs.clone(), stop));
    spawn_loop(tasks, stop, "job_results", move |stop| Arc::clone(&jobs).keep(stop));
    spawn_loop(tasks, stop, "chain_watch", move |stop| {
        housekeeping::watch_chains(Arc::clone(&chains), stop)
    });
    if let Some(payments) = payments {
        spawn_loop(tasks, stop, "payments", move |stop| payments.clone().keep(stop));
    }
}

fn serve_control(
    control: socket::server::Server,
    service: &Arc<Service>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let (control, service, attending) = (Arc::new(control), Arc::clone(service), tasks.clone());
    spawn_loop(tasks, stop, "control_socket", move |stop| {
        Arc::clone(&control).serve(Arc::clone(&service), attending.clone(), stop)
    });
}

/// Shuts down the parts that requests depend on, after all requests have ended.
async fn end(
    (membership, child): (Option<cluster::Membership>, Option<LocalChild>),
    service: &Service,
) {
    if let Some(membership) = membership {
        membership.end().await;
    }
    if let Some(child) = child {
        child.stop().await;
    }
    housekeeping::last(service).await;
    tracing::info!("stopped");
}

/// Waits for a stop signal or the loss of the database lease.
async fn until_ended(
    signals: &mut Signals,
    service: &Service,
    lease: Option<watch::Receiver<LeaseState>>,
) -> Result<(), Failure> {
    tokio::select! {
        () = signals.until_stopped(&service.reload) => Ok(()),
        lost = lost_place(lease) => Err(lost),
    }
}

/// Returns an error if another process has taken over this one's lease of the database. This
/// process can no longer charge; after a restart, the error message names the new holder.
async fn lost_place(lease: Option<watch::Receiver<LeaseState>>) -> Failure {
    let Some(mut lease) = lease else { return std::future::pending().await };
    if lease.wait_for(|state| *state == LeaseState::Lost).await.is_err() {
        return std::future::pending().await;
    }
    Failure::Failed("another process has taken this one's place in the database".to_owned())
}

/// Logs warnings about settings that are valid but may not do what the operator expects.
fn warn(config: &Config) {
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let is_restricted = config.models.iter().any(|model| !model.region_restrictions.is_empty());
    if is_restricted && config.server.country_header.is_none() {
        tracing::warn!(
            "models have region_restrictions, which hold nobody back: set country_header in [server]"
        );
    }
}

/// Returns the operator's own ADMIN key, which must be usable in a header.
fn chosen_key(surroundings: &Surroundings) -> Result<Option<&str>, Failure> {
    let Some(key) = surroundings.environment.get(ADMIN_KEY) else { return Ok(None) };
    let is_plain = key.chars().all(|letter| letter.is_ascii_graphic());
    let is_long = CHOSEN_KEY_CHARS_MIN <= key.len() && key.len() <= SECRET_BYTES_MAX;
    if is_plain && is_long {
        return Ok(Some(key));
    }
    Err(Failure::Failed(format!(
        "{ADMIN_KEY} must be {CHOSEN_KEY_CHARS_MIN} to {SECRET_BYTES_MAX} letters, digits and \
         signs, without spaces"
    )))
}

fn flags(serve: args::Serve) -> Vec<FlagSetting> {
    let given = [
        ("--listen", "listen", serve.listen),
        ("--admin-listen", "admin_listen", serve.admin_listen),
    ];
    let setting = |(flag, key, value): (&'static str, &'static str, Option<String>)| {
        Some(FlagSetting { flag, section: "server", key, value: value? })
    };
    given.into_iter().filter_map(setting).collect()
}

fn bind_control(path: &Path) -> Result<socket::server::Server, Failure> {
    socket::server::Server::bind(path).map_err(|error| {
        let path = path.display();
        // The usual cause is the operating system's limit of about 100 characters for socket paths.
        Failure::Failed(format!(
            "cannot make the control socket {path}: {error}; a shorter --data-dir may help"
        ))
    })
}

/// Returns the data that operators see: the API URL and the state of weights.
fn front(local: Option<&Local>, address: SocketAddr) -> Front {
    let local = local.cloned();
    Front {
        api_url: Some(format!("http://{}/api/v1", welcome::reachable(address))),
        weights: Arc::new(move |model| local.as_ref().and_then(|it| it.weights_of(model))),
    }
}

/// The write lease of this process, and the database that it shares with other nodes.
type Footing = (Option<watch::Receiver<LeaseState>>, Option<Arc<Postgres>>);

/// Opens the database, initializes it if it is new, and activates the catalogue.
async fn open(
    surroundings: &Surroundings,
    flags: Vec<FlagSetting>,
    config: Config,
    (engines, chains, local): (Arc<Engines>, Arc<CurrentChains>, Option<Local>),
    (front, chosen_key): (Front, Option<&str>),
) -> Result<(Service, Footing), Failure> {
    let current_catalogue = Arc::new(CurrentCatalogue::default());
    let tiers = Arc::new(config.tiers.clone());
    let offer = (Arc::clone(&engines), chains, local.clone());
    let reload = reload(surroundings.clone(), flags, Arc::clone(&current_catalogue), offer);
    let data_dir = &surroundings.data_dir.path;
    let opener = config.cluster.as_ref().map_or(Opener::Service, Opener::Node);
    let opened = database::open(data_dir, &config.store, opener).await;
    let database = opened.map_err(|failure| match &config.store.location {
        StoreLocation::Sqlite(_) if matches!(failure, Failure::Unreachable(_)) => {
            Failure::Failed(format!(
                "the database in {} is in use: another tollgate runs there; stop it, or choose \
             another directory with --data-dir",
                data_dir.display()
            ))
        }
        _ => failure,
    })?;
    let footing = (database.lease.clone(), database.shared.clone());
    cluster::wait_for_turn(footing.1.as_deref()).await?;
    let catalogue = (Arc::clone(&current_catalogue), tiers);
    let service = wiring::service(database, catalogue, reload, front, chosen_key).await?;
    let development = &config.development;
    service.found(development.enabled.then_some(development.starting_credit)).await?;
    service.found_characters().await?;
    put_in_force(config, &current_catalogue, &engines, local.as_ref()).map_err(Failure::Failed)?;
    Ok((service, footing))
}

/// Returns a function that reads the whole configuration again, and activates its catalogue if it
/// has no faults.
fn reload(
    surroundings: Surroundings,
    flags: Vec<FlagSetting>,
    current_catalogue: Arc<CurrentCatalogue>,
    (engines, chains, local): (Arc<Engines>, Arc<CurrentChains>, Option<Local>),
) -> Reload {
    Arc::new(move || {
        let config = surroundings.sources(flags.clone()).read().map_err(|it| it.to_string())?;
        let fresh_chains = wiring::chains(&config.rpc)?;
        let count = put_in_force(config, &current_catalogue, &engines, local.as_ref())?;
        chains.replace(fresh_chains);
        Ok(count)
    })
}

/// Activates a configuration's catalogue and engines. Requests in progress keep the old ones.
fn put_in_force(
    config: Config,
    current_catalogue: &CurrentCatalogue,
    engines: &Engines,
    local: Option<&Local>,
) -> Result<usize, String> {
    let offer = Offer::of(config, local)?;
    let count = offer.count;
    // Engines first, so that every listed model can be run.
    engines.replace(offer.engines);
    current_catalogue.replace(offer.catalogue);
    Ok(count)
}

/// The parts of an [`App`] besides the service and its settings.
type AppParts =
    (Arc<Engines>, Arc<Proxy>, Arc<Wallets>, Arc<Jobs>, (Arc<Web>, Arc<dyn Reader>), Sides);

/// The console, and the connection to other nodes.
type Sides = (Console, Option<Arc<Nodes>>);

fn app(
    service: &Service,
    (parts, strangers): (AppParts, Strangers),
    (settings, bodies_bytes_max): (Settings, usize),
    tasks: &TaskTracker,
) -> Arc<App> {
    let (engines, proxy, wallets, jobs, (web, reader), (console, nodes)) = parts;
    Arc::new(App {
        settings,
        catalogue: Arc::clone(&service.catalogue),
        engines,
        proxy,
        web,
        wallets,
        console: Arc::new(console),
        keys: Arc::clone(&service.keys),
        nodes,
        ledger: Arc::clone(&service.ledger),
        jobs,
        store: Arc::clone(&service.store),
        limiter: Limiter::default(),
        strangers,
        failures: Failures::default(),
        reader,
        bodies: Arc::new(Bodies::new(bodies_bytes_max)),
        clock: Arc::clone(&service.clock),
        entropy: Arc::clone(&service.entropy),
        tasks: tasks.clone(),
    })
}

fn settings(
    (server, is_development): (&Server, bool),
    (limits, tiers): (&Limits, Arc<Tiers>),
    (chat, watermark): (Chat, Option<String>),
    address: SocketAddr,
) -> Settings {
    let proxies = server.trusted_proxies.clone();
    Settings {
        public_url: server.public_url.clone().unwrap_or_else(|| format!("http://{address}")),
        host_name: server.host_name.clone().unwrap_or_else(|| host_name(is_development)),
        is_trusted_proxy: Arc::new(move |address| {
            proxies.iter().any(|range| range.contains(address))
        }),
        country_header: server.country_header.as_deref().and_then(|it| it.parse().ok()),
        tiers,
        blocks_failures: limits.block_failures,
        hosts: Arc::new(hosts(&chat)),
        system_prompt: chat.system_prompt,
        watermark,
        brand: Brand::default(),
        takes_wallets: false,
    }
}

fn with_brand(
    settings: Settings,
    brand: config::sections::brand::Brand,
    takes_wallets: bool,
) -> Settings {
    let logo = brand
        .logo
        .map(|logo| BrandLogo { bytes: logo.bytes.into(), content_type: logo.content_type });
    let brand = Brand {
        name: brand.name,
        logo,
        support_email: brand.support_email,
        terms_url: brand.terms_url,
        privacy_url: brand.privacy_url,
    };
    Settings { brand, takes_wallets, ..settings }
}

fn hosts(chat: &Chat) -> Hosts {
    let names =
        chat.resolve_media_hosts.then(|| Arc::new(SystemNames::default()) as Arc<dyn Names>);
    Hosts::new(chat.media_domains.clone(), names)
}

/// Returns the host name in development, otherwise an empty string: internal names are not exposed.
fn host_name(is_development: bool) -> String {
    if !is_development {
        return String::new();
    }
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Waits for requests in progress, up to a timeout or a second stop signal.
async fn wind_down(tasks: &TaskTracker, grace: Duration, signals: &mut Signals) {
    let grace = grace + LAST_WRITES_MAX;
    tokio::select! {
        ended = tokio::time::timeout(grace, tasks.wait()) => {
            if ended.is_err() {
                tracing::warn!("some work had not ended after {} s", grace.as_secs());
            }
        }
        () = signals.stop() => tracing::warn!("told twice to stop: stopping at once"),
    }
}
