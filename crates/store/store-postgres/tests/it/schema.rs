//! Databases of other releases and of other programs.

use store::Store;
use store::schema::NodeSchema;
use store_postgres::{PostgresOptions, PostgresStore, migrate_schema, schema_status};

use crate::server::{client, empty_database, store};

async fn refusal(url: &str) -> String {
    match PostgresStore::connect(&PostgresOptions::new(url, "one")).await {
        Ok(_) => panic!("the database should be refused"),
        Err(error) => error.to_string(),
    }
}

/// The newest version that this release knows.
const NEWEST: i64 = 9;

#[tokio::test]
async fn a_later_release_is_accepted_as_long_as_it_says_that_this_one_can_be() {
    let url = empty_database("later").await;
    store(&url, "one").await.close().await;
    let raw = client(&url).await;
    let record = "INSERT INTO schema_version (version, compatible_from) VALUES";
    let later = [NEWEST + 1, NEWEST + 2];
    raw.batch_execute(&format!("{record} ({}, 1)", later[0])).await.unwrap();
    store(&url, "one").await.close().await;
    raw.batch_execute(&format!("{record} ({}, {})", later[1], later[0])).await.unwrap();
    let error = refusal(&url).await;
    assert!(error.contains(&format!("schema version {}", later[1])), "{error}");
    assert!(error.contains("run the release that wrote it"), "{error}");
    let nodes = raw.query_one("SELECT max(epoch) FROM node", &[]).await.unwrap();
    assert_eq!(nodes.get::<_, i64>(0), 2, "who is refused does not register");
}

#[tokio::test]
async fn what_would_be_applied_is_told_before_it_is() {
    let url = empty_database("told").await;
    let before = schema_status(&url).await.unwrap();
    let pending: Vec<i64> = before.pending.iter().map(|step| step.version).collect();
    assert_eq!((before.version, before.known, pending), (0, NEWEST, (1..=NEWEST).collect()));
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    let raw = client(&url).await;
    assert_eq!(raw.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 0);
    migrate_schema(&url).await.unwrap();
    migrate_schema(&url).await.unwrap();
    let after = schema_status(&url).await.unwrap();
    assert_eq!((after.version, after.usable_from, after.pending.len()), (NEWEST, 1, 0));
    assert_eq!(after.nodes, [], "whoever migrates is no node");
}

/// A release with schema version 1 raises its epoch, and records no known version.
#[tokio::test]
async fn a_node_of_an_older_release_is_known_as_such_even_in_the_seat_of_a_newer_one() {
    let url = empty_database("older").await;
    let node = store(&url, "one").await;
    let known = |known| NodeSchema { name: "one".to_owned(), known };
    assert_eq!(schema_status(&url).await.unwrap().nodes, [known(NEWEST)]);
    let raw = client(&url).await;
    raw.batch_execute("UPDATE node SET epoch = epoch + 1").await.unwrap();
    assert_eq!(schema_status(&url).await.unwrap().nodes, [known(1)]);
    node.close().await;
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_left_alone() {
    let url = empty_database("theirs").await;
    let raw = client(&url).await;
    raw.batch_execute("CREATE TABLE theirs (x int)").await.unwrap();
    let error = refusal(&url).await;
    assert!(error.contains("another program"), "{error}");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(raw.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_together_migrate_once() {
    let url = empty_database("together").await;
    let mut starting = tokio::task::JoinSet::new();
    for number in 0..6 {
        let url = url.clone();
        starting.spawn(async move { store(&url, &format!("node-{number}")).await });
    }
    let mut nodes = starting.join_all().await;
    let steps = client(&url).await.query("SELECT version FROM schema_version", &[]).await.unwrap();
    assert_eq!(i64::try_from(steps.len()).unwrap(), NEWEST);
    let first = nodes.pop().unwrap();
    assert_eq!(first.nodes().await.unwrap().len(), 6);
    assert_eq!(first.queued_groups(), 0);
}

#[tokio::test]
async fn a_database_that_is_not_there_or_not_reached_is_told_without_its_password() {
    empty_database("somewhere").await;
    let url = crate::server::server().url("nowhere").replace("postgres@", "postgres:s3cret@");
    let error = refusal(&url).await;
    assert!(error.contains("nowhere") && !error.contains("s3cret"), "{error}");
    let error = refusal("postgres://postgres:s3cret@127.0.0.1:1/a").await;
    assert!(error.contains("refused") && !error.contains("s3cret"), "{error}");
}
