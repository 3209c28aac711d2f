//! Callers' files and batches: a line is charged once, and a batch ends once.

use money::Nano;
use uuid::Uuid;

use crate::Store;
use crate::batch::{
    BatchCost, BatchId, BatchLine, BatchLineRange, BatchState, BatchStep, BatchWrite, StoredBatch,
};
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, commit_writes, entry_id, expect_refusal, owner_id, today_at,
};
use crate::conformance::media::build_media;
use crate::error::StoreError;
use crate::file::{FileFilter, FileId, FilePurpose, FileTotals, FileWrite, StoredFile};
use crate::media::{MediaState, MediaWrite};
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("a file is listed until it is deleted or expires", |store| Box::pin(check_files(store))),
    ("a file is kept for its batch, and dropped with its object", |store| {
        Box::pin(check_file_ends(store))
    }),
    ("a batch takes its steps in order and ends once", |store| Box::pin(check_steps(store))),
    ("a line of a batch is charged once", |store| Box::pin(check_lines(store))),
    ("the oldest open batch of each owner is due", |store| Box::pin(check_due(store))),
    ("results are dropped after their batch has ended", |store| Box::pin(check_dropping(store))),
];

fn file_id(number: u128) -> FileId {
    FileId(Uuid::from_u128(number))
}

fn batch_id(number: u128) -> BatchId {
    BatchId(Uuid::from_u128(number))
}

fn build_file(number: u128, owner: u8) -> StoredFile {
    StoredFile {
        id: file_id(number),
        owner: owner_id(owner),
        name: "lines.jsonl".into(),
        purpose: FilePurpose::Batch,
        bytes: 1_000,
        created: today_at(1),
        expires: today_at(100),
    }
}

fn add_file(file: StoredFile, owner: u8) -> Vec<StoreWrite> {
    let media = build_media(file.id.0.as_u128(), owner);
    vec![StoreWrite::Media(Box::new(MediaWrite::Add(media))), FileWrite::Add(file).into()]
}

fn build_batch(number: u128, owner: u8) -> StoredBatch {
    StoredBatch {
        id: batch_id(number),
        owner: owner_id(owner),
        caller: "key 1".into(),
        endpoint: "/v1/chat/completions".into(),
        input_file: file_id(1),
        metadata: Some("{\"a\":\"b\"}".into()),
        keep_output_ms: Some(5),
        state: BatchState::Validating,
        errors: None,
        result_key: Some([7; 32]),
        counts: crate::batch::BatchCounts::default(),
        output_file: None,
        error_file: None,
        created: today_at(1),
        expires: today_at(50),
        started: None,
        finalizing: None,
        cancelling: None,
        ended: None,
    }
}

fn add_batch(batch: StoredBatch) -> StoreWrite {
    BatchWrite::Add(Box::new(batch)).into()
}

fn step(number: u128, step: BatchStep, ms: i64) -> StoreWrite {
    BatchWrite::Step { batch: batch_id(number), step, at: today_at(ms) }.into()
}

fn end(state: BatchState) -> BatchStep {
    BatchStep::End { state, output_file: Some(file_id(8)), error_file: None }
}

fn finish(line: u32, charge: Option<u128>, is_failed: bool, result: &[u8]) -> StoreWrite {
    let nanos = if charge.is_some() { 10 } else { 0 };
    let cost = BatchCost { usd: Nano::from_nanos(nanos), diem: Nano::from_nanos(nanos * 2) };
    let (batch, charge, result) = (batch_id(1), charge.map(entry_id), result.to_vec());
    BatchWrite::FinishLine(Box::new(BatchLine { batch, line, charge, is_failed, cost, result }))
        .into()
}

async fn read(store: &dyn Store, number: u128) -> StoredBatch {
    store.batch(batch_id(number)).await.expect("asked").expect("it is there")
}

async fn check_files(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let output = StoredFile { purpose: FilePurpose::BatchOutput, ..build_file(2, 1) };
    let expired = StoredFile { expires: today_at(10), ..build_file(3, 1) };
    let all = [build_file(1, 1), output.clone(), expired.clone()];
    for file in all {
        commit_writes(store, add_file(file, 1)).await;
    }
    commit_writes(store, add_file(build_file(4, 2), 2)).await;
    assert_eq!(store.file(file_id(1)).await.expect("asked"), Some(build_file(1, 1)));
    assert_eq!(store.file(file_id(3)).await.expect("asked"), Some(expired));
    assert_eq!(store.file(file_id(9)).await.expect("asked"), None);
    let all = FileFilter {
        owner: owner_id(1),
        purpose: None,
        after: None,
        is_ascending: false,
        limit: 9,
        now: today_at(10),
    };
    let ids = async |filter| {
        let found = store.list_files(filter).await.expect("asked");
        found.into_iter().map(|file| file.id.0.as_u128()).collect::<Vec<_>>()
    };
    assert_eq!(ids(all).await, [2, 1]);
    assert_eq!(ids(FileFilter { is_ascending: true, ..all }).await, [1, 2]);
    assert_eq!(ids(FileFilter { after: Some(file_id(2)), ..all }).await, [1]);
    let ascending = FileFilter { is_ascending: true, after: Some(file_id(1)), ..all };
    assert_eq!(ids(ascending).await, [2]);
    assert_eq!(ids(FileFilter { limit: 1, ..all }).await, [2]);
    assert_eq!(ids(FileFilter { now: today_at(9), ..all }).await, [3, 2, 1]);
    let outputs = FileFilter { purpose: Some(FilePurpose::BatchOutput), ..all };
    assert_eq!(ids(outputs).await, [2]);
    let totals = store.file_totals(owner_id(1), today_at(10)).await.expect("asked");
    assert_eq!(totals, FileTotals { files: 2, bytes: 2_000 });
    commit_writes(store, vec![FileWrite::Delete(file_id(1)).into()]).await;
    assert_eq!(store.file(file_id(1)).await.expect("asked"), None);
    assert_eq!(ids(all).await, [2]);
    let media = store.media(file_id(1).media()).await.expect("asked").expect("it has a row");
    assert_eq!((media.state, media.key), (MediaState::Deleting, None));
    assert_eq!(
        store.file_totals(owner_id(3), today_at(1)).await.expect("asked"),
        FileTotals::default()
    );
}

async fn check_file_ends(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    for number in [1, 2] {
        commit_writes(store, add_file(build_file(number, 1), 1)).await;
    }
    let keep = |ms| FileWrite::KeepUntil { file: file_id(1), until: today_at(ms) }.into();
    commit_writes(store, vec![keep(500), keep(300)]).await;
    let kept = store.file(file_id(1)).await.expect("asked").expect("it is there");
    assert_eq!(kept.expires, today_at(500));
    let media = store.media(file_id(1).media()).await.expect("asked").expect("it has a row");
    assert_eq!(media.expires, today_at(500));
    let drop_gone = || FileWrite::DropGone { rows_max: 9 }.into();
    commit_writes(store, vec![FileWrite::Delete(file_id(1)).into(), drop_gone()]).await;
    assert!(store.media(file_id(1).media()).await.expect("asked").is_some(), "not gone yet");
    let error = expect_refusal(store, vec![keep(900)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    let deleted = StoreWrite::Media(Box::new(MediaWrite::Deleted(file_id(1).media())));
    commit_writes(store, vec![deleted, drop_gone()]).await;
    assert_eq!(store.media(file_id(1).media()).await.expect("asked"), None);
    assert_eq!(store.file(file_id(2)).await.expect("asked"), Some(build_file(2, 1)));
}

async fn check_steps(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![add_batch(build_batch(1, 1))]).await;
    assert_eq!(read(store, 1).await, build_batch(1, 1));
    assert!(store.is_batch_input(file_id(1)).await.expect("asked"));
    assert!(!store.is_batch_input(file_id(2)).await.expect("asked"));
    let too_early = vec![step(1, BatchStep::Finalize, 2)];
    let error = expect_refusal(store, too_early).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    commit_writes(store, vec![step(1, BatchStep::Start { lines: 3 }, 2)]).await;
    commit_writes(store, vec![step(1, BatchStep::Finalize, 3)]).await;
    let error = expect_refusal(store, vec![step(1, BatchStep::Cancel, 4)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    commit_writes(store, vec![step(1, end(BatchState::Completed), 5)]).await;
    let ended = read(store, 1).await;
    assert_eq!(ended.state, BatchState::Completed);
    assert_eq!((ended.result_key, ended.output_file), (None, Some(file_id(8))));
    assert_eq!((ended.counts.lines, ended.counts.failed), (3, 3));
    assert_eq!((ended.started, ended.finalizing), (Some(today_at(2)), Some(today_at(3))));
    assert_eq!(ended.ended, Some(today_at(5)));
    let error = expect_refusal(store, vec![step(1, end(BatchState::Expired), 6)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    assert!(!store.is_batch_input(file_id(1)).await.expect("asked"));

    commit_writes(store, vec![add_batch(build_batch(2, 1)), add_batch(build_batch(3, 1))]).await;
    let fail = BatchStep::Fail { errors: "[]".into() };
    commit_writes(store, vec![step(2, fail, 2), step(3, BatchStep::Cancel, 2)]).await;
    assert_eq!(read(store, 2).await.errors.as_deref(), Some("[]"));
    assert_eq!(read(store, 3).await.cancelling, Some(today_at(2)));
    assert_eq!(store.open_batches(owner_id(1)).await.expect("asked"), 1);
    let ids = |found: Vec<StoredBatch>| {
        found.into_iter().map(|batch| batch.id.0.as_u128()).collect::<Vec<_>>()
    };
    let listed = store.list_batches(owner_id(1), None, 2).await.expect("asked");
    assert_eq!(ids(listed), [3, 2]);
    let listed = store.list_batches(owner_id(1), Some(batch_id(2)), 9).await.expect("asked");
    assert_eq!(ids(listed), [1]);
}

async fn check_lines(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![add_batch(build_batch(1, 1))]).await;
    commit_writes(store, vec![step(1, BatchStep::Start { lines: 5 }, 2)]).await;
    commit_writes(store, vec![finish(1, Some(1), false, b"one")]).await;
    // An uncharged result changes nothing if there is one.
    commit_writes(store, vec![finish(1, None, true, b"later")]).await;
    let error = expect_refusal(store, vec![finish(1, Some(2), false, b"twice")]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    commit_writes(store, vec![finish(2, None, true, b"failed")]).await;
    commit_writes(store, vec![finish(3, None, false, b"free")]).await;
    commit_writes(store, vec![finish(5, None, true, b"unpaid")]).await;
    let counts = read(store, 1).await.counts;
    assert_eq!((counts.completed, counts.failed, counts.result_bytes), (2, 2, 19));
    // A charged one replaces it.
    commit_writes(store, vec![finish(5, Some(3), false, b"paid")]).await;
    let counts = read(store, 1).await.counts;
    assert_eq!((counts.completed, counts.failed, counts.result_bytes), (3, 1, 17));
    let cost = BatchCost { usd: Nano::from_nanos(20), diem: Nano::from_nanos(40) };
    assert_eq!(counts.cost, cost);
    let done = store.finished_lines(batch_id(1)).await.expect("asked");
    assert_eq!(done, [1, 2, 3, 5]);
    let all = BatchLineRange { batch: batch_id(1), is_failed: false, first: 1, last: u32::MAX };
    let sizes = store.result_sizes(all, 2).await.expect("asked");
    assert_eq!(
        sizes.iter().map(|size| (size.line, size.bytes)).collect::<Vec<_>>(),
        [(1, 3), (3, 4)]
    );
    let later = BatchLineRange { first: 2, ..all };
    let results = store.read_results(later).await.expect("asked");
    let results: Vec<_> = results.iter().map(|it| (it.line, it.result.as_slice())).collect();
    assert_eq!(results, [(3, b"free".as_slice()), (5, b"paid")]);
    let failed = BatchLineRange { is_failed: true, ..all };
    assert_eq!(store.read_results(failed).await.expect("asked").len(), 1);
}

async fn check_due(store: &dyn Store) {
    for owner in [1, 2] {
        add_funded_owner(store, owner).await;
    }
    let all = [(1, 1), (2, 1), (3, 2), (4, 2)];
    let all = all.map(|(number, owner)| add_batch(build_batch(number, owner)));
    commit_writes(store, all.to_vec()).await;
    let due = async |after: Option<u128>, limit| {
        let found = store.due_batches(after.map(batch_id), limit).await.expect("asked");
        found.into_iter().map(|batch| batch.id.0.as_u128()).collect::<Vec<_>>()
    };
    assert_eq!(due(None, 9).await, [1, 3]);
    assert_eq!(due(None, 1).await, [1]);
    assert_eq!(due(Some(1), 9).await, [3]);
    let fail = BatchStep::Fail { errors: "[]".into() };
    commit_writes(store, vec![step(1, fail, 2)]).await;
    assert_eq!(due(None, 9).await, [2, 3]);
}

async fn check_dropping(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![add_batch(build_batch(1, 1))]).await;
    commit_writes(store, vec![step(1, BatchStep::Start { lines: 2 }, 2)]).await;
    let lines = [1, 2].map(|line| finish(line, None, false, b"x"));
    commit_writes(store, lines.to_vec()).await;
    let drop_lines = |rows_max| BatchWrite::DropLines { rows_max }.into();
    let drop_ended = |ms| BatchWrite::DropEnded { before: today_at(ms), rows_max: 9 }.into();
    let count = async || store.finished_lines(batch_id(1)).await.expect("asked").len();
    commit_writes(store, vec![drop_lines(9)]).await;
    assert_eq!(count().await, 2, "it is open");
    commit_writes(store, vec![step(1, end(BatchState::Completed), 5)]).await;
    commit_writes(store, vec![drop_lines(1), drop_ended(99)]).await;
    assert_eq!(count().await, 1);
    assert_eq!(read(store, 1).await.counts.completed, 2);
    commit_writes(store, vec![drop_lines(9), drop_ended(5)]).await;
    assert_eq!(count().await, 0);
    commit_writes(store, vec![drop_ended(6)]).await;
    assert_eq!(store.batch(batch_id(1)).await.expect("asked"), None);
}
