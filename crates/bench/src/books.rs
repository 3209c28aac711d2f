//! A ledger on a real database with many owners, for the benchmarks of charges.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use credits::{
    Account, EntryId, KeyId, KeyTerms, LimitPeriod, LotKey, LotTag, OwnerId, Payer, Record, Rules,
    SystemAccount, SystemKind, Transfer, TransferCode,
};
use domain::access::{KeyKind, ModelPrivacy};
use domain::entropy::{Entropy, time_ordered_id};
use domain::secret::SecretDigest;
use ledger::{Charge, ChargeLine, Ledger};
use moment::{Clock, SystemClock, Timestamp};
use money::{Currency, Nano, Per, Price, Rate};
use store::Store;
use store::key::{ApiKey, KeySettings};
use store::owner::{Owner, OwnerKind};
use store::sqlite::{Options, Sqlite, database_in};
use store::usage::{UsageDetails, UsageRow};
use store::write::{Group, Write};
use uuid::Uuid;

pub const OWNERS: u32 = 1000;

/// The initial credit of each owner; no benchmark spends it all.
const CREDIT: Nano = Nano::from_units(1_000_000);

/// Rows per write group while the history is created.
const HISTORY_GROUP: usize = 5_000;

pub fn owner(number: u32) -> OwnerId {
    OwnerId(Uuid::from_u128(u128::from(number) + 1))
}

pub fn payer(number: u32) -> Payer {
    let (key, limit_usd, limit_diem) = (key(number), None, None);
    let terms = KeyTerms { key, limit_usd, limit_diem, period: LimitPeriod::Epoch };
    Payer { owner: owner(number), key: Some(terms) }
}

/// The bill of a chat completion: two lines, for prompt and completion.
pub fn chat_charge(tokens: u64) -> Charge {
    let line = |sku: &str, units, picos| ChargeLine {
        sku: sku.into(),
        units,
        rate: Rate::at_par(Price::from_picos(picos).expect("a price is not negative")),
        per: Per::Million,
    };
    Charge {
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
        },
        notes: "API Inference".into(),
    }
}

/// Creates a database with owners, keys, credit and past charges.
pub async fn prepare(directory: &Path, past_charges: u64) {
    let store = Sqlite::open(&Options::scratch(database_in(directory)));
    let store = store.expect("a new database should open");
    for number in 0..OWNERS {
        write(&store, furnishing(number)).await;
    }
    let entropy = Counting::seeded();
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
        write(&store, writes).await;
        made += count;
    }
}

pub async fn open(directory: &Path) -> (Arc<dyn Store>, Arc<Ledger>) {
    let options = Options::durable(database_in(directory));
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&options).expect("the database opens"));
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(Counting::seeded()));
    let ledger = Ledger::open(Arc::clone(&store), clock, entropy, Rules::default()).await;
    (store, Arc::new(ledger.expect("the books are sound")))
}

async fn write(store: &Sqlite, writes: Vec<Write>) {
    store.commit(Group { writes }).await.expect("the rows should be written");
}

fn key(number: u32) -> KeyId {
    KeyId(Uuid::from_u128(1 << 100 | u128::from(number)))
}

fn furnishing(number: u32) -> Vec<Write> {
    let created = Timestamp::from_ms(0);
    let mut digest = [0; 32];
    digest[..4].copy_from_slice(&number.to_be_bytes());
    let key = ApiKey {
        id: key(number),
        owner: owner(number),
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
        id: owner(number),
        kind: OwnerKind::Account,
        name: format!("owner-{number}"),
        tier: "default".into(),
        created,
        frozen: None,
    };
    let lot = LotKey { owner: owner.id, currency: Currency::Usd, tag: LotTag::Main };
    let credit = Transfer {
        entry: EntryId(Uuid::from_u128(1 << 101 | u128::from(number))),
        leg: 0,
        debit: system(SystemKind::Issuance),
        credit: Account::Lot(lot),
        amount: CREDIT,
        code: TransferCode::Grant,
        at: created,
        key: None,
    };
    vec![
        Write::AddOwner(owner),
        Write::AddKey { key, active_keys_max: 500 },
        Write::Journal(Record::LotOpened { lot, opened_at: created, expires_at: None }),
        Write::Journal(Record::Transfer(credit)),
    ]
}

/// One transfer and one usage row, as a settle leaves them.
fn past_charge(number: u64, at: Timestamp, entropy: &Counting) -> [Write; 2] {
    let payer = u32::try_from(number % u64::from(OWNERS)).unwrap_or(0);
    let charge = EntryId(time_ordered_id(at, entropy));
    let lot = LotKey { owner: owner(payer), currency: Currency::Usd, tag: LotTag::Main };
    let amount = Nano::from_nanos(500);
    let transfer = Transfer {
        entry: charge,
        leg: 0,
        debit: Account::Lot(lot),
        credit: system(SystemKind::Revenue),
        amount,
        code: TransferCode::Charge,
        at,
        key: None,
    };
    let bill = chat_charge(1);
    let row = UsageRow {
        charge,
        owner: owner(payer),
        key: Some(key(payer)),
        at,
        sku: bill.lines[1].sku.clone(),
        model: bill.model,
        currency: Currency::Usd,
        units: 100,
        price: bill.lines[1].rate.usd,
        per: Per::Million,
        amount,
        details: bill.details,
        notes: bill.notes,
    };
    [Write::Journal(Record::Transfer(transfer)), Write::AddUsage(row)]
}

fn system(kind: SystemKind) -> Account {
    Account::System(SystemAccount { currency: Currency::Usd, kind })
}

/// Fast and different in each run; not for secrets.
struct Counting(AtomicU64);

impl Counting {
    fn seeded() -> Counting {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).expect("the machine has randomness");
        Counting(AtomicU64::new(u64::from_le_bytes(seed)))
    }
}

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            let number = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            let mixed = (number ^ (number >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 29)).to_le_bytes();
            part.copy_from_slice(&mixed[..part.len()]);
        }
    }
}
