//! All data of a store, moved from SQLite to Postgres and back.

use std::collections::BTreeSet;
use std::path::Path;

use store::conformance::fixture::{add_funded_owner, build_charge, build_lot, record_transfer};
use store::conformance::{ConformanceCase, list_cases};
use store::error::StoreError;
use store::export::{ExportReader, ExportWriter, TABLES};
use store::sqlite::import::import_database;
use store::sqlite::{SqliteOptions, SqliteStore, database_in};
use store::write::WriteGroup;
use store::{LedgerStore, Store};
use store_postgres::PostgresStore;

use crate::server::{client, database, store};

macro_rules! exported {
    ($store:expr) => {{
        let (mut bytes, mut untold) = (Vec::new(), |_| {});
        let writer = ExportWriter::begin(&mut bytes, "1.2.3", &mut untold).unwrap();
        $store.export(writer).await.unwrap();
        String::from_utf8(bytes).unwrap()
    }};
}

async fn taken_in(store: &PostgresStore, export: &str) -> Result<u64, StoreError> {
    let mut untold = |_| {};
    store.import(ExportReader::begin(export.as_bytes(), &mut untold)?).await
}

fn sqlite_of(export: &str, path: &Path) -> SqliteStore {
    let mut untold = |_| {};
    import_database(ExportReader::begin(export.as_bytes(), &mut untold).unwrap(), path).unwrap();
    SqliteStore::open(&SqliteOptions::scratch(path)).unwrap()
}

/// The number of rows in all exported tables.
async fn rows(url: &str) -> i64 {
    let counts: Vec<String> =
        TABLES.iter().map(|table| format!("(SELECT count(*) FROM {})", table.name)).collect();
    let row = client(url).await.query_one(&format!("SELECT {}", counts.join(" + ")), &[]).await;
    row.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_changed_on_the_way_from_sqlite_to_postgres_and_back() {
    for ConformanceCase { name, run } in list_cases() {
        println!("{name}");
        let directory = tempfile::tempdir().unwrap();
        let source =
            SqliteStore::open(&SqliteOptions::scratch(database_in(directory.path()))).unwrap();
        run(&source).await;
        let export = exported!(source);
        let target = store(&database().await, "one").await;
        taken_in(&target, &export).await.unwrap();
        // Postgres cannot store this character in a text.
        let expected = export.replace("\\u0000", "\u{fffd}");
        let after = exported!(target);
        assert_eq!(body(&expected), body(&after));
        let back = sqlite_of(&after, &directory.path().join("back.db"));
        assert_eq!(after, exported!(back));
        target.close().await;
    }
}

/// The export without its last line: the checksum differs if a character was replaced.
fn body(export: &str) -> &str {
    export.trim_end().rsplit_once('\n').unwrap().0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_several_nodes_wrote_is_one_set_of_books_elsewhere() {
    let url = database().await;
    let (one, two) = (store(&url, "one").await, store(&url, "two").await);
    for (node, number) in [(&one, 1), (&two, 2)] {
        add_funded_owner(node, number).await;
        let spent =
            record_transfer(build_charge(u128::from(number), build_lot(number), 250_000_000));
        node.commit(WriteGroup::from_write(spent)).await.unwrap();
    }
    let export = exported!(one);
    let directory = tempfile::tempdir().unwrap();
    let copy = sqlite_of(&export, &directory.path().join("copy.db"));
    let (before, after) = (one.trial_balance().await.unwrap(), copy.trial_balance().await.unwrap());
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    assert_eq!(export, exported!(copy));
    // The copy can be used: the next sequence numbers are free.
    let url = database().await;
    let target = store(&url, "three").await;
    taken_in(&target, &export).await.unwrap();
    let spent = record_transfer(build_charge(7, build_lot(1), 1));
    target.commit(WriteGroup::from_write(spent)).await.unwrap();
    assert_eq!(target.trial_balance().await.unwrap().snapshot.lots.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_whole_leaves_the_database_empty() {
    let directory = tempfile::tempdir().unwrap();
    let source = SqliteStore::open(&SqliteOptions::scratch(database_in(directory.path()))).unwrap();
    add_funded_owner(&source, 1).await;
    let export = exported!(source);
    let url = database().await;
    let target = store(&url, "one").await;
    for cut in [export.len() / 2, export.len() - 1] {
        let error = taken_in(&target, &export[..cut]).await.unwrap_err().to_string();
        assert!(error.contains("cut off"), "{error}");
        assert_eq!(rows(&url).await, 0);
    }
    let changed = export.replacen("\"default\"", "\"partner\"", 1);
    let error = taken_in(&target, &changed).await.unwrap_err().to_string();
    assert!(error.contains("the file was changed"), "{error}");
    assert_eq!(rows(&url).await, 0);
    let count = taken_in(&target, &export).await.unwrap();
    assert_eq!(rows(&url).await, i64::try_from(count).unwrap());
    let error = taken_in(&target, &export).await.unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
}

/// When you add a table or a column, decide here if it is exported or derived.
#[tokio::test]
async fn every_column_of_every_table_is_exported_or_follows_from_others() {
    let derived = [
        "account.id",
        "account.node",
        "audit_count.id",
        "audit_count.rows",
        "character.average",
        "call_batch.is_open",
        "job.is_open",
    ];
    let of_nodes = ["batch", "node", "owner_lease", "schema_version"];
    let sql = "SELECT table_name::TEXT, column_name::TEXT FROM information_schema.columns \
               WHERE table_schema = 'public'";
    let found = client(&database().await).await.query(sql, &[]).await.unwrap();
    let found: BTreeSet<String> = found
        .iter()
        .map(|row| (row.get::<_, String>(0), row.get::<_, String>(1)))
        .filter(|(table, _)| !of_nodes.contains(&table.as_str()))
        .map(|(table, column)| format!("{table}.{column}"))
        .filter(|name| !derived.contains(&name.as_str()))
        .collect();
    let exported = TABLES.iter().flat_map(|table| {
        table.columns.iter().map(|column| format!("{}.{}", table.name, column.name))
    });
    assert_eq!(found, exported.collect());
}
