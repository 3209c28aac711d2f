//! Everything a handler can reach.

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

/// The state that every handler is given.
pub type Shared = Arc<App>;

pub struct App {
    pub settings: Settings,
    /// The models on offer, replaced whole when the configuration is read again.
    pub catalogue: Arc<CurrentCatalogue>,
    /// What runs the models.
    pub engines: Arc<Engines>,
    /// What calls chain nodes.
    pub proxy: Arc<Proxy>,
    /// What looks at the web for callers.
    pub web: Arc<Web>,
    /// Who signs in with a wallet, and who pays with one.
    pub wallets: Arc<Wallets>,
    /// Who uses the pages, and the pages.
    pub console: Arc<Console>,
    pub keys: Arc<KeyRing>,
    /// The way to other nodes, where there are any.
    pub nodes: Option<Arc<Nodes>>,
    /// Balances, holds and charges. Nothing else moves money.
    pub ledger: Arc<Ledger>,
    /// Music and videos that are made later.
    pub jobs: Arc<Jobs>,
    /// For queries. What has rules is changed through `keys` and `ledger`.
    pub store: Arc<dyn Store>,
    pub limiter: Limiter,
    /// What is counted together with other nodes, where there is a place for that.
    pub strangers: Strangers,
    /// The memory that requests under way have for their bodies.
    pub bodies: Arc<Bodies>,
    pub failures: Failures<Principal>,
    /// Opens what callers send in formats that others made up, in processes of its own.
    pub reader: Arc<dyn Reader>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    /// Work that outlives its request; shutdown waits for it.
    pub tasks: TaskTracker,
}

impl App {
    /// Counts a request to a model against the caller's limits for it, with the tokens that it
    /// may use at most.
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

    /// Where a caller stands with a model, without counting anything.
    pub(crate) fn standing_with(&self, holder: &Holder, model: &Model, now: Timestamp) -> Standing {
        let allowed = self.tier(Some(holder)).allowed(LimitClass::of(model));
        self.limiter.standing(Subject::new(holder.owner.id, &model.id), allowed, now)
    }

    /// Where a caller stands with all that is counted in one class.
    pub(crate) fn standing_in(
        &self,
        holder: &Holder,
        class: LimitClass,
        now: Timestamp,
    ) -> Standing {
        let allowed = self.tier(Some(holder)).allowed(class);
        self.limiter.standing(Subject::new(holder.owner.id, class), allowed, now)
    }

    /// Where an address without a credential stands, by what this node has counted.
    pub(crate) fn stranger_standing(
        &self,
        address: IpAddr,
        class: LimitClass,
        now: Timestamp,
    ) -> Standing {
        let allowed = self.tier(None).allowed(class);
        self.limiter.standing(Subject::new(address, class), allowed, now)
    }

    /// Refuses a request to a model for which nothing is left in this minute. Counts nothing.
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

    /// The set of limits that a caller is in.
    pub(crate) fn tier(&self, holder: Option<&Holder>) -> &Tier {
        let name = holder.map_or("", |holder| &holder.owner.tier);
        self.settings.tiers.named_or_ordinary(name)
    }

    /// Writes a refusal into the caller's log. Nobody waits for it, and losing one is harmless.
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

    /// Counts a failure, and tells other nodes of an address that is blocked from now on.
    pub(crate) fn note_failure(&self, principal: Principal, now: Timestamp) {
        if !self.settings.blocks_failures {
            return;
        }
        if let Some(until) = self.failures.count(principal, now) {
            self.strangers.tell_blocked(principal, until);
        }
    }
}
