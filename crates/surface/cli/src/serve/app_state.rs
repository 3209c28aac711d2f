//! The state that requests share, from the parts that the configuration names.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::payments::PaymentService;
use ::web::{NameResolver, SystemResolver};
use batches::BatchService;
use config::read::ServiceConfig;
use config::sections::chat::ChatConfig;
use control::service::ControlService;
use domain::limits::failures::RecentFailures;
use domain::limits::tiers::RateLimitTiers;
use domain::limits::window::WindowLimiter;
use http_frame::anonymous_limits::AnonymousLimits;
use http_frame::app::AppState;
use http_frame::engines::CurrentEngines;
use http_frame::hosts::HostPolicy;
use http_frame::input::BodyMemory;
use http_frame::mcp_access::McpAccess;
use http_frame::nodes::NodeClients;
use http_frame::proxy::{CurrentChains, RpcProxy};
use http_frame::recent_errors::RefusedCalls;
use http_frame::session_state::SessionState;
use http_frame::settings::{ApiSettings, BrandSettings, StoredResponseSettings};
use http_frame::wallets::WalletState;
use http_frame::web::WebAccess;
use jobs::JobQueue;
use sandbox::InputReader;
use tokio_util::task::TaskTracker;

use super::{batch, brand, queue};
use crate::failure::CommandError;
use crate::mcp::McpSections;
use crate::reader_process;
use crate::wallets;
use crate::web::WebSections;
use crate::wiring;

/// The inputs of the state.
pub(super) struct AppOrder<'a> {
    pub(super) data_dir: &'a Path,
    pub(super) config: &'a ServiceConfig,
    pub(super) service: &'a Arc<ControlService>,
    pub(super) engines: Arc<CurrentEngines>,
    pub(super) chains: Arc<CurrentChains>,
    pub(super) sessions: Arc<SessionState>,
    /// The connection to other nodes; None for a single node.
    pub(super) nodes: Option<Arc<NodeClients>>,
    pub(super) payments: Option<PaymentService>,
    pub(super) web: WebSections,
    pub(super) mcp: McpSections,
    pub(super) strangers: AnonymousLimits,
    /// True if no other process uses the database.
    pub(super) is_alone: bool,
    pub(super) address: SocketAddr,
    pub(super) tasks: &'a TaskTracker,
}

/// Opens the parts that requests use.
pub(super) async fn open_app(order: AppOrder<'_>) -> Result<Arc<AppState>, CommandError> {
    let AppOrder { data_dir, config, service, engines, sessions, nodes, payments, .. } = order;
    let proxy = wiring::open_proxy(order.chains, service).await?;
    let settings = build_settings(config, Arc::clone(&service.tiers), order.address);
    let public_url = settings.public_url.as_str();
    let wallets = wallets::open_wallets(service, config, public_url, payments.clone()).await?;
    let settings = brand::with_brand(settings, config.brand.clone(), payments.is_some());
    let jobs = queue::open_job_queue(data_dir, service, &engines, config, order.is_alone).await?;
    let batches = batch::open_batches(data_dir, service, config)?;
    let reader: Arc<dyn InputReader> = Arc::new(reader_process::build_reader());
    let (web, mcp) = (order.web.open(Arc::clone(&reader))?, order.mcp.open()?);
    let parts = AppParts {
        settings,
        engines,
        proxy,
        wallets,
        jobs,
        batches,
        web,
        mcp,
        reader,
        sessions,
        nodes,
    };
    let bodies_bytes_max = config.server.bodies_bytes_max;
    Ok(build_app(service, parts, order.strangers, bodies_bytes_max, order.tasks))
}

/// The parts of an [`AppState`] besides the service and its limits.
struct AppParts {
    settings: ApiSettings,
    engines: Arc<CurrentEngines>,
    proxy: Arc<RpcProxy>,
    wallets: Arc<WalletState>,
    jobs: Arc<JobQueue>,
    batches: Arc<BatchService>,
    web: Arc<WebAccess>,
    mcp: Arc<McpAccess>,
    reader: Arc<dyn InputReader>,
    sessions: Arc<SessionState>,
    nodes: Option<Arc<NodeClients>>,
}

fn build_app(
    service: &ControlService,
    parts: AppParts,
    strangers: AnonymousLimits,
    bodies_bytes_max: usize,
    tasks: &TaskTracker,
) -> Arc<AppState> {
    Arc::new(AppState {
        settings: parts.settings,
        catalogue: Arc::clone(&service.catalogue),
        engines: parts.engines,
        proxy: parts.proxy,
        web: parts.web,
        mcp: parts.mcp,
        wallets: parts.wallets,
        sessions: parts.sessions,
        refused: Arc::new(RefusedCalls::new(service.clock.now())),
        keys: Arc::clone(&service.keys),
        nodes: parts.nodes,
        ledger: Arc::clone(&service.ledger),
        jobs: parts.jobs,
        batches: parts.batches,
        background: Arc::default(),
        store: Arc::clone(&service.store),
        limiter: WindowLimiter::default(),
        strangers,
        failures: RecentFailures::default(),
        reader: parts.reader,
        bodies: Arc::new(BodyMemory::new(bodies_bytes_max)),
        clock: Arc::clone(&service.clock),
        entropy: Arc::clone(&service.entropy),
        tasks: tasks.clone(),
    })
}

fn build_settings(
    config: &ServiceConfig,
    tiers: Arc<RateLimitTiers>,
    address: SocketAddr,
) -> ApiSettings {
    let (server, chat) = (&config.server, &config.chat);
    let is_development = config.development.enabled;
    let proxies = server.trusted_proxies.clone();
    ApiSettings {
        public_url: server.public_url.clone().unwrap_or_else(|| format!("http://{address}")),
        host_name: server.host_name.clone().unwrap_or_else(|| host_name(is_development)),
        is_trusted_proxy: Arc::new(move |address| {
            proxies.iter().any(|range| range.contains(address))
        }),
        country_header: server.country_header.as_deref().and_then(|it| it.parse().ok()),
        tiers,
        blocks_failures: config.limits.block_failures,
        hosts: Arc::new(build_media_hosts(chat)),
        system_prompt: chat.system_prompt.clone(),
        watermark: config.image.watermark_text(is_development),
        brand: BrandSettings::default(),
        takes_wallets: false,
        responses: StoredResponseSettings {
            keep: Duration::from_secs(config.responses.keep_days * 24 * 60 * 60),
            runs_max: config.responses.background_workers,
            runs_per_account_max: config.responses.running_per_account,
            open_per_account_max: config.responses.open_per_account,
            ..StoredResponseSettings::default()
        },
    }
}

fn build_media_hosts(chat: &ChatConfig) -> HostPolicy {
    let names = chat
        .resolve_media_hosts
        .then(|| Arc::new(SystemResolver::default()) as Arc<dyn NameResolver>);
    HostPolicy::new(chat.media_domains.clone(), names)
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
