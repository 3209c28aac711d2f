//! The behaviour that every store must have.

use store::conformance::{ConformanceCase, list_cases};

use crate::server::{database, store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_does_what_every_store_must_do() {
    for ConformanceCase { name, run } in list_cases() {
        println!("{name}");
        let store = store(&database().await, "one").await;
        run(&store).await;
        store.close().await;
    }
}

/// Callers must not be required to use a certain kind of runtime.
#[tokio::test]
async fn a_store_works_on_a_runtime_of_one_thread_and_waits_when_it_is_dropped() {
    use store::Store;
    use store::write::{StoreWrite, WriteGroup};
    let url = database().await;
    let first = store(&url, "one").await;
    let setting = |number: u32| StoreWrite::PutSetting { name: number.to_string(), value: vec![1] };
    let commits: Vec<_> =
        (0..100).map(|number| first.commit(WriteGroup::from_write(setting(number)))).collect();
    drop(first);
    for commit in commits {
        commit.await.unwrap();
    }
    let second = store(&url, "one").await;
    assert_eq!(second.setting("99").await.unwrap(), Some(vec![1]));
}
