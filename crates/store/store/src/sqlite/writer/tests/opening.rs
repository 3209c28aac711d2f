//! Opens a database whose log was not posted: after a crash, of an older release, or damaged.

use super::*;
use crate::sqlite::revert_migrations::revert_to_version;

/// Opens the image twice, and asserts that the charges are in it once and in order.
async fn expect_charged(image: &TempDir, expected: &[u128], step: &str) {
    for _ in 0..2 {
        let store = SqliteStore::open(&options(image)).unwrap();
        assert_eq!(charged(&store).await, expected, "{step}");
        let books = store.trial_balance().await.unwrap();
        let debits: i128 = books.snapshot.lots.iter().map(|row| row.columns.debits).sum();
        assert_eq!(debits, 10 * expected.len() as i128, "{step}");
        let evidence = store.read_evidence().await.unwrap();
        assert_eq!(evidence.usage_last_seq, expected.len() as i64, "{step}");
        assert_eq!(evidence.faults, Vec::<String>::new(), "{step}");
        drop(store);
        assert_eq!(records_in_log(image.path()), 0, "{step}");
    }
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_each_acknowledged_charge_once_and_in_order() {
    let directory = directory();
    let path = directory.path();
    let mut writer = furnished(&options(&directory));
    let log = |writer: &mut SqliteWriter, entries: &[u128]| {
        let groups = entries.iter().map(|entry| settled(*entry, 1, 10)).collect();
        assert!(commit(writer, groups).iter().all(Result::is_ok));
    };
    expect_charged(&image(path), &[], "before anything").await;
    log(&mut writer, &[3, 1]);
    expect_charged(&image(path), &[3, 1], "a record in the log").await;
    log(&mut writer, &[2]);
    let two_records = image(path);
    assert_eq!(records_in_log(two_records.path()), 2);
    expect_charged(&two_records, &[3, 1, 2], "two records in the log").await;

    let leaving = writer.log.begin_posting();
    let mut amid = Vec::new();
    let undone = writer.session.transact(|connection, memory| {
        amid.push(image(path));
        leaving.post_alone(connection, memory, &mut || Ok(()))?;
        connection.cache_flush()?;
        amid.push(image(path));
        Err::<(), _>(WriteError::Refused(StoreError::Closed))
    });
    assert!(undone.is_err());
    writer.log.restore_groups(leaving);
    for image in &amid {
        expect_charged(image, &[3, 1, 2], "amid the posting").await;
    }
    expect_charged(&image(path), &[3, 1, 2], "the posting undone").await;
    post(&mut writer);
    expect_charged(&image(path), &[3, 1, 2], "posted").await;
    log(&mut writer, &[5]);
    expect_charged(&image(path), &[3, 1, 2, 5], "a record after the posting").await;
    let setting = StoreWrite::PutSetting { name: "other".into(), value: vec![1] };
    assert!(commit(&mut writer, vec![WriteGroup::from_write(setting)])[0].is_ok());
    expect_charged(&image(path), &[3, 1, 2, 5], "posted with another group").await;
}

#[tokio::test]
async fn a_store_that_is_closed_leaves_nothing_in_the_log() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let store = patient(&options(&directory));
    store.commit(settled(1, 1, 10)).await.unwrap();
    assert!(store.pending.is_any());
    drop(store);
    assert_eq!(records_in_log(directory.path()), 0);
    expect_charged(&directory, &[1], "closed").await;
}

#[tokio::test]
async fn a_database_of_the_release_before_the_log_is_opened() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let connection = Connection::open(database_in(directory.path())).unwrap();
    revert_to_version(&connection, 10);
    drop(connection);
    let store = SqliteStore::open(&options(&directory)).unwrap();
    store.commit(settled(1, 1, 10)).await.unwrap();
    assert_eq!(charged(&store).await, [1]);
    assert_eq!(store.read_evidence().await.unwrap().faults, Vec::<String>::new());
}

#[tokio::test]
async fn charges_that_an_earlier_release_has_logged_are_not_passed_over() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let connection = Connection::open(database_in(directory.path())).unwrap();
    revert_to_version(&connection, 12);
    connection.execute_batch("INSERT INTO charge_log (charges) VALUES (x'01')").unwrap();
    drop(connection);
    let error = SqliteStore::open(&options(&directory)).unwrap_err();
    expect_test::expect!["refused by a constraint of the database: a crash has left charges in the table charge_log; start and stop the release that wrote them, which posts them, and then this one"].assert_eq(&error.to_string());
}

/// Checks the error of opening a database and a log that were changed, and that the log is kept.
#[track_caller]
fn check(sql: &str, change: impl FnOnce(&mut [u8]), expected: expect_test::Expect) {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    for entry in [1, 2] {
        assert!(commit(&mut writer, vec![settled(entry, 1, 10)])[0].is_ok());
    }
    drop(writer);
    let database = database_in(directory.path());
    Connection::open(&database).unwrap().execute_batch(sql).unwrap();
    let path = path_beside(&database);
    let mut file = read_all(&path).unwrap();
    let records_at = if file.starts_with(b"Toll") { 0 } else { AREA_BYTES };
    change(&mut file[records_at..]);
    fs::write(&path, &file).unwrap();
    let error = SqliteStore::open(&options(&directory)).unwrap_err().to_string();
    expected.assert_eq(&error.replace(path.to_str().unwrap(), "FILE"));
    assert_eq!(read_all(&path).unwrap(), file);
}

/// Replaces the first record by a valid one with changed charges.
fn write_anew(file: &mut [u8], change: impl FnOnce(&mut Vec<u8>)) {
    let generation = i64::from_le_bytes(file[8..16].try_into().unwrap());
    let mut charges = record::read_records(file, generation).unwrap()[0].to_vec();
    change(&mut charges);
    let place = record::RecordPosition { generation, number: 0 };
    record::write_record(&mut file[..record::BLOCK_BYTES], place, &charges);
}

#[test]
fn a_damaged_record_is_named_and_kept() {
    check(
        "",
        |file| file[100] ^= 1,
        expect_test::expect![
            "the charge log FILE cannot be used: its record 0 is damaged, and others follow it; restore a backup, or ask for help"
        ],
    );
}

#[test]
fn a_record_that_makes_no_sense_is_named_and_kept() {
    let shorter = |file: &mut [u8]| write_anew(file, |charges| charges.truncate(20));
    check(
        "",
        shorter,
        expect_test::expect![
            "the charge log FILE cannot be used: record 0: it is damaged; restore a backup, or ask for help with a copy of the database"
        ],
    );
}

#[test]
fn a_record_of_a_later_release_is_named_and_kept() {
    let later = |file: &mut [u8]| write_anew(file, |charges| charges[0] = 3);
    check(
        "",
        later,
        expect_test::expect![
            "the charge log FILE cannot be used: record 0: it has form 3, which this release does not know; run the release that wrote it"
        ],
    );
}

#[test]
fn a_charge_that_cannot_be_posted_is_kept() {
    let poor = "UPDATE account SET credits = 9 WHERE owner IS NOT NULL";
    check(
        poor,
        |_| {},
        expect_test::expect![
            "the charge log FILE holds 2 charges that were acknowledged and cannot be posted; they were left there, so keep a copy of it and of the database and ask for help: refused by a constraint of the database: CHECK constraint failed: owner IS NULL OR debits + pending <= credits"
        ],
    );
}

#[test]
fn a_log_that_is_newer_than_its_database_is_named_and_kept() {
    let older = "UPDATE charge_log_generation SET generation = generation - 1";
    check(
        older,
        |_| {},
        expect_test::expect![
            "the charge log FILE cannot be used: it is newer than the database, as if that had been restored from a backup without it; to go on without what was charged since, move the file away"
        ],
    );
}

#[tokio::test]
async fn a_database_without_its_log_has_what_was_posted() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert!(commit(&mut writer, vec![settled(1, 1, 10)])[0].is_ok());
    post(&mut writer);
    assert!(commit(&mut writer, vec![settled(2, 1, 10)])[0].is_ok());
    drop(writer);
    fs::remove_file(path_beside(&database_in(directory.path()))).unwrap();
    expect_charged(&directory, &[1], "a backup has no log").await;
}

/// Up to 128 charges would be lost silently, and it is unknown if they were acknowledged.
#[tokio::test]
async fn a_last_record_that_is_damaged_is_told_with_the_charges_that_were_in_it() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert!(commit(&mut writer, vec![settled(1, 1, 10)])[0].is_ok());
    let both = vec![settled(2, 1, 10), settled(3, 1, 10)];
    assert!(commit(&mut writer, both).iter().all(Result::is_ok));
    drop(writer);
    let path = path_beside(&database_in(directory.path()));
    let mut file = fs::read(&path).unwrap();
    let start = (0..file.len()).step_by(4096).filter(|at| file[*at..].starts_with(b"Toll")).max();
    // In its checksum, so that all of its charges can still be decoded.
    file[start.unwrap() + 4] ^= 1;
    fs::write(&path, file).unwrap();
    for _ in 0..2 {
        let store = SqliteStore::open(&options(&directory)).unwrap();
        assert_eq!(charged(&store).await, [1]);
        let trail = store.audit_after(0, 10).await.unwrap();
        assert_eq!(trail.len(), 1, "told once");
        let told = &trail[0].entry;
        assert_eq!((told.actor.as_str(), told.action.as_str()), ("tollgate", "charge log torn"));
        for entry in [2, 3] {
            assert!(told.detail.contains(&entry_id(entry).0.to_string()), "{}", told.detail);
        }
        assert!(told.detail.contains("record 1"), "{}", told.detail);
    }
}
