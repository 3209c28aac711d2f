//! The shared state that handlers use.

use std::net::IpAddr;
use std::sync::Arc;

use access::{CredentialHolder, KeyRing};
use batches::BatchService;
use domain::catalogue::CatalogueModel;
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::EntropySource;
use domain::limits::failures::RecentFailures;
use domain::limits::tiers::{LimitClass, MinuteLimits, RateLimitTier};
use domain::limits::window::{
    ExceededLimit, LimitAdmission, LimitSubject, RateLimitStatus, WindowLimiter,
};
use jobs::JobQueue;
use ledger::Ledger;
use logging::request::with_current_request_id;
use moment::{Clock, Timestamp};
use sandbox::InputReader;
use store::Store;
use store::limit_hit::LimitHit;
use store::write::{StoreWrite, WriteGroup};
use tokio_util::task::TaskTracker;

use crate::anonymous_limits::AnonymousLimits;
use crate::background_runs::BackgroundRuns;
use crate::caller_limits::{self, RateLimitCell};
use crate::engines::CurrentEngines;
use crate::input::BodyMemory;
use crate::mcp_access::McpAccess;
use crate::nodes::NodeClients;
use crate::principal::Principal;
use crate::proxy::RpcProxy;
use crate::recent_errors::RefusedCalls;
use crate::refusal::Refusal;
use crate::session_state::SessionState;
use crate::settings::ApiSettings;
use crate::transport::TransportContext;
use crate::wallets::WalletState;
use crate::web::WebAccess;

/// The state that axum passes to each handler.
pub type SharedApp = Arc<AppState>;

pub struct AppState {
    pub settings: ApiSettings,
    /// The models, replaced as a whole when the configuration is reloaded.
    pub catalogue: Arc<CurrentCatalogue>,
    /// The engines that run the models.
    pub engines: Arc<CurrentEngines>,
    /// Calls chain nodes (JSON-RPC).
    pub proxy: Arc<RpcProxy>,
    /// Searches and downloads web pages for callers.
    pub web: Arc<WebAccess>,
    /// MCP servers whose tools models may call.
    pub mcp: Arc<McpAccess>,
    /// Wallet sign-ins and x402 payments.
    pub wallets: Arc<WalletState>,
    /// Sessions of the console.
    pub sessions: Arc<SessionState>,
    /// Recent errors of callers, for the console.
    pub refused: Arc<RefusedCalls>,
    pub keys: Arc<KeyRing>,
    /// Clients to the other nodes of the cluster; None on a single node.
    pub nodes: Option<Arc<NodeClients>>,
    /// Balances, holds and charges. Nothing else moves money.
    pub ledger: Arc<Ledger>,
    /// Queued generations: music and videos.
    pub jobs: Arc<JobQueue>,
    /// Background responses that run in this process.
    pub background: Arc<BackgroundRuns>,
    /// Files of callers, and batches of calls.
    pub batches: Arc<BatchService>,
    /// For queries only. Writes that have rules go through `keys` and `ledger`.
    pub store: Arc<dyn Store>,
    pub limiter: WindowLimiter,
    /// Limits of callers without a credential, counted in Redis with other nodes if configured.
    pub strangers: AnonymousLimits,
    /// Bounds the memory held by the bodies of requests in progress.
    pub bodies: Arc<BodyMemory>,
    pub failures: RecentFailures<Principal>,
    /// Parses callers' files (documents, audio, images) in separate processes.
    pub reader: Arc<dyn InputReader>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn EntropySource>,
    /// Work that outlives its request. Shutdown waits for it.
    pub tasks: TaskTracker,
}

impl AppState {
    /// The parts that the transport uses.
    pub fn transport_context(&self) -> TransportContext<'_> {
        TransportContext {
            host_name: &self.settings.host_name,
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
            tasks: self.tasks.clone(),
        }
    }

    /// Counts a request to a model against the caller's limits, with its maximum of tokens.
    pub fn admit_model(
        &self,
        holder: &CredentialHolder,
        model: &CatalogueModel,
        tokens: u64,
        standing: &RateLimitCell,
    ) -> Result<LimitAdmission, Refusal> {
        let now = self.clock.now();
        let tier = self.tier(Some(holder));
        let subject = LimitSubject::new(holder.owner.id, &model.id);
        let allowed = tier.limits_for(LimitClass::of_model(model));
        let admitted = self.limiter.admit(subject, allowed, tokens, now);
        standing.set_counted(&admitted);
        admitted.map_err(|exceeded| {
            self.log_limit_hit(holder, tier, model.id.clone(), exceeded.kind(), now);
            caller_limits::refuse_rate_limited(&exceeded)
        })
    }

    /// A caller's limits and remaining quota for a model. Counts nothing.
    pub fn model_rate_limit(
        &self,
        holder: &CredentialHolder,
        model: &CatalogueModel,
        now: Timestamp,
    ) -> RateLimitStatus {
        let allowed = self.tier(Some(holder)).limits_for(LimitClass::of_model(model));
        self.limiter.limit_status(LimitSubject::new(holder.owner.id, &model.id), allowed, now)
    }

    /// A caller's limits and remaining quota for a class of endpoints. Counts nothing.
    pub(crate) fn class_rate_limit(
        &self,
        holder: &CredentialHolder,
        class: LimitClass,
        now: Timestamp,
    ) -> RateLimitStatus {
        let allowed = self.tier(Some(holder)).limits_for(class);
        self.limiter.limit_status(LimitSubject::new(holder.owner.id, class), allowed, now)
    }

    /// The quota of an address without a credential, from this node's counts only.
    pub(crate) fn anonymous_rate_limit(
        &self,
        address: IpAddr,
        class: LimitClass,
        now: Timestamp,
    ) -> RateLimitStatus {
        let allowed = self.tier(None).limits_for(class);
        self.limiter.limit_status(LimitSubject::new(address, class), allowed, now)
    }

    /// Refuses a request if the caller's quota for the model is used up. Counts nothing.
    pub fn refuse_if_spent(
        &self,
        holder: &CredentialHolder,
        model: &CatalogueModel,
        standing: &RateLimitCell,
    ) -> Result<(), Refusal> {
        let now = self.clock.now();
        let tier = self.tier(Some(holder));
        let subject = LimitSubject::new(holder.owner.id, &model.id);
        let known =
            self.limiter.limit_status(subject, tier.limits_for(LimitClass::of_model(model)), now);
        let exceeded = if known.requests_left == 0 {
            ExceededLimit::Requests(known)
        } else if known.tokens_left == Some(0) {
            ExceededLimit::Tokens(known)
        } else {
            return Ok(());
        };
        standing.set(known);
        self.log_limit_hit(holder, tier, model.id.clone(), exceeded.kind(), now);
        Err(caller_limits::refuse_rate_limited(&exceeded))
    }

    /// The tier of limits of a caller.
    pub fn tier(&self, holder: Option<&CredentialHolder>) -> &RateLimitTier {
        let name = holder.map_or("", |holder| &holder.owner.tier);
        self.settings.tiers.find_or_default(name)
    }

    /// Adds a rate-limit refusal to the log in the background: losing an entry is harmless.
    pub fn log_limit_hit(
        &self,
        holder: &CredentialHolder,
        tier: &RateLimitTier,
        counted: String,
        kind: &'static str,
        at: Timestamp,
    ) {
        let hit = LimitHit {
            owner: holder.owner.id,
            key: holder.key().map(|key| key.id),
            model: counted,
            tier: tier.name().to_owned(),
            kind: kind.to_owned(),
            at,
        };
        let commit = self.store.commit(WriteGroup::from_write(StoreWrite::AddLimitHit(hit)));
        self.tasks.spawn(with_current_request_id(async move {
            if let Err(error) = commit.await {
                tracing::warn!(error = %error, "a rate-limit refusal was not logged: {error}");
            }
        }));
    }

    /// Counts a request of an address without a credential.
    pub async fn admit_anonymous(
        &self,
        subject: LimitSubject,
        allowed: MinuteLimits,
        now: Timestamp,
    ) -> Result<RateLimitStatus, ExceededLimit> {
        self.strangers.admit(&self.limiter, subject, allowed, now).await
    }

    /// Counts a failure. Tells other nodes if the address is blocked from now on.
    pub fn note_failure(&self, principal: Principal, now: Timestamp) {
        if !self.settings.blocks_failures {
            return;
        }
        if let Some(until) = self.failures.count_failure(principal, now) {
            self.strangers.publish_block(principal, until);
        }
    }

    /// Counts a request that was refused as malformed. Repetitions of its body count less.
    pub(crate) fn note_bad_request(&self, principal: Principal, digest: u64, now: Timestamp) {
        if !self.settings.blocks_failures {
            return;
        }
        if let Some(until) = self.failures.count_bad_request(principal, digest, now) {
            self.strangers.publish_block(principal, until);
        }
    }
}
