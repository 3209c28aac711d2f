//! Kills a process that is charging, repeatedly, and then counts the money.
//!
//! The test starts itself as a child that settles as fast as it can and prints each charge once it
//! was acknowledged. The parent reads some of them and kills the child with SIGKILL. Every printed
//! charge must be in the journal, once and exact; the next child continues with the same database.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use domain::access::{KeyKind, ModelPrivacy};
use domain::entropy::EntropySource;
use domain::secret::SecretDigest;
use ledger::{ChargeLine, Ledger, WorkCharge, verify_books};
use ledger_core::{
    EntryId, HoldPayer, HoldRange, KeyId, KeyTerms, LedgerRules, LimitPeriod, OwnerId,
};
use moment::{Clock, SystemClock, Timestamp};
use money::{BalanceCurrency, Nano, Price, PriceUnits, UnitRate};
use store::Store;
use store::key::{ApiKey, KeySettings};
use store::owner::{Owner, OwnerKind};
use store::sqlite::{SqliteOptions, SqliteStore, database_in};
use store::usage::{DayRange, UsageDetails};
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

const NAME: &str = "no_acknowledged_settle_is_lost_or_doubled_by_kill_9";
const KILLS: u64 = 25;
const CALLERS: u64 = 64;
const OWNER: OwnerId = OwnerId(Uuid::from_u128(1));
const KEY: KeyId = KeyId(Uuid::from_u128(2));

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if let [first, directory] = arguments.as_slice()
        && first == "child"
    {
        return block_on(charge_until_killed(Path::new(directory)));
    }
    if has("--list") {
        // Arguments with which test runners list the names of tests.
        if !has("--ignored") {
            tell(&format!("{NAME}: test"));
        }
        return;
    }
    block_on(kill_again_and_again());
    tell(&format!("test {NAME} ... ok"));
}

fn block_on(work: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
    runtime.expect("a runtime should start").block_on(work);
}

async fn kill_again_and_again() {
    let directory = tempfile::tempdir().expect("a directory should be made");
    let mut acknowledged: HashMap<EntryId, i64> = HashMap::new();
    let mut unposted = 0;
    for round in 0..KILLS {
        // The child dies at another point each time: at its first charges, amid a batch, or after
        // many commits.
        let charges = 1 + (round * 7919) % 600;
        let read = kill_after(directory.path(), charges);
        assert!(charges <= u64::try_from(read.len()).expect("small"));
        for (entry, nanos) in read {
            assert_eq!(acknowledged.insert(entry, nanos), None, "{entry:?} was charged twice");
        }
        unposted += u64::from(has_unposted(directory.path()));
        expect_all(directory.path(), &acknowledged).await;
    }
    assert!(0 < unposted, "some child should die with charges in its log");
    let count = acknowledged.len();
    tell(&format!(
        "{KILLS} kills, {unposted} of them with charges still to be posted, {count} acknowledged \
         settles, none lost, none doubled"
    ));
}

/// True if the log has charges that are not yet in the tables. Works on a copy, so that the store
/// finds the files as the kill left them.
fn has_unposted(directory: &Path) -> bool {
    let copy = tempfile::tempdir().expect("a directory should be made");
    let (from, to) = (database_in(directory), database_in(copy.path()));
    let beside = |path: &Path, end: &str| format!("{}{end}", path.display());
    for end in ["", "-wal"] {
        std::fs::copy(beside(&from, end), beside(&to, end)).expect("the file should be copied");
    }
    let connection = rusqlite::Connection::open(&to).expect("the copy should open");
    let sql = "SELECT EXISTS (SELECT 1 FROM charge_log)";
    connection.query_row(sql, [], |row| row.get(0)).expect("the log should be read")
}

/// Asserts that every acknowledged charge is in the journal, once and exact, and that the books are
/// sound.
async fn expect_all(directory: &Path, acknowledged: &HashMap<EntryId, i64>) {
    let store = open(directory);
    let mut journal: HashMap<EntryId, i64> = HashMap::new();
    let mut after_seq = 0;
    loop {
        let entries =
            store.read_journal(after_seq, 10_000).await.expect("the journal should be read");
        let Some(last) = entries.last() else { break };
        after_seq = last.seq;
        for entry in entries {
            *journal.entry(entry.transfer.entry).or_default() += entry.transfer.amount.nanos();
        }
    }
    for (entry, nanos) in acknowledged {
        assert_eq!(journal.get(entry), Some(nanos), "{entry:?} was acknowledged");
    }
    let report = verify_books(&*store).await.expect("the books should be read");
    assert_eq!(report.violations, []);

    let ledger = open_ledger(Arc::clone(&store)).await;
    assert_eq!(ledger.reconcile().await.expect("reconciled").difference_nano, 0);
    let charged: i64 = journal.values().sum::<i64>() - Nano::from_units(1_000_000).nanos();
    let left = Nano::from_units(1_000_000).nanos() - charged;
    assert_eq!(ledger.balances(OWNER).usd.nanos(), left);
    let days = DayRange { first: 0, last: i64::MAX };
    let by_key = store.usage_by_key(OWNER, days).await.expect("the sums should be read");
    assert_eq!(by_key.iter().map(|row| row.amount.nanos()).sum::<i64>(), charged);
}

/// Starts a child, reads `charges` acknowledgements, kills it, and reads the rest of its output.
fn kill_after(directory: &Path, charges: u64) -> Vec<(EntryId, i64)> {
    let this = std::env::current_exe().expect("a test knows where it lies");
    let mut child = Command::new(this)
        .arg("child")
        .arg(directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child should start");
    let printed = child.stdout.take().expect("its output is piped");
    let mut read = Vec::new();
    for line in BufReader::new(printed).lines() {
        let line = line.expect("the output should be read");
        // A line that the kill has truncated is ignored.
        let Some((entry, nanos)) = parse(&line) else { continue };
        read.push((entry, nanos));
        if charges == u64::try_from(read.len()).expect("small") {
            child.kill().expect("a child should be killed");
        }
    }
    let status = child.wait().expect("a child should end");
    assert!(!status.success(), "the child should be killed, not end by itself");
    read
}

fn parse(line: &str) -> Option<(EntryId, i64)> {
    let (entry, rest) = line.split_once(' ')?;
    let nanos = rest.strip_suffix('.')?;
    Some((EntryId(Uuid::try_parse(entry).ok()?), nanos.parse().ok()?))
}

async fn charge_until_killed(directory: &Path) {
    let store = open(directory);
    furnish(&*store).await;
    let ledger = Arc::new(open_ledger(Arc::clone(&store)).await);
    let amount = (BalanceCurrency::Usd, Nano::from_units(1_000_000));
    let granted = ledger.grant(EntryId(Uuid::from_u128(3)), OWNER, amount, None, Vec::new());
    granted.await.expect("money should arrive, or be there");
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let ledger = Arc::clone(&ledger);
        callers.spawn(async move {
            for number in 0..u64::MAX {
                charge_once(&ledger, 1 + (caller * 31 + number) % 997).await;
            }
        });
    }
    callers.join_all().await;
}

async fn charge_once(ledger: &Ledger, units: u64) {
    let (limit_usd, limit_diem) = (None, None);
    let terms = KeyTerms { key: KEY, limit_usd, limit_diem, period: LimitPeriod::Epoch };
    let payer = HoldPayer { owner: OWNER, key: Some(terms) };
    let want = HoldRange::Exactly(Nano::from_nanos(1_000_000).into());
    let hold = ledger.hold(payer, want).expect("there is money enough");
    let line = |sku: &str| ChargeLine {
        sku: sku.into(),
        units,
        rate: UnitRate::at_par(Price::from_nanos(3).expect("a price")),
        per: PriceUnits::Million,
    };
    let charge = WorkCharge {
        lines: vec![line("input"), line("output")],
        model: "llama".into(),
        details: UsageDetails::default(),
        notes: String::new(),
    };
    let receipt = ledger.settle(hold, charge).await.expect("the charge should be written");
    let nanos: i64 = receipt.legs.iter().map(|leg| leg.amount.nanos()).sum();
    tell(&format!("{} {nanos}.", receipt.charge.0));
}

/// Adds owner and key, unless an earlier child has.
async fn furnish(store: &dyn Store) {
    let created = Timestamp::from_ms(0);
    let owner = Owner {
        id: OWNER,
        kind: OwnerKind::Account,
        name: "owner".into(),
        tier: "default".into(),
        created,
        frozen: None,
    };
    let key = ApiKey {
        id: KEY,
        owner: OWNER,
        digest: SecretDigest([1; 32]),
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
        created,
        last_used: None,
        revoked: None,
    };
    let writes =
        vec![StoreWrite::AddOwner(owner), StoreWrite::AddKey { key, active_keys_max: 500 }];
    match store.commit(WriteGroup { writes }).await {
        Ok(()) | Err(store::error::StoreError::Duplicate(_)) => {}
        Err(error) => unreachable!("owner and key should be written: {error}"),
    }
}

fn open(directory: &Path) -> Arc<dyn Store> {
    let options = SqliteOptions::durable(database_in(directory));
    Arc::new(SqliteStore::open(&options).expect("the database should open"))
}

async fn open_ledger(store: Arc<dyn Store>) -> Ledger {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ledger = Ledger::open(store, clock, Arc::new(Machine), LedgerRules::default()).await;
    ledger.expect("the books should be sound")
}

/// The system's randomness: children must not repeat each other's ids.
struct Machine;

impl EntropySource for Machine {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the machine has randomness");
    }
}

fn tell(line: &str) {
    let mut output = std::io::stdout().lock();
    // Fails if the parent has stopped reading, which is fine.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
