//! Tests of the file and its contents, with SQLite at both ends.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::conformance;
use crate::error::StoreError;
use crate::sqlite::import::import_database;
use crate::sqlite::{SqliteOptions, SqliteStore, database_in};

async fn exported(store: &SqliteStore) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut untold = |_| {};
    store.export(ExportWriter::begin(&mut bytes, "1.2.3", &mut untold).unwrap()).await.unwrap();
    bytes
}

fn imported(bytes: &[u8], path: &Path) -> Result<u64, StoreError> {
    let mut untold = |_| {};
    import_database(ExportReader::begin(bytes, &mut untold)?, path)
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(&SqliteOptions::scratch(path)).unwrap()
}

/// The number of rows in each table.
fn rows(export: &[u8]) -> BTreeMap<&'static str, usize> {
    let mut untold = |_| {};
    let mut reader = ExportReader::begin(export, &mut untold).unwrap();
    let mut counts = BTreeMap::new();
    while let Some(table) = reader.next_table().unwrap() {
        let count = std::iter::from_fn(|| reader.next_row().unwrap()).count();
        counts.insert(table.name, count);
    }
    counts
}

#[tokio::test]
async fn a_copy_of_a_database_exports_the_same_bytes() {
    let mut filled = BTreeSet::new();
    for case in conformance::list_cases() {
        println!("{}", case.name);
        let directory = tempfile::tempdir().unwrap();
        let store = open(&database_in(directory.path()));
        (case.run)(&store).await;
        let export = exported(&store).await;
        let copy = directory.path().join("copy.db");
        let count = imported(&export, &copy).unwrap();
        let counts = rows(&export);
        assert_eq!(counts.values().sum::<usize>() as u64, count);
        filled.extend(counts.into_iter().filter(|(_, count)| *count != 0).map(|(name, _)| name));
        let copy = open(&copy);
        let (ours, theirs) = (String::from_utf8(export).unwrap(), exported(&copy).await);
        assert_eq!(ours, String::from_utf8(theirs).unwrap());
        // Data that is not in exports is derived from what is.
        let recounted = ledger_evidence(&store).await;
        assert_eq!(recounted, ledger_evidence(&copy).await);
    }
    let all: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
    assert_eq!(filled, all, "some check should fill every table");
}

async fn ledger_evidence(store: &SqliteStore) -> String {
    use crate::EvidenceStore;
    format!("{:?}", store.read_evidence().await.unwrap())
}

/// An export with rows of many kinds.
async fn sample(directory: &TempDir) -> Vec<u8> {
    let store = open(&database_in(directory.path()));
    let cases = conformance::list_cases();
    let case = cases.iter().find(|case| case.name.contains("credits")).unwrap();
    (case.run)(&store).await;
    exported(&store).await
}

fn refusal(bytes: &[u8], path: &PathBuf) -> String {
    let _ = std::fs::remove_file(path);
    imported(bytes, path).unwrap_err().to_string()
}

#[tokio::test]
async fn a_file_that_was_cut_off_or_changed_anywhere_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let export = sample(&directory).await;
    let path = directory.path().join("copy.db");
    for length in [0, 1, 20, export.len() / 3, export.len() / 2, export.len() - 1] {
        let error = refusal(&export[..length], &path);
        assert!(error.contains("cut off") || error.contains("no file that"), "{length}: {error}");
    }
    // Whole lines are missing: the first, one in the middle, the last.
    let lines: Vec<&[u8]> = export.split_inclusive(|byte| *byte == b'\n').collect();
    for missing in [0, lines.len() / 2, lines.len() - 2, lines.len() - 1] {
        let mut without = lines.clone();
        without.remove(missing);
        refusal(&without.concat(), &path);
    }
    // One digit of one amount, and an altered checksum.
    for (from, to) in [("1000000000", "1000000001"), ("sha256\":\"", "sha256\":\"0")] {
        let text = String::from_utf8(export.clone()).unwrap();
        assert!(text.contains(from), "{from}");
        let error = refusal(text.replacen(from, to, 1).as_bytes(), &path);
        assert!(error.contains("checksum") || error.contains("constraint"), "{error}");
    }
    let mut longer = export.clone();
    longer.extend_from_slice(b"[]\n");
    assert!(refusal(&longer, &path).contains("nothing should follow"));
    let _ = std::fs::remove_file(&path);
    imported(&export, &path).unwrap();
}

#[tokio::test]
async fn a_file_of_another_form_names_the_release_that_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let text = String::from_utf8(sample(&directory).await).unwrap();
    let later = text.replacen("\"tollgate_export\":1", "\"tollgate_export\":2", 1);
    let error = refusal(later.as_bytes(), &directory.path().join("copy.db"));
    assert!(error.contains("format 2 of release 1.2.3"), "{error}");
}

/// When you add a table or a column, decide here if it is exported or derived.
#[tokio::test]
async fn every_column_of_every_table_is_exported_or_follows_from_others() {
    let derived: BTreeSet<&str> = [
        "account.id",
        "audit_count.id",
        "audit_count.rows",
        "charge_log.charges",
        "charge_log.seq",
        "call_batch.is_open",
        "job.is_open",
        "usage_place.at_ms",
        "usage_place.currency",
        "usage_place.owner",
        "usage_place.seq",
        "usage_placed.one",
        "usage_placed.through_seq",
    ]
    .into();
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(directory.path());
    drop(open(&path));
    let sql = "SELECT t.name || '.' || c.name FROM pragma_table_list t, pragma_table_info(t.name) c \
               WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'";
    let connection = Connection::open(&path).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let found = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let found: BTreeSet<String> = found.map(Result::unwrap).collect();
    let exported = TABLES.iter().flat_map(|table| {
        table.columns.iter().map(|column| format!("{}.{}", table.name, column.name))
    });
    let exported: BTreeSet<String> = exported.collect();
    let missing: BTreeSet<&str> = found.difference(&exported).map(String::as_str).collect();
    assert_eq!(missing, derived);
    assert_eq!(exported.difference(&found).count(), 0);
}
