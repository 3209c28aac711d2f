//! Tests specific to SQLite: the file, its lock, its versions and a full disk.

use moment::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use super::revert_migrations::revert_to_version;
use super::*;
use crate::conformance::{self, ConformanceCase};
use crate::queries::*;
use crate::write::StoreWrite;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn scratch(directory: &TempDir) -> SqliteOptions {
    SqliteOptions::scratch(database_in(directory.path()))
}

fn setting(name: &str, bytes: usize) -> WriteGroup {
    WriteGroup::from_write(StoreWrite::PutSetting { name: name.into(), value: vec![7; bytes] })
}

#[tokio::test]
async fn sqlite_does_what_every_store_must_do() {
    for ConformanceCase { name, run } in conformance::list_cases() {
        println!("{name}");
        let directory = directory();
        let store = SqliteStore::open(&scratch(&directory)).unwrap();
        run(&store).await;
    }
}

#[tokio::test]
async fn what_was_acknowledged_is_there_when_the_database_is_opened_again() {
    let directory = directory();
    let options = SqliteOptions { durability: CommitDurability::Full, ..scratch(&directory) };
    let store = SqliteStore::open(&options).unwrap();
    store.commit(setting("kept", 3)).await.unwrap();
    drop(store);
    let store = SqliteStore::open(&options).unwrap();
    assert_eq!(store.setting("kept").await.unwrap(), Some(vec![7; 3]));
}

#[tokio::test]
async fn what_was_handed_in_is_written_before_the_store_closes() {
    let directory = directory();
    let store = SqliteStore::open(&scratch(&directory)).unwrap();
    let commits: Vec<_> = (0..100).map(|n| store.commit(setting(&n.to_string(), 1))).collect();
    drop(store);
    for commit in commits {
        commit.await.unwrap();
    }
}

#[tokio::test]
async fn the_write_ahead_log_of_an_earlier_run_is_written_over() {
    let directory = directory();
    let log = format!("{}-wal", database_in(directory.path()).display());
    let mut lengths = Vec::new();
    for run in 1..=3 {
        let store = SqliteStore::open(&scratch(&directory)).unwrap();
        for number in 0..20 {
            let name = (run * 100 + number).to_string();
            store.commit(setting(&name, 3000)).await.unwrap();
        }
        drop(store);
        lengths.push(std::fs::metadata(&log).unwrap().len());
    }
    // A run writes a little more than the one before; a log that is never restarted would be three
    // times as long after three runs.
    assert!(lengths[2] < 2 * lengths[0], "{lengths:?}");
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_the_database() {
    use std::os::unix::fs::PermissionsExt;
    let directory = directory();
    let store = SqliteStore::open(&scratch(&directory)).unwrap();
    for end in ["", "-wal", "-shm"] {
        let path = format!("{}{end}", database_in(directory.path()).display());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{path}");
    }
    drop(store);
}

#[test]
fn a_second_opener_is_told_that_the_database_is_in_use() {
    let directory = directory();
    let first = SqliteStore::open(&scratch(&directory)).unwrap();
    let error = SqliteStore::open(&scratch(&directory)).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    drop(first);
    SqliteStore::open(&scratch(&directory)).unwrap();
}

#[test]
fn a_database_of_a_later_release_is_refused_and_left_alone() {
    let directory = directory();
    drop(SqliteStore::open(&scratch(&directory)).unwrap());
    let path = database_in(directory.path());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteStore::open(&scratch(&directory)).unwrap_err();
    assert!(error.to_string().contains("schema version 99"), "{error}");
    let connection = Connection::open(&path).unwrap();
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99);
}

#[tokio::test]
async fn credits_that_an_earlier_release_charged_are_counted() {
    let directory = directory();
    let store = SqliteStore::open(&scratch(&directory)).unwrap();
    let spent =
        conformance::list_cases().into_iter().find(|case| case.name.contains("credits")).unwrap();
    (spent.run)(&store).await;
    let counted = store.spent_credits(Timestamp::default()).await.unwrap();
    let first = counted[0].at;
    let minutes: Vec<_> = counted.iter().map(|it| it.at.since(first).as_secs() / 60).collect();
    assert_eq!(minutes, [0, 0, 15, 15, 2 * 24 * 60], "what is older than two days is dropped");
    drop(store);
    revert_to_version(&Connection::open(database_in(directory.path())).unwrap(), 13);
    let store = SqliteStore::open(&scratch(&directory)).unwrap();
    assert_eq!(store.spent_credits(Timestamp::default()).await.unwrap(), counted);
    assert_eq!(store.read_evidence().await.unwrap().faults, Vec::<String>::new());
}

#[test]
fn the_database_of_another_program_is_refused() {
    let directory = directory();
    let other = Connection::open(database_in(directory.path())).unwrap();
    other.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(other);
    let error = SqliteStore::open(&scratch(&directory)).unwrap_err();
    assert!(error.to_string().contains("another program"), "{error}");
}

#[tokio::test]
async fn the_journal_cannot_be_changed_even_by_hand() {
    let directory = directory();
    let store = SqliteStore::open(&scratch(&directory)).unwrap();
    let cases = conformance::list_cases();
    let balances = cases.iter().find(|case| case.name == "balances follow from transfers").unwrap();
    (balances.run)(&store).await;
    drop(store);
    let connection = Connection::open(database_in(directory.path())).unwrap();
    for sql in ["UPDATE transfer SET amount = 1", "DELETE FROM transfer"] {
        let error = connection.execute(sql, []).unwrap_err();
        assert!(error.to_string().contains("only added to"), "{error}");
    }
}

#[tokio::test]
async fn a_full_database_refuses_and_keeps_what_it_acknowledged() {
    let directory = directory();
    let options = SqliteOptions { bytes_max: 600 * 1024, ..scratch(&directory) };
    let store = SqliteStore::open(&options).unwrap();
    let mut acknowledged = Vec::new();
    let error = loop {
        let name = acknowledged.len().to_string();
        match store.commit(setting(&name, 4000)).await {
            Ok(()) => acknowledged.push(name),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full), "{error}");
    assert!(10 < acknowledged.len());
    for name in &acknowledged {
        assert_eq!(store.setting(name).await.unwrap().map(|value| value.len()), Some(4000));
    }
    // Once there is room again, writes succeed.
    for name in &acknowledged {
        store.commit(setting(name, 1)).await.unwrap();
    }
    store.commit(setting("more", 4000)).await.unwrap();
}

/// Checking a value against a list of constants can make SQLite build a table of them for each row.
#[test]
fn what_every_charge_adds_is_checked_without_building_a_table() {
    let directory = directory();
    let path = database_in(directory.path());
    drop(SqliteStore::open(&SqliteOptions::scratch(path.clone())).unwrap());
    let connection = Connection::open(path).unwrap();
    for insert in [posting::ADD_TRANSFER, posting::ADD_USAGE] {
        let mut steps = connection.prepare(&format!("EXPLAIN {insert}")).unwrap();
        let steps = steps.raw_query().mapped(|row| row.get::<_, String>(1));
        let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().unwrap();
        assert!(!steps.contains(&"OpenEphemeral".to_owned()), "{insert}: {steps:?}");
    }
}

#[test]
fn a_price_is_for_one_for_a_thousand_or_for_a_million_units() {
    let directory = directory();
    let path = database_in(directory.path());
    drop(SqliteStore::open(&SqliteOptions::scratch(path.clone())).unwrap());
    let connection = Connection::open(path).unwrap();
    let add = |per: i64| {
        let sql = "INSERT INTO usage (charge, owner, at_ms, sku, model, currency, units, \
                   price_pico, price_per, amount, request_id, notes) \
                   VALUES (x'01', x'02', 3, 's', 'm', 'USD', 4, 5, ?1, 6, 'r', 'n')";
        connection.execute(sql, [per])
    };
    for per in [1, 1_000, 1_000_000] {
        add(per).unwrap();
    }
    for per in [0, 2, 999, 1_000_001] {
        add(per).unwrap_err();
    }
    let fine: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(fine, "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_writes_has_all_that_was_acknowledged_before_it_and_opens_elsewhere() {
    let directory = directory();
    let store = std::sync::Arc::new(SqliteStore::open(&scratch(&directory)).unwrap());
    for number in 0..200 {
        store.commit(setting(&format!("before-{number}"), 3000)).await.unwrap();
    }
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (writing, until) = (std::sync::Arc::clone(&store), std::sync::Arc::clone(&stop));
    let mut writes = tokio::task::JoinSet::new();
    writes.spawn(async move {
        let mut written = 0;
        while !until.load(std::sync::atomic::Ordering::SeqCst) {
            writing.commit(setting(&format!("during-{written}"), 3000)).await.unwrap();
            written += 1;
        }
        written
    });
    let target = directory.path().join("backups.db");
    let at = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
    let made = store.backup(&target, at).await.unwrap();
    assert_eq!(made.bytes, std::fs::metadata(&target).unwrap().len());
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(0 < writes.join_next().await.unwrap().unwrap());
    let again = store.backup(&target, at).await.unwrap_err();
    assert!(matches!(again, StoreError::Unsuitable(_)), "{again}");
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let restored = SqliteStore::open(&SqliteOptions::scratch(&target)).unwrap();
    for number in 0..200 {
        let found = restored.setting(&format!("before-{number}")).await.unwrap();
        assert_eq!(found.map(|value| value.len()), Some(3000));
    }
    assert_eq!(restored.read_evidence().await.unwrap().faults, Vec::<String>::new());
    let made_at = restored.setting(restore::RESTORED_FROM).await.unwrap().unwrap();
    assert_eq!(made_at, b"2026-11-15T12:00:00.000Z");
    let trail = restored.audit_after(0, 10).await.unwrap();
    assert_eq!(trail.len(), 1);
    drop(restored);
    // From then on it is an ordinary database.
    assert_eq!(SqliteStore::open(&SqliteOptions::scratch(&target)).unwrap().queued_groups(), 0);
}

#[tokio::test]
async fn a_backup_is_not_opened_beside_files_of_another_database() {
    let directory = directory();
    let store = SqliteStore::open(&scratch(&directory)).unwrap();
    let target = directory.path().join("copy.db");
    store.backup(&target, Timestamp::from_ms(0)).await.unwrap();
    // Earlier releases had the second one.
    for name in ["copy.db-wal", "copy.db-charges"] {
        let other = directory.path().join(name);
        std::fs::write(&other, b"not its own").unwrap();
        let refused = SqliteStore::open(&SqliteOptions::scratch(&target)).unwrap_err().to_string();
        assert!(refused.contains(&format!("{name} beside it belongs to another")), "{refused}");
        std::fs::remove_file(&other).unwrap();
    }
    assert!(SqliteStore::open(&SqliteOptions::scratch(&target)).is_ok());
}

#[tokio::test]
async fn a_backup_is_put_in_place_of_a_database_that_is_kept() {
    use crate::sqlite::restore::StagedDatabase;
    let (here, there) = (directory(), directory());
    let store = SqliteStore::open(&scratch(&here)).unwrap();
    store.commit(setting("of the backup", 1)).await.unwrap();
    let backup = here.path().join("backup");
    store.backup(&backup, Timestamp::from_ms(0)).await.unwrap();
    let database = database_in(there.path());
    let other = SqliteStore::open(&SqliteOptions::scratch(&database)).unwrap();
    other.commit(setting("of the other", 1)).await.unwrap();
    let in_use = StagedDatabase::copy(&backup, &database).unwrap_err();
    assert!(matches!(in_use, StoreError::InUse { .. }), "{in_use}");
    drop(other);
    let none = StagedDatabase::copy(&database, &database).unwrap_err().to_string();
    assert!(none.contains("was not written by `tollgate backup`"), "{none}");
    let staged = StagedDatabase::copy(&backup, &database).unwrap();
    let refused = staged.move_to_final_path(false, Timestamp::from_ms(5)).unwrap_err().to_string();
    assert!(refused.contains("is there already"), "{refused}");
    let staged = StagedDatabase::copy(&backup, &database).unwrap();
    // Opened for verification, and closed again.
    drop(SqliteStore::open(&SqliteOptions::scratch(staged.path())).unwrap());
    let kept = staged.move_to_final_path(true, Timestamp::from_ms(5)).unwrap();
    let names: Vec<_> = kept.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert!(names.contains(&"tollgate.db.before-5"), "{names:?}");
    let restored = SqliteStore::open(&SqliteOptions::scratch(&database)).unwrap();
    assert!(restored.setting("of the backup").await.unwrap().is_some());
    assert!(restored.setting("of the other").await.unwrap().is_none());
    let left = std::fs::read_dir(there.path())
        .unwrap()
        .filter_map(|it| it.unwrap().file_name().into_string().ok());
    assert!(left.into_iter().all(|name| !name.contains("restoring")));
}
