//! Tests of operations on a real store, directly and over a real socket.

mod founding;
mod money;
mod operations;
mod over_socket;
mod secrets;
mod stakes;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use access::KeyRing;
use domain::current_catalogue::CurrentCatalogue;
use domain::entropy::EntropySource;
use ledger::Ledger;
use ledger_core::LedgerRules;
use moment::{Clock, ManualClock, Timestamp};
use store::Store;
use store::sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

use crate::actor::AuditActor;
use crate::operation::{
    ControlOperation, CreditCurrency, KeyLimitPeriod, KeyType, NewKey, OperationError,
};
use crate::reply::{AccountReport, ControlReply};
use crate::secrets::read_peppers;
use crate::service::ControlService;

/// A service with its own database and a fixed clock.
struct ControlFixture {
    service: ControlService,
    folder: TempDir,
}

/// Bytes that never repeat within a test.
#[derive(Default)]
struct CountingEntropy {
    count: AtomicU64,
}

impl EntropySource for CountingEntropy {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let count = self.count.fetch_add(1, Ordering::SeqCst);
            let spread = count.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
            chunk.copy_from_slice(&spread[..chunk.len()]);
        }
    }
}

impl ControlFixture {
    async fn new() -> ControlFixture {
        let folder = TempDir::new().unwrap();
        let service = open(&folder).await;
        ControlFixture { service, folder }
    }

    async fn founded() -> ControlFixture {
        let scene = ControlFixture::new().await;
        scene.service.create_default_account(None).await.unwrap();
        scene
    }

    /// Closes the database and opens it again, as a restart would.
    async fn restarted(self) -> ControlFixture {
        let ControlFixture { service, folder } = self;
        drop(service);
        ControlFixture { service: open(&folder).await, folder }
    }

    async fn perform(&self, operation: ControlOperation) -> Result<ControlReply, OperationError> {
        self.service.perform(&AuditActor::with_uid(u32::MAX), operation).await
    }

    async fn show(&self, name: &str) -> AccountReport {
        match self.perform(ControlOperation::ShowAccount { name: name.to_owned() }).await {
            Ok(ControlReply::Account(account)) => account,
            other => panic!("an account was expected: {other:?}"),
        }
    }

    async fn refusal(&self, operation: ControlOperation) -> String {
        match self.perform(operation).await {
            Err(OperationError::Refused(message)) => message,
            other => panic!("a refusal was expected: {other:?}"),
        }
    }
}

async fn open(folder: &TempDir) -> ControlService {
    let path = folder.path().join("tollgate.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&SqliteOptions::scratch(path)).unwrap());
    let now = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(now));
    // Each start counts from another number, as the operating system's randomness would.
    let count = AtomicU64::new(OPENED.fetch_add(1 << 32, Ordering::SeqCst));
    let entropy: Arc<dyn EntropySource> = Arc::new(CountingEntropy { count });
    let peppers = read_peppers(store.as_ref(), entropy.as_ref()).await.unwrap();
    let keys = KeyRing::new(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&entropy), peppers);
    let rules = LedgerRules::default();
    let ledger = Ledger::open(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&entropy), rules);
    ControlService {
        ledger: Arc::new(ledger.await.unwrap()),
        store,
        keys: Arc::new(keys),
        catalogue: Arc::new(CurrentCatalogue::default()),
        tiers: Arc::default(),
        reload: Arc::new(|| Err("the file is wrong".to_owned())),
        clock,
        entropy,
        started_at: now,
        api_url: None,
        weights: Arc::new(|_| None),
        payments: std::sync::OnceLock::new(),
        progress_of: std::sync::OnceLock::new(),
        elsewhere: std::sync::OnceLock::new(),
    }
}

static OPENED: AtomicU64 = AtomicU64::new(0);

fn credit(entry: u128, amount: &str, currency: CreditCurrency) -> ControlOperation {
    ControlOperation::CreditAccount {
        entry: uuid::Uuid::from_u128(entry),
        name: "default".to_owned(),
        amount: amount.to_owned(),
        currency,
    }
}

fn new_key() -> NewKey {
    NewKey {
        account: "default".to_owned(),
        kind: KeyType::Inference,
        description: String::new(),
        limit_usd: None,
        limit_diem: None,
        period: KeyLimitPeriod::Epoch,
        expires: None,
    }
}
