//! The whole service in memory, without sockets.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use api::console::{ConsoleApp, ConsoleState};
use axum::Router;
use config::environment::ProcessEnvironment;
use config::read::ServiceConfig;
use config::sources::{ConfigSources, SourceInputs};
use domain::access::{KeyKind, ModelPrivacy};
use domain::catalogue::{Catalogue, ModelSpec};
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::{EntropySource, time_ordered_id};
use domain::limits::failures::RecentFailures;
use domain::limits::window::WindowLimiter;
use engine_wiring::EngineEnvironment;
use http_frame::anonymous_limits::AnonymousLimits;
use http_frame::app::{AppState, SharedApp};
use http_frame::engines::CurrentEngines;
use http_frame::hosts::HostPolicy;
use http_frame::input::BodyMemory;
use http_frame::recent_errors::RefusedCalls;
use http_frame::session_state::SessionState;
use http_frame::settings::{ApiSettings, BrandLogo, BrandSettings, StoredResponseSettings};
use http_frame::wallets::WalletState;
use ledger::{ChargeLine, Ledger, WorkCharge};
use ledger_core::{EntryId, HoldRange, LedgerRules, LimitPeriod, OwnerId};
use moment::{Clock, ManualClock, Timestamp};
use money::{BalanceCurrency, Nano, Price, PriceUnits, UnitRate};
use payments::PaymentParts;
use sandbox::{InProcessReader, InputReader};
use serde_json::Value;
use store::Store;
use store::intercept::InterceptedStore;
use store::key::KeySettings;
use store::owner::{Owner, OwnerKind};
use store::usage::UsageDetails;
use store::write::{StoreWrite, WriteGroup};
use tempfile::TempDir;
use tokio_util::task::TaskTracker;
use wallet::WalletAddress;

use crate::chain::StubChain;
use crate::client::TestClient;
use crate::clock::TestClock;
use crate::contract::ApiContract;
use crate::database;
use crate::failing_queries::FailingQueries;
use crate::mcp_server;
use crate::media_engine::StubMediaEngine;
use crate::names::TestNames;
use crate::node::{self, StubNode};
use crate::parts::{
    build_batches, build_console, build_jobs, build_key_ring, build_payments, build_wallets,
};
use crate::seed::SplitMixEntropy;
use crate::site::StubSite;
use crate::upstream::StubUpstream;
use crate::wallet::TestWallet;

/// The initial time of every test.
const BEGINNING: &str = "2026-11-15T12:00:00.000Z";
/// The service's own default.
const BODIES_BYTES_MAX: usize = 512 * 1024 * 1024;
const SESSION_SECRET: [u8; 32] = [5; 32];
const SEED: u64 = 0x7011_6a7e;

/// A running service with the account `default`, ten dollars and an ADMIN key.
pub struct TestApp {
    pub app: SharedApp,
    pub clock: TestClock,
    /// The upstream of every text and embedding model.
    pub upstream: StubUpstream,
    /// The chain node of every network.
    pub node: StubNode,
    /// The web server behind every public address.
    pub site: StubSite,
    /// Executes payments.
    pub chain: Arc<StubChain>,
    /// The engine of all music and videos.
    pub maker: Arc<StubMediaEngine>,
    console: Arc<ConsoleState>,
    router: Router,
    contract: Arc<ApiContract>,
    admin_secret: String,
    owner: OwnerId,
    reader: Arc<InProcessReader>,
    folder: TempDir,
}

impl TestApp {
    pub async fn start() -> TestApp {
        let folder = tempfile::tempdir().unwrap();
        let store = database::create_store(folder.path()).await;
        TestApp::with_store(store, folder).await
    }

    /// A service whose store fails after a successful start.
    pub async fn with_failing_store() -> TestApp {
        let folder = tempfile::tempdir().unwrap();
        let flaky = Arc::<FailingQueries>::default();
        let sound = database::create_store(folder.path()).await;
        let store = Arc::new(InterceptedStore::new(sound, Arc::clone(&flaky)));
        let app = TestApp::with_store(store, folder).await;
        flaky.fail();
        app
    }

    /// A service with a changed fixture as its configuration.
    pub async fn with_changed_fixture(change: impl Fn(&str) -> String) -> TestApp {
        let folder = tempfile::tempdir().unwrap();
        let store = database::create_store(folder.path()).await;
        TestApp::with_fixture(store, folder, &change(FIXTURE)).await
    }

    /// A service on the given store.
    pub async fn with_store(store: Arc<dyn Store>, folder: TempDir) -> TestApp {
        TestApp::with_fixture(store, folder, FIXTURE).await
    }

    async fn with_fixture(store: Arc<dyn Store>, folder: TempDir, fixture: &str) -> TestApp {
        let clock = Arc::new(ManualClock::at(Timestamp::parse(BEGINNING).unwrap()));
        let entropy = Arc::new(SplitMixEntropy::new(SEED));
        let (now, random): (Arc<dyn Clock>, Arc<dyn EntropySource>) = (clock.clone(), entropy);
        let ledger =
            Ledger::open(store.clone(), now.clone(), random.clone(), LedgerRules::default());
        let upstream = StubUpstream::start().await;
        let config = read_configuration(&fixture.replace(NOWHERE, &upstream.base_url()));
        let ground = EngineEnvironment { clock: now.clone(), entropy: random.clone() };
        let (engines, maker) = build_engines(&config, &ground);
        let (node, site) = (StubNode::start().await, StubSite::start().await);
        let proxy = node::build_proxy(&node, store.as_ref(), now.clone()).await;
        let (ledger, reader) = (Arc::new(ledger.await.unwrap()), Arc::<InProcessReader>::default());
        let (tasks, chain) = (TaskTracker::new(), Arc::new(StubChain::new(clock.clone())));
        let parts = PaymentParts {
            store: store.clone(),
            ledger: ledger.clone(),
            settler: chain.clone(),
            clock: now.clone(),
            tasks: tasks.clone(),
        };
        let app = Arc::new(AppState {
            mcp: mcp_server::build_access(&config),
            wallets: Arc::new(build_wallets(Some(build_payments(parts)))),
            sessions: Arc::new(SessionState::new(&SESSION_SECRET)),
            refused: Arc::new(RefusedCalls::new(now.now())),
            settings: build_settings(&config),
            catalogue: Arc::new(CurrentCatalogue::new(Catalogue::build(config.models).unwrap())),
            jobs: Arc::new(build_jobs(&store, &ledger, &engines, &folder, &now, &random)),
            batches: build_batches(&store, &ledger, &folder, &now, &random),
            engines,
            proxy: Arc::new(proxy),
            web: site.web(&config.scrape, &config.search, reader.clone()),
            keys: Arc::new(build_key_ring(&store, &now, &random)),
            nodes: None,
            background: Arc::default(),
            ledger,
            store,
            limiter: WindowLimiter::default(),
            strangers: AnonymousLimits::default(),
            failures: RecentFailures::default(),
            reader: Arc::clone(&reader) as Arc<dyn InputReader>,
            bodies: Arc::new(BodyMemory::new(BODIES_BYTES_MAX)),
            clock: now,
            entropy: random,
            tasks,
        });
        let (owner, admin_secret) = add_first_account(&app).await;
        let served = ConsoleApp { app: Arc::clone(&app), console: Arc::new(build_console()) };
        TestApp {
            router: api::build_router(served.clone()),
            console: served.console,
            contract: Arc::new(ApiContract::committed()),
            clock: TestClock(clock),
            upstream,
            node,
            site,
            chain,
            maker,
            app,
            admin_secret,
            owner,
            reader,
            folder,
        }
    }

    /// The router of the public listener, for tests with connections of their own.
    pub fn build_router(&self) -> Router {
        let (app, console) = (Arc::clone(&self.app), Arc::clone(&self.console));
        api::build_router(ConsoleApp { app, console })
    }

    /// Restarts the process of the service.
    pub async fn restart(&mut self) {
        let AppState { store, clock, entropy, .. } = &*self.app;
        let (store, clock) = (Arc::clone(store), Arc::clone(clock));
        let parts = (Arc::clone(&store), Arc::clone(&clock), Arc::clone(entropy));
        let ledger = Ledger::open(parts.0, parts.1, parts.2, LedgerRules::default()).await.unwrap();
        let proxy = node::build_proxy(&self.node, store.as_ref(), Arc::clone(&clock)).await;
        let keys = build_key_ring(&store, &clock, entropy);
        let (ledger, tasks) = (Arc::new(ledger), TaskTracker::new());
        let parts = PaymentParts {
            store: Arc::clone(&store),
            ledger: Arc::clone(&ledger),
            settler: self.chain.clone(),
            clock: Arc::clone(&clock),
            tasks: tasks.clone(),
        };
        let engines = Arc::clone(&self.app.engines);
        let jobs = build_jobs(&store, &ledger, &engines, &self.folder, &clock, entropy);
        let jobs = Arc::new(jobs);
        jobs.break_leases().await.unwrap();
        let batches = build_batches(&store, &ledger, &self.folder, &clock, entropy);
        self.app = Arc::new(AppState {
            jobs,
            batches,
            wallets: Arc::new(build_wallets(Some(build_payments(parts)))),
            sessions: Arc::new(SessionState::new(&SESSION_SECRET)),
            refused: Arc::new(RefusedCalls::new(clock.now())),
            settings: self.app.settings.clone(),
            catalogue: Arc::clone(&self.app.catalogue),
            engines: Arc::clone(&self.app.engines),
            proxy: Arc::new(proxy),
            web: Arc::clone(&self.app.web),
            mcp: Arc::clone(&self.app.mcp),
            keys: Arc::new(keys),
            nodes: None,
            background: Arc::default(),
            ledger,
            store,
            limiter: WindowLimiter::default(),
            strangers: AnonymousLimits::default(),
            failures: RecentFailures::default(),
            reader: Arc::clone(&self.app.reader),
            bodies: Arc::new(BodyMemory::new(BODIES_BYTES_MAX)),
            clock,
            entropy: Arc::clone(entropy),
            tasks,
        });
        api::response_worker::break_leases(&self.app).await.unwrap();
        self.router = self.build_router();
    }

    pub(crate) fn rebuild(&mut self, settings: ApiSettings, wallets: Arc<WalletState>) {
        let app = &self.app;
        self.app = Arc::new(AppState {
            jobs: Arc::clone(&app.jobs),
            batches: Arc::clone(&app.batches),
            settings,
            catalogue: Arc::clone(&app.catalogue),
            engines: Arc::clone(&app.engines),
            proxy: Arc::clone(&app.proxy),
            web: Arc::clone(&app.web),
            mcp: Arc::clone(&app.mcp),
            wallets,
            sessions: Arc::clone(&app.sessions),
            refused: Arc::clone(&app.refused),
            keys: Arc::clone(&app.keys),
            nodes: None,
            background: Arc::default(),
            ledger: Arc::clone(&app.ledger),
            store: Arc::clone(&app.store),
            limiter: WindowLimiter::default(),
            strangers: AnonymousLimits::default(),
            failures: RecentFailures::default(),
            reader: Arc::clone(&app.reader),
            bodies: Arc::new(BodyMemory::new(BODIES_BYTES_MAX)),
            clock: Arc::clone(&app.clock),
            entropy: Arc::clone(&app.entropy),
            tasks: app.tasks.clone(),
        });
        self.router = self.build_router();
    }

    /// A wallet that signs in with a new sign-in for each request.
    pub fn signed_in(&self, wallet: &TestWallet) -> TestClient {
        let says = wallet.sign_in_content(self.app.clock.now());
        self.anonymous().with("sign-in-with-x", &wallet.sign_in_header(&says))
    }

    /// Gives a wallet this many dollars.
    pub async fn fund(&self, wallet: &TestWallet, usd: &str) -> OwnerId {
        let address = WalletAddress::parse(&wallet.address()).unwrap();
        let now = self.app.clock.now();
        let store = self.app.store.as_ref();
        let owner = access::wallets::ensure_owner(store, address, now).await.unwrap();
        self.credit(owner.id, BalanceCurrency::Usd, usd).await;
        owner.id
    }

    /// A client without a credential.
    pub fn anonymous(&self) -> TestClient {
        TestClient::new(self.router.clone(), self.contract.clone())
    }

    /// A client with the first ADMIN key.
    pub fn admin(&self) -> TestClient {
        self.anonymous().with_bearer(&self.admin_secret)
    }

    /// A client with a new INFERENCE key.
    pub async fn inference(&self) -> TestClient {
        let settings = key_settings("inference");
        let made = self.app.keys.create(self.owner, KeyKind::Inference, settings).await;
        self.anonymous().with_bearer(&made.unwrap().1)
    }

    /// A client with the ADMIN key of another account, which has no money.
    pub async fn another_account(&self, name: &str) -> TestClient {
        let owner = add_account(&self.app, name).await;
        let made = self.app.keys.create(owner, KeyKind::Admin, key_settings(name)).await;
        self.anonymous().with_bearer(&made.unwrap().1)
    }

    /// A client with the ADMIN key of another account, which has this many dollars.
    pub async fn funded_account(&self, name: &str, usd: &str) -> (OwnerId, TestClient) {
        let owner = add_account(&self.app, name).await;
        self.credit(owner, BalanceCurrency::Usd, usd).await;
        let made = self.app.keys.create(owner, KeyKind::Admin, key_settings(name)).await;
        (owner, self.anonymous().with_bearer(&made.unwrap().1))
    }

    pub async fn credit(&self, owner: OwnerId, currency: BalanceCurrency, amount: &str) {
        let entry = EntryId(time_ordered_id(self.app.clock.now(), self.app.entropy.as_ref()));
        let credit = (currency, Nano::parse(amount).unwrap());
        self.app.ledger.grant(entry, owner, credit, None, Vec::new()).await.unwrap();
    }

    /// The account `default`.
    pub fn owner(&self) -> OwnerId {
        self.owner
    }

    /// Waits for all work to end, checks the ledger and that nothing is held, and returns what the
    /// account `default` has spent of its ten dollars.
    pub async fn verify_spent(&self) -> Nano {
        self.settle_tasks().await;
        let status = self.app.ledger.status();
        assert_eq!(status.open_holds, 0, "every hold must end");
        let report = ledger::verify_books(self.app.store.as_ref()).await.unwrap();
        assert!(report.is_clean(), "{:?}", report.violations);
        let left = self.app.ledger.balances(self.owner).usd;
        assert!(!left.is_negative(), "a balance is never negative");
        Nano::from_units(10).checked_sub(left).unwrap()
    }

    pub fn admin_secret(&self) -> &str {
        &self.admin_secret
    }

    /// Creates a key through the API and returns its `data`.
    pub async fn create_key(&self, body: &Value) -> Value {
        self.admin().post("/api_keys", body).await.ok_json()["data"].clone()
    }

    /// Charges the first key for one unit of work at this price.
    pub async fn charge(&self, usd: &str) {
        let holder = self.app.keys.authenticate(&self.admin_secret).await.unwrap();
        let amount = Nano::parse(usd).unwrap();
        let hold = self.app.ledger.hold(holder.payer(), HoldRange::Exactly(amount.into())).unwrap();
        let line = ChargeLine {
            sku: "test-model-image".to_owned(),
            units: 1,
            rate: UnitRate::at_par(Price::parse(usd, PriceUnits::One).unwrap()),
            per: PriceUnits::One,
        };
        let details = UsageDetails { request_id: "f".repeat(32), ..UsageDetails::default() };
        let charge = WorkCharge {
            lines: vec![line],
            model: "test-model".to_owned(),
            details,
            notes: "API Inference".to_owned(),
        };
        self.app.ledger.settle(hold, charge).await.unwrap();
    }

    /// The number of tasks that the reader received.
    pub fn reader_task_count(&self) -> usize {
        self.reader.tasks.load(Ordering::Relaxed)
    }
}

/// The operator's prompt that is put before the callers' system prompts.
pub const SYSTEM_PROMPT: &str = "Be brief.";

/// A catalogue with every model type and every stage of deprecation.
pub const FIXTURE: &str = include_str!("../fixtures/catalogue.toml");

/// The address of the fixture's first provider, until a test replaces it with a stub.
const NOWHERE: &str = "http://127.0.0.1:1/v1";

/// The catalogue of a configuration.
pub fn build_catalogue(toml: &str) -> Catalogue {
    let models = read_configuration(toml).models;
    Catalogue::build(models).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn read_configuration(toml: &str) -> ServiceConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tollgate.toml");
    std::fs::write(&file, toml).unwrap();
    let request = SourceInputs {
        file: Some(file),
        environment: ProcessEnvironment::default(),
        flags: Vec::new(),
        folder: folder.path().to_owned(),
    };
    let read = ConfigSources::gather(&request).read_for_stub_engines();
    read.unwrap_or_else(|invalid| panic!("{invalid}"))
}

fn build_settings(config: &ServiceConfig) -> ApiSettings {
    let (server, chat, brand) = (&config.server, &config.chat, config.brand.clone());
    let proxies = server.trusted_proxies.clone();
    ApiSettings {
        public_url: "http://testhost".to_owned(),
        host_name: "testhost".to_owned(),
        is_trusted_proxy: Arc::new(move |it| proxies.iter().any(|range| range.contains(it))),
        country_header: server.country_header.as_deref().map(|it| it.parse().unwrap()),
        tiers: Arc::default(),
        blocks_failures: true,
        system_prompt: SYSTEM_PROMPT.to_owned(),
        hosts: Arc::new(HostPolicy::new(chat.media_domains.clone(), Some(Arc::new(TestNames)))),
        watermark: None,
        brand: BrandSettings {
            name: brand.name,
            logo: brand.logo.map(|logo| BrandLogo {
                bytes: logo.bytes.into(),
                content_type: logo.content_type,
            }),
            support_email: brand.support_email,
            terms_url: brand.terms_url,
            privacy_url: brand.privacy_url,
        },
        takes_wallets: true,
        responses: StoredResponseSettings::default(),
    }
}

pub(crate) fn key_settings(description: &str) -> KeySettings {
    KeySettings {
        description: description.to_owned(),
        limit_usd: None,
        limit_diem: None,
        limit_period: LimitPeriod::Epoch,
        expires: None,
        model_privacy: ModelPrivacy::All,
    }
}

/// Engines for all models at the one upstream, and the stub engine for music and videos.
fn build_engines(
    config: &ServiceConfig,
    ground: &EngineEnvironment,
) -> (Arc<CurrentEngines>, Arc<StubMediaEngine>) {
    let engines = engine_wiring::connect_engines(&config.providers, &config.models, None, ground);
    let (mut engines, maker) = (engines.unwrap(), Arc::new(StubMediaEngine::default()));
    for model in &config.models {
        if matches!(model.spec, ModelSpec::Music(_) | ModelSpec::Video(_)) {
            engines.add_media(model, maker.clone());
        }
    }
    (Arc::new(CurrentEngines::new(engines)), maker)
}

/// Adds the account of the first start with its credit; returns it and its ADMIN key.
async fn add_first_account(app: &AppState) -> (OwnerId, String) {
    let owner = add_account(app, "default").await;
    let entry = EntryId(time_ordered_id(app.clock.now(), app.entropy.as_ref()));
    let credit = (BalanceCurrency::Usd, Nano::from_units(10));
    app.ledger.grant(entry, owner, credit, None, Vec::new()).await.unwrap();
    let (_, secret) = app.keys.create(owner, KeyKind::Admin, key_settings("first")).await.unwrap();
    (owner, secret)
}

async fn add_account(app: &AppState, name: &str) -> OwnerId {
    let now = app.clock.now();
    let id = OwnerId(time_ordered_id(now, app.entropy.as_ref()));
    let owner = Owner {
        id,
        kind: OwnerKind::Account,
        name: name.to_owned(),
        tier: "default".to_owned(),
        created: now,
        frozen: None,
    };
    app.store.commit(WriteGroup::from_write(StoreWrite::AddOwner(owner))).await.unwrap();
    id
}
