//! The shared state that handlers use.

use std::net::IpAddr;
use std::sync::Arc;

use access::{Holder, KeyRing};
use domain::catalogue::Model;
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::Entropy;
use domain::limits::failures::Failures;
use domain::limits::tiers::{Allowed, LimitClass, Tier};
use domain::limits::window::{Admission, Exceeded, Limiter, Standing, Subject};
use jobs::Jobs;
use ledger::Ledger;
use logging::request::work_for_same;
use moment::{Clock, Timestamp};
use reader::Reader;
use store::Store;
use store::limit_hit::LimitHit;
use store::write::{Group, Write};
use tokio_util::task::TaskTracker;

use crate::console::Console;
use crate::engines::Engines;
use crate::home::nodes::Nodes;
use crate::input::Bodies;
use crate::principal::Principal;
use crate::proxy::Proxy;
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::standing::{self, StandingCell};
use crate::strangers::Strangers;
use crate::wallets::Wallets;
use crate::web::Web;

/// The state that axum passes to each handler.
pub type Shared = Arc<App>;

pub struct App {
    pub settings: Settings,
    /// The models, replaced as a whole when the configuration is reloaded.
    pub catalogue: Arc<CurrentCatalogue>,
    /// The engines that run the models.
    pub engines: Arc<Engines>,
    /// Calls chain nodes (JSON-RPC).
    pub proxy: Arc<Proxy>,
    /// Searches and downloads web pages for callers.
    pub web: Arc<Web>,
    /// Wallet sign-ins and x402 payments.
    pub wallets: Arc<Wallets>,
    /// Sessions and assets of the console.
    pub console: Arc<Console>,
    pub keys: Arc<KeyRing>,
    /// Clients to the other nodes of the cluster; None on a single node.
    pub nodes: Option<Arc<Nodes>>,
    /// Balances, holds and charges. Nothing else moves money.
    pub ledger: Arc<Ledger>,
    /// Queued generations: music and videos.
    pub jobs: Arc<Jobs>,
    /// For queries only. Writes that have rules go through `keys` and `ledger`.
    pub store: Arc<dyn Store>,
    pub limiter: Limiter,
    /// Limits of callers without a credential, counted in Redis with other nodes if configured.
    pub strangers: Strangers,
    /// Bounds the memory held by the bodies of requests in progress.
    pub bodies: Arc<Bodies>,
    pub failures: Failures<Principal>,
    /// Parses callers' files (documents, audio, images) in separate processes.
    pub reader: Arc<dyn Reader>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    /// Work that outlives its request. Shutdown waits for it.
    pub tasks: TaskTracker,
}

impl App {
    /// Counts a request to a model against the caller's limits, with its maximum of tokens.
    pub fn admit_model(
        &self,
        holder: &Holder,
        model: &Model,
        tokens: u64,
        standing: &StandingCell,
    ) -> Result<Admission, Refusal> {
        let now = self.clock.now();
        let tier = self.tier(Some(holder));
        let subject = Subject::new(holder.owner.id, &model.id);
        let allowed = tier.allowed(LimitClass::of(model));
        let admitted = self.limiter.admit(subject, allowed, tokens, now);
        let known = match &admitted {
            Ok(admission) => admission.standing,
            Err(exceeded) => *exceeded.standing(),
        };
        standing.set(known);
        admitted.map_err(|exceeded| {
            self.log_limit_hit(holder, tier, model.id.clone(), exceeded.kind(), now);
            standing::too_fast(&exceeded)
        })
    }

    /// A caller's limits and remaining quota for a model. Counts nothing.
    pub(crate) fn standing_with(&self, holder: &Holder, model: &Model, now: Timestamp) -> Standing {
        let allowed = self.tier(Some(holder)).allowed(LimitClass::of(model));
        self.limiter.standing(Subject::new(holder.owner.id, &model.id), allowed, now)
    }

    /// A caller's limits and remaining quota for a class of endpoints. Counts nothing.
    pub(crate) fn standing_in(
        &self,
        holder: &Holder,
        class: LimitClass,
        now: Timestamp,
    ) -> Standing {
        let allowed = self.tier(Some(holder)).allowed(class);
        self.limiter.standing(Subject::new(holder.owner.id, class), allowed, now)
    }

    /// The quota of an address without a credential, from this node's counts only.
    pub(crate) fn stranger_standing(
        &self,
        address: IpAddr,
        class: LimitClass,
        now: Timestamp,
    ) -> Standing {
        let allowed = self.tier(None).allowed(class);
        self.limiter.standing(Subject::new(address, class), allowed, now)
    }

    /// Refuses a request if the caller's quota for the model is used up. Counts nothing.
    pub fn refuse_if_spent(
        &self,
        holder: &Holder,
        model: &Model,
        standing: &StandingCell,
    ) -> Result<(), Refusal> {
        let now = self.clock.now();
        let tier = self.tier(Some(holder));
        let subject = Subject::new(holder.owner.id, &model.id);
        let known = self.limiter.standing(subject, tier.allowed(LimitClass::of(model)), now);
        let exceeded = if known.requests_left == 0 {
            Exceeded::Requests(known)
        } else if known.tokens_left == Some(0) {
            Exceeded::Tokens(known)
        } else {
            return Ok(());
        };
        standing.set(known);
        self.log_limit_hit(holder, tier, model.id.clone(), exceeded.kind(), now);
        Err(standing::too_fast(&exceeded))
    }

    /// The tier of limits of a caller.
    pub(crate) fn tier(&self, holder: Option<&Holder>) -> &Tier {
        let name = holder.map_or("", |holder| &holder.owner.tier);
        self.settings.tiers.named_or_ordinary(name)
    }

    /// Adds a rate-limit refusal to the log in the background: losing an entry is harmless.
    pub(crate) fn log_limit_hit(
        &self,
        holder: &Holder,
        tier: &Tier,
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
        let commit = self.store.commit(Group::of(Write::AddLimitHit(hit)));
        self.tasks.spawn(work_for_same(async move {
            if let Err(error) = commit.await {
                tracing::warn!(error = %error, "a rate-limit refusal was not logged: {error}");
            }
        }));
    }

    /// Counts a request of an address without a credential.
    pub(crate) async fn admit_stranger(
        &self,
        subject: Subject,
        allowed: Allowed,
        now: Timestamp,
    ) -> Result<Standing, Exceeded> {
        self.strangers.admit(&self.limiter, subject, allowed, now).await
    }

    /// Counts a failure. Tells other nodes if the address is blocked from now on.
    pub(crate) fn note_failure(&self, principal: Principal, now: Timestamp) {
        if !self.settings.blocks_failures {
            return;
        }
        if let Some(until) = self.failures.count(principal, now) {
            self.strangers.tell_blocked(principal, until);
        }
    }
}
