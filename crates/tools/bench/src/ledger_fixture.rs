//! A ledger on a real database with many owners, for the benchmarks of charges.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::access::{KeyKind, ModelPrivacy};
use domain::entropy::{EntropySource, time_ordered_id};
use domain::secret::SecretDigest;
use ledger::{ChargeLine, Ledger, WorkCharge};
use ledger_core::{
    EntryId, HoldPayer, JournalRecord, KeyId, KeyTerms, LedgerAccount, LedgerRules, LedgerTransfer,
    LimitPeriod, LotKey, LotTag, OwnerId, SystemAccount, SystemKind, TransferCode,
};
use moment::{Clock, SystemClock, Timestamp};
use money::{BalanceCurrency, Nano, Price, PriceUnits, UnitRate};
use store::Store;
use store::key::{ApiKey, KeySettings};
use store::owner::{Owner, OwnerKind};
use store::sqlite::{SqliteOptions, SqliteStore, database_in};
use store::usage::{UsageDetails, UsageRow};
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

pub const OWNERS: u32 = 1000;

/// The initial credit of each owner; no benchmark spends it all.
const CREDIT: Nano = Nano::from_units(1_000_000);

/// Rows per write group while the history is created.
const HISTORY_GROUP: usize = 5_000;

pub fn owner_id(number: u32) -> OwnerId {
    OwnerId(Uuid::from_u128(u128::from(number) + 1))
}

pub fn build_payer(number: u32) -> HoldPayer {
    let (key, limit_usd, limit_diem) = (key_id(number), None, None);
    let terms = KeyTerms { key, limit_usd, limit_diem, period: LimitPeriod::Epoch };
    HoldPayer { owner: owner_id(number), key: Some(terms) }
}

/// The bill of a chat completion: two lines, for prompt and completion.
pub fn chat_charge(tokens: u64) -> WorkCharge {
    let line = |sku: &str, units, picos| ChargeLine {
        sku: sku.into(),
        units,
        rate: UnitRate::at_par(Price::from_picos(picos).expect("a price is not negative")),
        per: PriceUnits::Million,
    };
    WorkCharge {
        lines: vec![
            line("llama-3.3-70b-llm-input-mtoken", tokens * 4, 700_000),
            line("llama-3.3-70b-llm-output-mtoken", tokens, 2_800_000),
        ],
        model: "llama-3.3-70b".into(),
        details: UsageDetails {
            request_id: "0123456789abcdef0123456789abcdef".into(),
            prompt_tokens: Some(tokens * 4),
            completion_tokens: Some(tokens),
            execution_ms: Some(1_234),
            ..UsageDetails::default()
        },
        notes: "API Inference".into(),
    }
}

/// Creates a database with owners, keys, credit and past charges.
pub async fn prepare_database(directory: &Path, past_charges: u64) {
    let store = SqliteStore::open(&SqliteOptions::scratch(database_in(directory)));
    let store = store.expect("a new database should open");
    for number in 0..OWNERS {
        write_rows(&store, build_owner_writes(number)).await;
    }
    let entropy = BenchEntropy::with_random_seed();
    let today = SystemClock.now();
    let mut made = 0;
    while made < past_charges {
        let count = (past_charges - made).min(HISTORY_GROUP as u64);
        let mut writes = Vec::new();
        for number in made..made + count {
            // Spread over the last ninety days, in order.
            let back_ms = (past_charges - number) * 90 * 86_400_000 / past_charges;
            let at = Timestamp::from_ms(today.ms() - i64::try_from(back_ms).unwrap_or(0));
            writes.extend(past_charge(number, at, &entropy));
        }
        write_rows(&store, writes).await;
        made += count;
    }
}

pub async fn open_ledger(directory: &Path) -> (Arc<dyn Store>, Arc<Ledger>) {
    let options = SqliteOptions::durable(database_in(directory));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&options).expect("the database opens"));
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(BenchEntropy::with_random_seed()));
    let ledger = Ledger::open(Arc::clone(&store), clock, entropy, LedgerRules::default()).await;
    (store, Arc::new(ledger.expect("the books are sound")))
}

async fn write_rows(store: &SqliteStore, writes: Vec<StoreWrite>) {
    store.commit(WriteGroup { writes }).await.expect("the rows should be written");
}

fn key_id(number: u32) -> KeyId {
    KeyId(Uuid::from_u128(1 << 100 | u128::from(number)))
}

fn build_owner_writes(number: u32) -> Vec<StoreWrite> {
    let created = Timestamp::from_ms(0);
    let mut digest = [0; 32];
    digest[..4].copy_from_slice(&number.to_be_bytes());
    let key = ApiKey {
        id: key_id(number),
        owner: owner_id(number),
        digest: SecretDigest(digest),
        last6: "abcdef".into(),
        kind: KeyKind::Inference,
        settings: KeySettings {
            description: format!("key {number}"),
            limit_usd: None,
            limit_diem: None,
            limit_period: LimitPeriod::Epoch,
            expires: None,
            model_privacy: ModelPrivacy::All,
        },
        created,
        last_used: None,
        revoked: None,
    };
    let owner = Owner {
        id: owner_id(number),
        kind: OwnerKind::Account,
        name: format!("owner-{number}"),
        tier: "default".into(),
        created,
        frozen: None,
    };
    let lot = LotKey { owner: owner.id, currency: BalanceCurrency::Usd, tag: LotTag::Main };
    let credit = LedgerTransfer {
        entry: EntryId(Uuid::from_u128(1 << 101 | u128::from(number))),
        leg: 0,
        debit: system_account(SystemKind::Issuance),
        credit: LedgerAccount::Lot(lot),
        amount: CREDIT,
        code: TransferCode::Grant,
        at: created,
        key: None,
    };
    vec![
        StoreWrite::AddOwner(owner),
        StoreWrite::AddKey { key, active_keys_max: 500 },
        StoreWrite::Journal(JournalRecord::LotOpened { lot, opened_at: created, expires_at: None }),
        StoreWrite::Journal(JournalRecord::Transfer(credit)),
    ]
}

/// One transfer and one usage row, as a settle leaves them.
fn past_charge(number: u64, at: Timestamp, entropy: &BenchEntropy) -> [StoreWrite; 2] {
    let payer = u32::try_from(number % u64::from(OWNERS)).unwrap_or(0);
    let charge = EntryId(time_ordered_id(at, entropy));
    let lot = LotKey { owner: owner_id(payer), currency: BalanceCurrency::Usd, tag: LotTag::Main };
    let amount = Nano::from_nanos(500);
    let transfer = LedgerTransfer {
        entry: charge,
        leg: 0,
        debit: LedgerAccount::Lot(lot),
        credit: system_account(SystemKind::Revenue),
        amount,
        code: TransferCode::Charge,
        at,
        key: None,
    };
    let bill = chat_charge(1);
    let row = UsageRow {
        charge,
        owner: owner_id(payer),
        key: Some(key_id(payer)),
        at,
        sku: bill.lines[1].sku.clone(),
        model: bill.model,
        currency: BalanceCurrency::Usd,
        units: 100,
        price: bill.lines[1].rate.usd,
        per: PriceUnits::Million,
        amount,
        details: bill.details,
        notes: bill.notes,
    };
    [StoreWrite::Journal(JournalRecord::Transfer(transfer)), StoreWrite::AddUsage(row)]
}

fn system_account(kind: SystemKind) -> LedgerAccount {
    LedgerAccount::System(SystemAccount { currency: BalanceCurrency::Usd, kind })
}

/// Fast and different in each run; not for secrets.
struct BenchEntropy(AtomicU64);

impl BenchEntropy {
    fn with_random_seed() -> BenchEntropy {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).expect("the machine has randomness");
        BenchEntropy(AtomicU64::new(u64::from_le_bytes(seed)))
    }
}

impl EntropySource for BenchEntropy {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            let number = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            let mixed = (number ^ (number >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 29)).to_le_bytes();
            part.copy_from_slice(&mixed[..part.len()]);
        }
    }
}
