//! Opening a database whose log was not posted: after a crash, of an older release, or damaged.

use super::*;

/// Opens the image twice: charges are there once, in order, whatever was left to do.
async fn expect_charged(image: &TempDir, expected: &[u128], step: &str) {
    for _ in 0..2 {
        let store = Sqlite::open(&options(image)).unwrap();
        assert_eq!(charged(&store).await, expected, "{step}");
        let books = store.trial_balance().await.unwrap();
        let debits: i128 = books.snapshot.lots.iter().map(|row| row.columns.debits).sum();
        assert_eq!(debits, 10 * expected.len() as i128, "{step}");
        let evidence = store.evidence().await.unwrap();
        assert_eq!(evidence.usage_last_seq, expected.len() as i64, "{step}");
        assert_eq!(evidence.faults, Vec::<String>::new(), "{step}");
        drop(store);
        assert_eq!(rows_in_log(image.path()), 0, "{step}");
    }
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_each_acknowledged_charge_once_and_in_order() {
    let directory = directory();
    let path = directory.path();
    let mut writer = furnished(&options(&directory));
    let log = |writer: &mut Writer, entries: &[u128]| {
        let groups = entries.iter().map(|entry| settled(*entry, 1, 10)).collect();
        assert!(commit(writer, groups).iter().all(Result::is_ok));
    };
    expect_charged(&image(path), &[], "before anything").await;
    log(&mut writer, &[3, 1]);
    expect_charged(&image(path), &[3, 1], "a row in the log").await;
    log(&mut writer, &[2]);
    let two_rows = image(path);
    assert_eq!(rows_in_log(two_rows.path()), 2);
    expect_charged(&two_rows, &[3, 1, 2], "two rows in the log").await;

    let unposted = &writer.log;
    let mut amid = Vec::new();
    let undone = writer.session.transact(|connection, memory| {
        amid.push(image(path));
        unposted.post_alone(connection, memory)?;
        connection.cache_flush()?;
        amid.push(image(path));
        Err::<(), _>(Fault::Refused(StoreError::Closed))
    });
    assert!(undone.is_err());
    for image in &amid {
        expect_charged(image, &[3, 1, 2], "amid the posting").await;
    }
    expect_charged(&image(path), &[3, 1, 2], "the posting undone").await;
    writer.post();
    expect_charged(&image(path), &[3, 1, 2], "posted").await;
    log(&mut writer, &[5]);
    expect_charged(&image(path), &[3, 1, 2, 5], "a row after the posting").await;
    let setting = Write::PutSetting { name: "other".into(), value: vec![1] };
    assert!(commit(&mut writer, vec![Group::of(setting)])[0].is_ok());
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
    assert_eq!(rows_in_log(directory.path()), 0);
    expect_charged(&directory, &[1], "closed").await;
}

#[tokio::test]
async fn a_database_of_the_release_before_the_log_is_opened() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let connection = Connection::open(database_in(directory.path())).unwrap();
    connection.execute_batch("DROP TABLE charge_log; PRAGMA user_version = 10").unwrap();
    drop(connection);
    let store = Sqlite::open(&options(&directory)).unwrap();
    store.commit(settled(1, 1, 10)).await.unwrap();
    assert_eq!(charged(&store).await, [1]);
    assert_eq!(store.evidence().await.unwrap().faults, Vec::<String>::new());
}

/// What opening says to a log that holds this instead of a charge, and that the row is kept.
#[track_caller]
fn check(change: &str, expected: expect_test::Expect) {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert!(commit(&mut writer, vec![settled(1, 1, 10)])[0].is_ok());
    drop(writer);
    let connection = Connection::open(database_in(directory.path())).unwrap();
    connection.execute_batch(change).unwrap();
    drop(connection);
    let error = Sqlite::open(&options(&directory)).unwrap_err();
    expected.assert_eq(&error.to_string());
    assert_eq!(rows_in_log(directory.path()), 1);
}

#[test]
fn a_damaged_row_is_named_and_kept() {
    let change = "UPDATE charge_log SET charges = substr(charges, 1, 20)";
    check(
        change,
        expect_test::expect![
            "row 1 of the table charge_log cannot be read: it is damaged; restore a backup, or ask for help with a copy of the database"
        ],
    );
}

#[test]
fn a_row_of_a_later_release_is_named_and_kept() {
    let change = "UPDATE charge_log SET charges = CAST(x'02' || substr(charges, 2) AS BLOB)";
    check(
        change,
        expect_test::expect![
            "row 1 of the table charge_log cannot be read: it has form 2, which this release does not know; run the release that wrote it"
        ],
    );
}

#[test]
fn a_charge_that_cannot_be_posted_is_kept() {
    check(
        "UPDATE account SET credits = 9 WHERE owner IS NOT NULL",
        expect_test::expect![
            "1 rows of the table charge_log hold charges that were acknowledged and cannot be posted; they were left there, so keep a copy of the database and ask for help: refused by a constraint of the database: CHECK constraint failed: owner IS NULL OR debits + pending <= credits"
        ],
    );
}
