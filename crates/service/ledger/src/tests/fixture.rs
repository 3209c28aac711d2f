//! A ledger on a database of its own, with a clock that a test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::access::{KeyKind, ModelPrivacy};
use domain::entropy::EntropySource;
use domain::secret::SecretDigest;
use ledger_core::{
    EntryId, HoldPayer, HoldRange, KeyId, KeyTerms, LedgerRules, LimitPeriod, OwnerId,
    PaymentNetwork,
};
use moment::{ManualClock, Timestamp};
use money::{Nano, Price, PriceUnits, UnitRate};
use store::Store;
use store::claim::{ClaimCredit, ClaimId, ClaimState, ClaimStep, PaymentClaim, SentPayment};
use store::key::{ApiKey, KeySettings};
use store::owner::{Owner, OwnerKind};
use store::sqlite::{SqliteOptions, SqliteStore, database_in};
use store::usage::{PageRequest, UsageDetails, UsageFilter, UsageOrder, UsageRow};
use store::write::{StoreWrite, WriteGroup};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{ChargeLine, Ledger, WorkCharge, verify_books};

pub(crate) const NOON: &str = "2026-11-15T12:00:00Z";

pub(crate) struct World {
    pub(crate) directory: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    entropy: Arc<Counting>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ledger: Arc<Ledger>,
}

/// Bytes that differ from call to call and are the same in every run.
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

/// One owner, number 1, with a key and no money.
pub(crate) async fn world() -> World {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(&scratch(&directory)).unwrap());
    add_owner(&*store, 1).await;
    world_on(directory, store).await
}

pub(crate) async fn world_on(directory: TempDir, store: Arc<dyn Store>) -> World {
    let clock = Arc::new(ManualClock::at(Timestamp::parse(NOON).unwrap()));
    open(directory, clock, Arc::new(Counting::default()), store).await
}

async fn open(
    directory: TempDir,
    clock: Arc<ManualClock>,
    entropy: Arc<Counting>,
    store: Arc<dyn Store>,
) -> World {
    let (time, randomness) = (Arc::clone(&clock), Arc::clone(&entropy));
    let ledger = Ledger::open(Arc::clone(&store), time, randomness, LedgerRules::default()).await;
    World { directory, clock, entropy, store, ledger: Arc::new(ledger.unwrap()) }
}

pub(crate) fn scratch(directory: &TempDir) -> SqliteOptions {
    SqliteOptions::scratch(database_in(directory.path()))
}

pub(crate) async fn add_owner(store: &dyn Store, number: u8) {
    let created = Timestamp::parse(NOON).unwrap();
    let owner = Owner {
        id: owner(number),
        kind: OwnerKind::Account,
        name: format!("owner-{number}"),
        tier: "default".into(),
        created,
        frozen: None,
    };
    store.commit(WriteGroup::from_write(StoreWrite::AddOwner(owner))).await.unwrap();
    add_key(store, number, number).await;
}

pub(crate) async fn add_key(store: &dyn Store, of_owner: u8, number: u8) {
    let key = ApiKey {
        id: key(number),
        owner: owner(of_owner),
        digest: SecretDigest([number; 32]),
        last6: "abcdef".into(),
        kind: KeyKind::Inference,
        settings: KeySettings {
            description: String::new(),
            limit_usd: None,
            limit_diem: None,
            limit_period: LimitPeriod::Epoch,
            expires: None,
            model_privacy: ModelPrivacy::All,
        },
        created: Timestamp::parse(NOON).unwrap(),
        last_used: None,
        revoked: None,
    };
    store
        .commit(WriteGroup::from_write(StoreWrite::AddKey { key, active_keys_max: 500 }))
        .await
        .unwrap();
}

pub(crate) fn owner(number: u8) -> OwnerId {
    OwnerId(Uuid::from_bytes([number; 16]))
}

pub(crate) fn key(number: u8) -> KeyId {
    KeyId(Uuid::from_bytes([number | 0x80; 16]))
}

pub(crate) fn entry(number: u128) -> EntryId {
    EntryId(Uuid::from_u128(number))
}

pub(crate) fn base() -> PaymentNetwork {
    PaymentNetwork::parse("base").unwrap()
}

/// Owner 1 as payer, without a key.
pub(crate) fn wallet() -> HoldPayer {
    HoldPayer { owner: owner(1), key: None }
}

/// Owner 1 as payer, through a key without limits.
pub(crate) fn through(number: u8) -> HoldPayer {
    let (limit_usd, limit_diem, period) = (None, None, LimitPeriod::Epoch);
    HoldPayer {
        owner: owner(1),
        key: Some(KeyTerms { key: key(number), limit_usd, limit_diem, period }),
    }
}

pub(crate) fn nanos(nanos: i64) -> Nano {
    Nano::from_nanos(nanos)
}

pub(crate) fn exactly(amount: i64) -> HoldRange {
    HoldRange::Exactly(nanos(amount).into())
}

/// A bill of one line that comes to `nanos`.
pub(crate) fn cost(nanos: u64) -> WorkCharge {
    let line = ChargeLine {
        sku: "llama-output-mtoken".into(),
        units: nanos,
        rate: UnitRate::at_par(Price::from_nanos(1).unwrap()),
        per: PriceUnits::Million,
    };
    let details = UsageDetails { request_id: "0a1b".into(), ..UsageDetails::default() };
    WorkCharge { lines: vec![line], model: "llama".into(), details, notes: "API Inference".into() }
}

/// The rows of a payment that was settled on its chain and is credited as entry `number`.
pub(crate) fn settled(number: u128, amount: Nano) -> Vec<StoreWrite> {
    let at = Timestamp::parse(NOON).unwrap();
    let mut nonce = [0; 32];
    nonce[..16].copy_from_slice(&number.to_be_bytes());
    let mut id = ClaimId([0; 20]);
    id.0[..16].copy_from_slice(&number.to_be_bytes());
    let claim = PaymentClaim {
        id,
        network: base().name().to_owned(),
        asset: "usdc".into(),
        payer: "0x1".into(),
        nonce,
        pay_to: "0x2".into(),
        units: 1,
        payment: "{}".into(),
        state: ClaimState::Verified,
        sent: SentPayment::default(),
        sent_at: None,
        credit: None,
        reason: None,
        created: at,
        changed: at,
    };
    let credit = ClaimCredit { entry: entry(number), amount };
    let step = ClaimStep::Credit { transaction: format!("0x{number:x}"), credit };
    let from = ClaimState::Verified;
    vec![StoreWrite::OpenClaim(claim), StoreWrite::AdvanceClaim { claim: id, from, step, at }]
}

impl World {
    pub(crate) async fn top_up(&self, number: u128, amount: i64) {
        let (amount, also) = (nanos(amount), settled(number, nanos(amount)));
        let topped_up = self.ledger.top_up(entry(number), owner(1), base(), amount, also).await;
        assert!(!topped_up.unwrap().is_repeat);
    }

    /// Closes everything and starts again from the database.
    pub(crate) async fn restart(self) -> World {
        let World { directory, clock, entropy, store, ledger } = self;
        drop((store, ledger));
        let store = Arc::new(SqliteStore::open(&scratch(&directory)).unwrap());
        open(directory, clock, entropy, store).await
    }

    #[track_caller]
    pub(crate) fn expect_usd(&self, expected: i64) {
        assert_eq!(self.ledger.balances(owner(1)).usd, nanos(expected));
    }

    /// Asserts that memory, rows and journal agree, and that every invariant holds.
    pub(crate) async fn expect_sound(&self) {
        assert_eq!(self.ledger.reconcile().await.unwrap().difference_nano, 0);
        assert_eq!(verify_books(&*self.store).await.unwrap().violations, []);
    }

    pub(crate) async fn usage(&self) -> Vec<UsageRow> {
        let filter = UsageFilter {
            owner: owner(1),
            currency: None,
            from: Timestamp::from_ms(0),
            until: Timestamp::MAX,
        };
        let page = PageRequest { order: UsageOrder::OldestFirst, skip: 0, size: 1000 };
        self.store.usage_page(filter, page).await.unwrap().rows
    }

    pub(crate) async fn used(&self) -> i64 {
        self.usage().await.iter().map(|row| row.amount.nanos()).sum()
    }
}
