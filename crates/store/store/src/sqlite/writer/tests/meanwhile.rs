//! Charges that arrive during a posting are acknowledged before it ends, and not lost.

use super::*;

/// Posts the log while these groups arrive, and then serves those that had to wait.
pub(super) fn commit_while_posting(
    writer: &mut SqliteWriter,
    groups: Vec<WriteGroup>,
) -> Vec<Result<(), StoreError>> {
    let (mut coming, told) = heard(groups);
    writer.post_log(&mut |batch| batch.append(&mut coming));
    let mut held = std::mem::take(&mut writer.held);
    held.append(&mut coming);
    if !held.is_empty() {
        writer.commit_and_complete(&mut held, &mut |_| {});
    }
    told.into_iter().map(|mut done| done.try_recv().unwrap()).collect()
}

type Told = Vec<oneshot::Receiver<Result<(), StoreError>>>;

fn heard(groups: Vec<WriteGroup>) -> (Vec<QueuedGroup>, Told) {
    let heard = groups.into_iter().map(|group| {
        let (done, told) = oneshot::channel();
        (QueuedGroup { group, done }, told)
    });
    heard.unzip()
}

fn log(writer: &mut SqliteWriter, entries: std::ops::Range<u128>) {
    for entry in entries {
        assert!(commit(writer, vec![settled(entry, 1, 10)])[0].is_ok());
    }
}

/// Asserts that an image of a database has exactly these charges, in this order.
async fn expect_charged(image: &TempDir, expected: impl Iterator<Item = u128>, step: &str) {
    let expected: Vec<u128> = expected.collect();
    for _ in 0..2 {
        let store = SqliteStore::open(&options(image)).unwrap();
        assert_eq!(charged(&store).await, expected, "{step}");
        let debits = store.load_books().await.unwrap().snapshot.lots[0].columns.debits;
        assert_eq!(debits, 10 * expected.len() as i128, "{step}");
        assert_eq!(store.read_evidence().await.unwrap().faults, Vec::<String>::new(), "{step}");
        drop(store);
        assert_eq!(records_in_log(image.path()), 0, "{step}");
    }
}

#[tokio::test]
async fn a_crash_amid_the_posting_leaves_what_came_before_and_meanwhile() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    // More than two steps of `POSTED_IN_ONE_GO`.
    log(&mut writer, 0..40);
    let (mut images, mut told, mut next) = (Vec::new(), Vec::new(), 40);
    writer.post_log(&mut |batch| {
        images.push((next, image(directory.path())));
        let (waiting, done) = heard(vec![settled(next, 1, 10)]);
        batch.extend(waiting);
        told.extend(done);
        next += 1;
    });
    // Called three times between the charges, and after each kind of sums.
    assert_eq!((images.len(), writer.log.len()), (6, 6));
    for mut done in told {
        assert!(done.try_recv().unwrap().is_ok());
    }
    images.push((next, image(directory.path())));
    for (count, image) in &images {
        expect_charged(image, 0..*count, "amid").await;
    }
    log(&mut writer, 46..50);
    expect_charged(&image(directory.path()), 0..50, "the generation goes on").await;
    post(&mut writer);
    assert!(writer.log.is_empty());
    expect_charged(&image(directory.path()), 0..50, "and is posted").await;
}

#[tokio::test]
async fn a_posting_that_fails_keeps_what_came_meanwhile_behind_what_was_there() {
    let directory = directory();
    let small = SqliteOptions { bytes_max: 420 * 1024, ..options(&directory) };
    let mut writer = furnished(&small);
    log(&mut writer, 0..800);
    let mut next = 800;
    writer.post_log(&mut |batch| {
        batch.extend(waiting(vec![settled(next, 1, 10)]));
        next += 1;
    });
    assert!(!writer.has_room, "the posting should find no room");
    assert!(800 < next, "something should come meanwhile");
    assert_eq!(writer.log.len(), usize::try_from(next).unwrap());
    log(&mut writer, next..900);
    expect_charged(&image(directory.path()), 0..900, "two generations").await;
    let again = |_: &mut Vec<QueuedGroup>| panic!("there is no area for what would come");
    writer.post_log(&mut { again });
    assert_eq!(writer.log.len(), 900);

    writer
        .session
        .transact(|connection, _| {
            Ok(connection.pragma_update(None, "max_page_count", 1_000_000)?)
        })
        .unwrap();
    post(&mut writer);
    assert!(writer.log.is_empty() && writer.has_room);
    expect_charged(&image(directory.path()), 0..900, "posted together").await;
    log(&mut writer, 900..920);
    let outcomes = commit_while_posting(&mut writer, vec![settled(920, 1, 10)]);
    assert!(outcomes[0].is_ok());
    assert_eq!(writer.log.len(), 1);
    expect_charged(&image(directory.path()), 0..921, "and on").await;
}

#[tokio::test]
async fn what_is_no_charge_waits_for_the_end_and_holds_back_what_follows_it() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    log(&mut writer, 0..40);
    let paid_in = WriteGroup::from_write(record_transfer(top_up(40, build_lot(1), 5)));
    let (mut first, told) = heard(vec![paid_in]);
    let mut asked = 0;
    writer.post_log(&mut |batch| {
        asked += 1;
        batch.append(&mut first);
    });
    assert_eq!(asked, 1, "nothing is taken while something waits");
    assert_eq!((writer.held.len(), writer.log.len()), (1, 0));
    let mut held = std::mem::take(&mut writer.held);
    writer.commit_and_complete(&mut held, &mut |_| {});
    for mut done in told {
        assert!(done.try_recv().unwrap().is_ok());
    }
    drop(writer);
    let store = SqliteStore::open(&options(&directory)).unwrap();
    let entries = store.read_journal(0, 100).await.unwrap().into_iter().skip(2);
    let order: Vec<u128> = entries.map(|entry| entry.transfer.entry.0.as_u128()).collect();
    assert_eq!(order, (0..=40).collect::<Vec<_>>());
}

#[test]
fn money_and_entries_that_are_on_their_way_are_not_there_for_others() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    let dollar = 1_000_000_000;
    assert!(commit(&mut writer, vec![settled(1, 1, dollar - 10)])[0].is_ok());
    let outcomes = commit_while_posting(&mut writer, vec![settled(2, 1, 11)]);
    assert!(outcomes[0].is_err(), "the lot has ten nanos left");
    // Two of them: the second is found to be new without a query of the journal.
    assert!(commit(&mut writer, vec![settled(7, 1, 2)])[0].is_ok());
    assert!(commit(&mut writer, vec![settled(8, 1, 2)])[0].is_ok());
    let outcomes = commit_while_posting(&mut writer, vec![settled(8, 1, 2)]);
    assert!(matches!(outcomes[0], Err(StoreError::Duplicate(_))), "{outcomes:?}");
    assert!(commit(&mut writer, vec![settled(4, 1, 3)])[0].is_ok());
    let outcomes = commit_while_posting(&mut writer, vec![settled(5, 1, 3)]);
    assert!(outcomes[0].is_ok());
    assert_eq!(writer.log.len(), 1);
    assert!(commit(&mut writer, vec![settled(6, 1, 1)])[0].is_err(), "all is spent");
}

#[test]
fn records_that_are_not_where_their_generation_is_are_not_passed_over() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    log(&mut writer, 0..3);
    drop(writer);
    let path = path_beside(&database_in(directory.path()));
    let file = read_all(&path).unwrap();
    let mut swapped = vec![0; 2 * AREA_BYTES];
    for (at, byte) in file.iter().enumerate().take(2 * AREA_BYTES) {
        swapped[(at + AREA_BYTES) % (2 * AREA_BYTES)] = *byte;
    }
    fs::write(&path, &swapped).unwrap();
    let error = SqliteStore::open(&options(&directory)).unwrap_err();
    assert!(error.to_string().contains("written by an earlier release"), "{error}");
}

#[test]
fn readers_are_told_of_what_came_meanwhile() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let pending = Arc::default();
    let mut writer = writer_telling(&options(&directory), &pending);
    log(&mut writer, 0..3);
    assert!(commit_while_posting(&mut writer, vec![settled(3, 1, 10)])[0].is_ok());
    assert!(pending.is_any());
    post(&mut writer);
    assert!(!pending.is_any());
}
