//! Nodes are notified of changes by others.

use std::time::Duration;

use ledger_core::OwnerId;
use store::Store;
use store::conformance::fixture::{add_key, build_key, build_owner, key_id, owner_id, today_at};
use store::job::{JobId, JobKind, JobState, JobWrite, QueuedJob};
use store::leases::OwnerLeases;
use store::write::{StoreWrite, WriteGroup};
use store_postgres::{ChangeNotice, PostgresStore};
use tokio::sync::broadcast::Receiver;
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::server::{client, database, store};

async fn next(changes: &mut Receiver<ChangeNotice>) -> ChangeNotice {
    let heard = tokio::time::timeout(Duration::from_secs(5), async {
        loop {
            let change = changes.recv().await.unwrap();
            if change != ChangeNotice::Beat {
                return change;
            }
        }
    });
    heard.await.expect("a change should be told")
}

async fn write(store: &PostgresStore, writes: Vec<StoreWrite>) {
    store.commit(WriteGroup { writes }).await.unwrap();
}

fn job(owner: OwnerId) -> QueuedJob {
    QueuedJob {
        id: JobId(Uuid::from_u128(1)),
        owner,
        key: None,
        kind: JobKind::Music,
        model: "composer".into(),
        request: "{}".into(),
        charge: "{}".into(),
        request_id: "r".into(),
        alternative: None,
        has_link: false,
        is_link_revoked: false,
        state: JobState::Queued,
        attempts: 0,
        fence: 0,
        lease_until: today_at(0),
        due: today_at(0),
        is_submitting: false,
        wants_cancel: false,
        ticket: None,
        queued: today_at(0),
        started: None,
        submitted: None,
        done: None,
        failure: None,
        media: None,
    }
}

#[tokio::test]
async fn a_node_hears_of_keys_owners_jobs_settings_and_recalls() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    let mut changes = two.changes();
    write(&one, vec![StoreWrite::AddOwner(build_owner(1))]).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::Owner(owner_id(1)));
    write(&one, vec![add_key(build_key(1))]).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::Key(key_id(1)));
    write(&one, vec![StoreWrite::Freeze { owner: owner_id(1), since: Some(today_at(1)) }]).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::Owner(owner_id(1)));
    // Every request does this, and no node is notified of it.
    write(&one, vec![StoreWrite::TouchKey { key: key_id(1), at: today_at(1) }]).await;
    write(&one, vec![StoreWrite::Job(Box::new(JobWrite::Add(Box::new(job(owner_id(1))))))]).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::Jobs);
    write(&one, vec![StoreWrite::PutSetting { name: "a".into(), value: vec![1] }]).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::Settings);
    one.recall_owner(owner_id(1)).await.unwrap();
    assert_eq!(next(&mut changes).await, ChangeNotice::Recall { owner: owner_id(1) });
    // Nothing is sent for a group that was rolled back.
    let undone =
        vec![StoreWrite::PutSetting { name: "b".into(), value: vec![1] }, add_key(build_key(1))];
    one.commit(WriteGroup { writes: undone }).await.unwrap_err();
    write(&one, (2..=99).map(|number| StoreWrite::AddOwner(build_owner(number))).collect()).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::All, "so many are told as one");
}

#[tokio::test]
async fn after_a_lost_connection_everything_may_have_changed() {
    let url = database().await;
    let store = store(&url, "one").await;
    let mut changes = store.changes();
    let raw = client(&url).await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = 'tollgate one listen' AND datname = current_database()";
    assert_eq!(raw.query(end, &[]).await.unwrap().len(), 1);
    assert_eq!(next(&mut changes).await, ChangeNotice::All);
    write(&store, vec![StoreWrite::PutSetting { name: "a".into(), value: vec![1] }]).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::Settings);
}

/// A listener is not told that its connection is dead, so it notifies itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_hears_nothing_connects_again() {
    let direct = database().await;
    let proxy = Proxy::start().await;
    let (one, two) = (store(&proxy.url(&direct), "one").await, store(&direct, "two").await);
    let mut changes = one.changes();
    proxy.swallow(true);
    write(&two, vec![StoreWrite::PutSetting { name: "a".into(), value: vec![1] }]).await;
    // Every connection on which something was sent meanwhile is dead.
    // An answer from before counts for a moment.
    let unreachable = async { while one.confirm_reach().await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(10), unreachable).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    proxy.swallow(false);
    let all = tokio::time::timeout(Duration::from_secs(10), async {
        while changes.recv().await.unwrap() != ChangeNotice::All {}
    });
    all.await.expect("everything may have changed");
    write(&two, vec![StoreWrite::PutSetting { name: "b".into(), value: vec![1] }]).await;
    assert_eq!(next(&mut changes).await, ChangeNotice::Settings);
}
