//! A queue with its own database, a scripted engine, and a clock that a test advances.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use domain::entropy::EntropySource;
use engine::{
    EngineError, MediaEngine, MediaFile, MediaRequest, MediaStatus, MediaTicket, MusicRequest,
};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use ledger::{ChargeLine, Ledger, WorkCharge};
use ledger_core::{EntryId, HoldPayer, LedgerRules, OwnerId};
use media_store::MediaStore;
use moment::{Clock, ManualClock, Timestamp};
use money::{BalanceCurrency, Nano, Price, PriceUnits, UnitRate};
use store::Store;
use store::job::{JobFilter, JobId, JobKind, JobState, QueuedJob};
use store::owner::{Owner, OwnerKind};
use store::sqlite::{SqliteOptions, SqliteStore, database_in};
use store::usage::UsageDetails;
use store::write::{StoreWrite, WriteGroup};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    EngineLookup, JobQueue, LinkSecret, NewJob, QueueDependencies, QueueError, QueueSettings,
};

/// The price of each job, in nano-dollars.
pub(crate) const PRICE: i64 = 600;
pub(crate) const STARTING: i64 = 10_000_000;
/// Maximum advances of the clock before a job must have ended.
const ROUNDS_MAX: usize = 400;

pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) jobs: Arc<JobQueue>,
    pub(crate) engine: Arc<Script>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) media: MediaStore,
    pub(crate) settings: QueueSettings,
    entropy: Arc<Counting>,
    pub(crate) folder: Arc<TempDir>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
pub(crate) struct Counting(AtomicU64);

impl EntropySource for Counting {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, of_count) in bytes.iter_mut().rev().zip(count.into_iter().rev()) {
            *byte = of_count;
        }
    }
}

/// The engine's responses, in order; the last one is repeated.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) submits: Mutex<Vec<Result<(), EngineError>>>,
    pub(crate) looks: Mutex<Vec<Result<MediaStatus, EngineError>>>,
    pub(crate) fetches: Mutex<Vec<Result<Vec<u8>, EngineError>>>,
    pub(crate) knows_names: bool,
    pub(crate) cancels: bool,
    /// If set, the next submission panics.
    pub(crate) panics: AtomicBool,
    /// Accepted submissions per job.
    pub(crate) taken: Mutex<HashMap<String, usize>>,
    pub(crate) order: Mutex<Vec<String>>,
    pub(crate) looked: AtomicUsize,
    pub(crate) cancelled: AtomicUsize,
}

impl Script {
    fn next<T: Clone>(answers: &Mutex<Vec<T>>) -> Option<T> {
        let mut answers = answers.lock().unwrap();
        if 1 < answers.len() { Some(answers.remove(0)) } else { answers.first().cloned() }
    }
}

impl MediaEngine for Script {
    fn submit<'a>(
        &'a self,
        name: &'a str,
        _: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<MediaTicket, EngineError>> {
        Box::pin(async move {
            assert!(!self.panics.swap(false, Ordering::SeqCst), "a test asked for this panic");
            Script::next(&self.submits).unwrap_or(Ok(()))?;
            *self.taken.lock().unwrap().entry(name.to_owned()).or_default() += 1;
            self.order.lock().unwrap().push(name.to_owned());
            Ok(MediaTicket(format!("at-provider-{name}")))
        })
    }

    fn poll_status<'a>(
        &'a self,
        _: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaStatus, EngineError>> {
        self.looked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Script::next(&self.looks).unwrap_or(Ok(MediaStatus::Done)) })
    }

    fn download<'a>(&'a self, _: &'a MediaTicket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let bytes = Script::next(&self.fetches).unwrap_or_else(|| Ok(sound()))?;
            let pieces: Vec<Result<Bytes, EngineError>> =
                bytes.chunks(7).map(|it| Ok(Bytes::copy_from_slice(it))).collect();
            Ok(MediaFile { bytes: stream::iter(pieces).boxed() })
        })
    }

    fn cancel<'a>(&'a self, _: &'a MediaTicket) -> BoxFuture<'a, Result<bool, EngineError>> {
        self.cancelled.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(self.cancels) })
    }

    fn has_idempotent_submit(&self) -> bool {
        self.knows_names
    }
}

pub(crate) fn sound() -> Vec<u8> {
    [b"RIFF\0\0\0\0WAVEfmt ".as_slice(), &[5; 300]].concat()
}

pub(crate) fn owner(number: u8) -> OwnerId {
    OwnerId(Uuid::from_bytes([number; 16]))
}

pub(crate) fn open_store(folder: &TempDir) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&SqliteOptions::scratch(database_in(folder.path()))).unwrap())
}

pub(crate) async fn world(script: Script) -> World {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder);
    world_on(
        store,
        folder,
        script,
        QueueSettings { look_every: Duration::from_millis(1), ..QueueSettings::default() },
    )
    .await
}

/// Creates three owners with a balance each.
pub(crate) async fn world_on(
    store: Arc<dyn Store>,
    folder: TempDir,
    script: Script,
    settings: QueueSettings,
) -> World {
    let clock = Arc::new(ManualClock::at(Timestamp::parse("2026-11-15T12:00:00Z").unwrap()));
    let entropy = Arc::new(Counting::default());
    for number in 1..=3 {
        let owner = Owner {
            id: owner(number),
            kind: OwnerKind::Account,
            name: format!("owner-{number}"),
            tier: "default".into(),
            created: clock.now(),
            frozen: None,
        };
        store.commit(WriteGroup::from_write(StoreWrite::AddOwner(owner))).await.unwrap();
    }
    let world =
        assemble(store, Arc::new(folder), Arc::new(script), (clock, entropy), settings).await;
    for number in 1..=3 {
        let entry = EntryId(Uuid::from_u128(u128::from(number) + 1_000_000_000));
        let credit = (BalanceCurrency::Usd, Nano::from_nanos(STARTING));
        world.ledger.grant(entry, owner(number), credit, None, Vec::new()).await.unwrap();
    }
    world
}

async fn assemble(
    store: Arc<dyn Store>,
    folder: Arc<TempDir>,
    engine: Arc<Script>,
    (clock, entropy): (Arc<ManualClock>, Arc<Counting>),
    settings: QueueSettings,
) -> World {
    let ledger =
        Ledger::open(store.clone(), clock.clone(), entropy.clone(), LedgerRules::default());
    let ledger = Arc::new(ledger.await.unwrap());
    let media = MediaStore::open_directory(&folder.path().join("media")).unwrap();
    let for_jobs: Arc<Script> = engine.clone();
    let engine_of: EngineLookup = Arc::new(move |_| Some(for_jobs.clone() as Arc<dyn MediaEngine>));
    let parts = QueueDependencies {
        store: store.clone(),
        ledger: ledger.clone(),
        media: media.clone(),
        engine_of,
        clock: clock.clone(),
        entropy: entropy.clone(),
        links: LinkSecret([3; 32]),
    };
    let jobs = Arc::new(JobQueue::new(parts, settings.clone()));
    jobs.break_leases().await.unwrap();
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    World { store, ledger, jobs, engine, clock, media, settings, entropy, folder, tasks, stop }
}

impl World {
    /// The world after a restart of the process, on this store.
    pub(crate) async fn restart(self, store: Arc<dyn Store>) -> World {
        let World { folder, engine, clock, entropy, settings, .. } = self;
        assemble(store, folder, engine, (clock, entropy), settings).await
    }

    pub(crate) async fn add(&self, of_owner: u8) -> Result<JobId, QueueError> {
        self.jobs.add(new_job(of_owner), |_| Vec::new()).await
    }

    /// Claims all due jobs, and waits until all of them have stopped.
    pub(crate) async fn round(&self) {
        self.jobs.claim_due_jobs(&self.tasks, &self.stop).await.unwrap();
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }

    pub(crate) fn begin(&self) -> impl Future<Output = ()> + use<> {
        let (jobs, tasks, stop) = (self.jobs.clone(), self.tasks.clone(), self.stop.clone());
        async move { jobs.claim_due_jobs(&tasks, &stop).await.unwrap() }
    }

    /// Runs until no job is open, and advances the clock when all jobs wait.
    pub(crate) async fn to_the_end(&self) {
        for _ in 0..ROUNDS_MAX {
            self.round().await;
            if self.open().await.is_empty() {
                return;
            }
            self.clock.advance(Duration::from_secs(300));
        }
        panic!("jobs have not ended: {:?}", self.open().await);
    }

    /// Works like the queue itself until no job can be claimed. Returns the maximum of running
    /// jobs.
    pub(crate) async fn drain(&self) -> usize {
        let mut most = 0;
        loop {
            self.jobs.claim_due_jobs(&self.tasks, &self.stop).await.unwrap();
            let under_way = self.jobs.lock().under_way.len();
            most = most.max(under_way);
            if under_way == 0 {
                return most;
            }
            self.jobs.added.notified().await;
        }
    }

    pub(crate) async fn open(&self) -> Vec<QueuedJob> {
        let filter = JobFilter { open_only: true, limit: 1000, ..JobFilter::default() };
        self.store.list_jobs(filter).await.unwrap()
    }

    pub(crate) async fn all(&self) -> Vec<QueuedJob> {
        let mut all: Vec<QueuedJob> = Vec::new();
        loop {
            let before = all.last().map(|job| job.id);
            let filter = JobFilter { before, limit: 1000, ..JobFilter::default() };
            let page = self.store.list_jobs(filter).await.unwrap();
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }

    pub(crate) async fn job(&self, id: JobId) -> QueuedJob {
        self.store.job(id).await.unwrap().unwrap()
    }

    /// Asserts that each job ended once, each hold was resolved once, and media match their rows.
    pub(crate) async fn expect_sound(&self) {
        assert_eq!(self.ledger.status().open_holds, 0, "every hold must end");
        let report = ledger::verify_books(self.store.as_ref()).await.unwrap();
        assert!(report.is_clean(), "{:?}", report.violations);
        let jobs = self.all().await;
        let objects = self.media.written_before(Timestamp::MAX).await.unwrap();
        for number in 1..=3 {
            let completed = jobs
                .iter()
                .filter(|it| it.owner == owner(number) && it.state == JobState::Completed)
                .count();
            let paid = PRICE * i64::try_from(completed).unwrap();
            let left = self.ledger.balances(owner(number)).usd;
            assert_eq!(left, Nano::from_nanos(STARTING - paid), "owner {number}: {jobs:?}");
        }
        let mut objects: HashSet<Uuid> = objects.into_iter().collect();
        for job in jobs {
            assert!(!job.state.is_open(), "{job:?}");
            let Some(id) = job.media else { continue };
            let media = self.store.media(id).await.unwrap().expect("a row for each result");
            let opened = self.jobs.open(media.clone(), 0..media.bytes).unwrap();
            let bytes: Vec<Bytes> = opened.bytes.map(Result::unwrap).collect().await;
            assert_eq!(bytes.concat(), sound());
            assert!(objects.remove(&id.0), "an object for each row, and one row for it");
        }
        // Orphans are swept by age, which real files do not have yet.
        for orphan in objects {
            let id = store::media::MediaId(orphan);
            assert_eq!(self.store.known_media(vec![id]).await.unwrap(), []);
        }
    }
}

pub(crate) fn new_job(of_owner: u8) -> NewJob {
    let rate = UnitRate::at_par(Price::from_nanos(PRICE).unwrap());
    let line = ChargeLine { sku: "m-music".into(), units: 1, rate, per: PriceUnits::One };
    let charge = WorkCharge {
        lines: vec![line],
        model: "m".into(),
        details: UsageDetails::default(),
        notes: "API Inference".into(),
    };
    NewJob {
        payer: HoldPayer { owner: owner(of_owner), key: None },
        kind: JobKind::Music,
        model: "m".into(),
        request: MediaRequest::Music(MusicRequest {
            prompt: "calm".into(),
            ..MusicRequest::default()
        }),
        charge,
        request_id: "f".repeat(32),
        alternative: Some("other".into()),
        has_link: false,
    }
}
