//! Tests of reads that run while a key changes.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use domain::secret::SecretPepper;
use moment::ManualClock;
use store::StoreFuture;
use store::intercept::{InterceptedStore, StoreInterceptor};
use store::owner::{Owner, OwnerKind};
use store::sqlite::{SqliteOptions, SqliteStore};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use uuid::Uuid;

use super::*;

/// Keeps back the next answer of the store after it was read, until the test lets it go.
#[derive(Default)]
struct AnswerDelay {
    is_armed: AtomicBool,
    gate: Arc<AnswerGate>,
}

struct AnswerGate {
    /// Has a permit once an answer is kept back.
    arrived: Semaphore,
    /// Has a permit once the answer may go.
    open: Semaphore,
}

impl Default for AnswerGate {
    fn default() -> AnswerGate {
        AnswerGate { arrived: Semaphore::new(0), open: Semaphore::new(0) }
    }
}

impl StoreInterceptor for AnswerDelay {
    fn intercept_answer<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if !self.is_armed.swap(false, Ordering::SeqCst) {
            return answer;
        }
        let gate = Arc::clone(&self.gate);
        Box::pin(async move {
            let answer = answer.await;
            gate.arrived.add_permits(1);
            gate.open.acquire().await.unwrap().forget();
            answer
        })
    }
}

/// Bytes that never repeat.
#[derive(Default)]
struct CountingBytes(AtomicU64);

impl EntropySource for CountingBytes {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let count = self.0.fetch_add(1, Ordering::SeqCst);
            let spread = count.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
            chunk.copy_from_slice(&spread[..chunk.len()]);
        }
    }
}

async fn add_owner(store: &dyn Store) -> OwnerId {
    let owner = Owner {
        id: OwnerId(Uuid::from_u128(7)),
        kind: OwnerKind::Account,
        name: "someone".to_owned(),
        tier: String::new(),
        created: Timestamp::from_ms(0),
        frozen: None,
    };
    let id = owner.id;
    store.commit(WriteGroup::from_write(StoreWrite::AddOwner(owner))).await.unwrap();
    id
}

fn settings() -> KeySettings {
    KeySettings {
        description: String::new(),
        limit_usd: None,
        limit_diem: None,
        limit_period: LimitPeriod::Epoch,
        expires: None,
        model_privacy: ModelPrivacy::All,
    }
}

#[tokio::test]
async fn a_request_after_a_revocation_joins_no_read_that_began_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::scratch(folder.path().join("keys.db"));
    let inner: Arc<dyn Store> = Arc::new(SqliteStore::open(&options).unwrap());
    let delay = Arc::<AnswerDelay>::default();
    let owner = add_owner(inner.as_ref()).await;
    let ring = KeyRing::new(
        Arc::new(InterceptedStore::new(inner, Arc::clone(&delay))),
        Arc::new(ManualClock::at(Timestamp::from_ms(1))),
        Arc::new(CountingBytes::default()),
        PepperPair { current: SecretPepper::new(&[7; 32]), before: None },
    );
    let (key, secret) = ring.create(owner, KeyKind::Inference, settings()).await.unwrap();

    delay.is_armed.store(true, Ordering::SeqCst);
    let mut earlier = pin!(ring.authenticate(&secret));
    tokio::select! {
        _ = &mut earlier => panic!("its answer is kept back"),
        arrived = delay.gate.arrived.acquire() => arrived.unwrap().forget(),
    }
    ring.revoke(&key).await.unwrap();
    let later = timeout(Duration::from_secs(30), ring.authenticate(&secret)).await;
    let later = later.expect("it waits for the read that began before the revocation");
    assert!(matches!(later, Err(KeyRefusal::Revoked)), "{later:?}");

    delay.gate.open.add_permits(1);
    assert!(earlier.await.is_ok(), "it came before the revocation");
    let last = ring.authenticate(&secret).await;
    assert!(matches!(last, Err(KeyRefusal::Revoked)), "the earlier read is not cached: {last:?}");
}
