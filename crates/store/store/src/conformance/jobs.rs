//! Queued work: every step names its fence, a job ends once, and owners take turns.

use ledger_core::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    add_funded_owner, commit_writes, expect_refusal, key_id, owner_id, today_at,
};
use crate::conformance::media::{build_media, media_id};
use crate::error::StoreError;
use crate::job::{JobFilter, JobId, JobKind, JobState, JobStep, JobWrite, QueuedJob, TIMINGS_KEPT};
use crate::media::MediaWrite;
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("a job is read back as it was queued", |store| Box::pin(check_queue(store))),
    ("a step by another fence changes nothing", |store| Box::pin(check_fence(store))),
    ("a job goes from its provider to its end, which is one", |store| {
        Box::pin(check_completion(store))
    }),
    ("a job that was not handed in is put back", |store| Box::pin(check_requeue(store))),
    ("owners take turns, each with its oldest job that is due", |store| {
        Box::pin(check_owner_turns(store))
    }),
    ("jobs are listed the newest first, a page at a time", |store| Box::pin(check_list(store))),
    ("a job that is to end is taken up at once", |store| Box::pin(check_cancel(store))),
    ("the times of the last jobs of a model are kept", |store| Box::pin(check_timings(store))),
    ("jobs are forgotten with their media", |store| Box::pin(check_deletion(store))),
];

fn job_id(number: u128) -> JobId {
    JobId(Uuid::from_u128(number))
}

fn build_job(number: u128, owner: u8) -> QueuedJob {
    QueuedJob {
        id: job_id(number),
        owner: owner_id(owner),
        key: Some(key_id(owner)),
        kind: JobKind::Video,
        model: "film".into(),
        request: "{\"prompt\":\"a boat\"}".into(),
        charge: "{}".into(),
        request_id: "0a1b".into(),
        alternative: Some("other".into()),
        has_link: true,
        is_link_revoked: false,
        state: JobState::Queued,
        attempts: 0,
        fence: 0,
        lease_until: Timestamp::from_ms(0),
        due: today_at(10),
        is_submitting: false,
        wants_cancel: false,
        ticket: None,
        queued: today_at(i64::try_from(number).unwrap_or(0)),
        started: None,
        submitted: None,
        done: None,
        failure: None,
        media: None,
    }
}

fn wrap_job_write(write: JobWrite) -> StoreWrite {
    StoreWrite::Job(Box::new(write))
}

fn add_job(job: QueuedJob) -> StoreWrite {
    wrap_job_write(JobWrite::Add(Box::new(job)))
}

fn step_job(number: u128, fence: u64, ms: i64, step: JobStep) -> StoreWrite {
    wrap_job_write(JobWrite::Step { job: job_id(number), fence, step, at: today_at(ms) })
}

fn claim_job(number: u128, fence: u64, ms: i64) -> StoreWrite {
    step_job(number, fence, ms, JobStep::Claim { lease_until: today_at(ms + 60) })
}

async fn read_job(store: &dyn Store, number: u128) -> QueuedJob {
    store.job(job_id(number)).await.expect("asked").expect("the job is there")
}

async fn check_queue(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    assert_eq!(store.job(job_id(1)).await.expect("asked"), None);
    commit_writes(store, vec![add_job(build_job(1, 1))]).await;
    assert_eq!(read_job(store, 1).await, build_job(1, 1));
    assert_eq!(store.open_jobs(owner_id(1)).await.expect("asked"), 1);
    let error = expect_refusal(store, vec![add_job(build_job(1, 1))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    let counts = store.job_counts().await.expect("asked");
    assert_eq!((counts.len(), counts[0].state, counts[0].jobs), (1, JobState::Queued, 1));
    assert_eq!(counts[0].oldest, Some(today_at(1)));
}

async fn check_fence(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![add_job(build_job(1, 1)), claim_job(1, 0, 20)]).await;
    let claimed = read_job(store, 1).await;
    assert_eq!((claimed.state, claimed.fence), (JobState::Running, 1));
    assert_eq!((claimed.started, claimed.lease_until), (Some(today_at(20)), today_at(80)));
    for stale in
        [claim_job(1, 0, 90), claim_job(1, 1, 79), step_job(1, 0, 30, JobStep::BeginSubmit)]
    {
        let error = expect_refusal(store, vec![stale]).await;
        assert!(matches!(error, StoreError::Missing(_)), "{error}");
    }
    commit_writes(store, vec![step_job(1, 1, 30, JobStep::Beat { lease_until: today_at(100) })])
        .await;
    let error = expect_refusal(store, vec![claim_job(1, 1, 99)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "its lease runs: {error}");
    commit_writes(store, vec![wrap_job_write(JobWrite::BreakLeases), claim_job(1, 1, 99)]).await;
    let again = read_job(store, 1).await;
    assert_eq!((again.fence, again.started), (2, Some(today_at(20))));
}

async fn check_completion(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![add_job(build_job(1, 1)), claim_job(1, 0, 20)]).await;
    let submitted = || step_job(1, 1, 31, JobStep::Submitted { ticket: "t".into() });
    let error = expect_refusal(store, vec![submitted()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "nobody began to: {error}");
    commit_writes(store, vec![step_job(1, 1, 30, JobStep::BeginSubmit), submitted()]).await;
    let running = read_job(store, 1).await;
    assert_eq!((running.attempts, running.ticket.as_deref()), (1, Some("t")));
    assert_eq!((running.submitted, running.is_submitting), (Some(today_at(31)), false));
    commit_writes(
        store,
        vec![step_job(1, 1, 40, JobStep::Leave { due: today_at(50), is_unknown: true })],
    )
    .await;
    assert_eq!(read_job(store, 1).await.state, JobState::Unknown);
    let complete = || step_job(1, 2, 60, JobStep::Complete { media: media_id(7), took_ms: 29 });
    let made = StoreWrite::Media(Box::new(MediaWrite::Add(build_media(7, 1))));
    commit_writes(store, vec![claim_job(1, 1, 55), made, complete()]).await;
    let ended = read_job(store, 1).await;
    assert_eq!((ended.state, ended.media), (JobState::Completed, Some(media_id(7))));
    assert_eq!((ended.request.as_str(), ended.done), ("", Some(today_at(60))));
    let failed = step_job(1, 2, 70, JobStep::Fail { failure: "{}".into() });
    for late in [complete(), failed, claim_job(1, 2, 999)] {
        let error = expect_refusal(store, vec![late]).await;
        assert!(matches!(error, StoreError::Missing(_)), "{error}");
    }
    assert_eq!(store.open_jobs(owner_id(1)).await.expect("asked"), 0);
    assert_eq!(store.job_timings("film").await.expect("asked"), [29]);
    commit_writes(store, vec![wrap_job_write(JobWrite::RevokeLink(job_id(1)))]).await;
    assert!(read_job(store, 1).await.is_link_revoked);
}

async fn check_requeue(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    commit_writes(store, vec![add_job(build_job(1, 1)), claim_job(1, 0, 20)]).await;
    let back = |is_attempt| step_job(1, 1, 40, JobStep::PutBack { due: today_at(90), is_attempt });
    commit_writes(store, vec![step_job(1, 1, 30, JobStep::BeginSubmit), back(true)]).await;
    let waits = read_job(store, 1).await;
    assert_eq!((waits.state, waits.attempts, waits.due), (JobState::Queued, 1, today_at(90)));
    assert!(!waits.is_submitting);
    commit_writes(store, vec![step_job(1, 1, 30, JobStep::BeginSubmit), back(false)]).await;
    assert_eq!(read_job(store, 1).await.attempts, 1);
    let leave = step_job(1, 1, 40, JobStep::Leave { due: today_at(50), is_unknown: false });
    let error = expect_refusal(store, vec![leave]).await;
    assert!(matches!(error, StoreError::Missing(_)), "no provider has it: {error}");
    commit_writes(store, vec![step_job(1, 1, 50, JobStep::Reject { failure: "{\"a\":1}".into() })])
        .await;
    let rejected = read_job(store, 1).await;
    assert_eq!(rejected.state, JobState::Rejected);
    assert_eq!(rejected.failure.as_deref(), Some("{\"a\":1}"));
}

async fn list_due_ids(store: &dyn Store, ms: i64, limit: usize) -> Vec<JobId> {
    let jobs = store.due_jobs(today_at(ms), None, limit).await.expect("asked");
    jobs.into_iter().map(|job| job.id).collect()
}

async fn check_owner_turns(store: &dyn Store) {
    for number in [1, 2, 3] {
        add_funded_owner(store, number).await;
    }
    let later = QueuedJob { due: today_at(500), ..build_job(4, 3) };
    commit_writes(
        store,
        vec![
            add_job(build_job(2, 1)),
            add_job(build_job(1, 1)),
            add_job(build_job(3, 2)),
            add_job(later),
        ],
    )
    .await;
    assert_eq!(list_due_ids(store, 9, 10).await, []);
    assert_eq!(list_due_ids(store, 10, 10).await, [job_id(1), job_id(3)]);
    assert_eq!(list_due_ids(store, 10, 1).await, [job_id(1)]);
    commit_writes(store, vec![claim_job(1, 0, 20)]).await;
    assert_eq!(list_due_ids(store, 20, 10).await, [job_id(2), job_id(3)]);
    assert_eq!(list_due_ids(store, 80, 10).await, [job_id(1), job_id(3)], "its lease is over");
    assert_eq!(list_due_ids(store, 500, 10).await, [job_id(1), job_id(3), job_id(4)]);
    let mut after = None;
    for number in [1, 3, 4] {
        let page = store.due_jobs(today_at(500), after, 1).await.expect("asked");
        assert_eq!(page.iter().map(|job| job.id).collect::<Vec<_>>(), [job_id(number)]);
        after = page.first().map(QueuedJob::cursor);
    }
    assert_eq!(store.due_jobs(today_at(500), after, 1).await.expect("asked"), []);
}

async fn check_list(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    commit_writes(
        store,
        vec![
            add_job(build_job(1, 1)),
            add_job(build_job(2, 2)),
            add_job(build_job(3, 1)),
            add_job(build_job(4, 1)),
        ],
    )
    .await;
    commit_writes(store, vec![step_job(3, 0, 9, JobStep::Fail { failure: "{}".into() })]).await;
    let ids = async |owner: Option<OwnerId>, open_only, before, limit| {
        let filter = JobFilter { owner, open_only, before, limit };
        let jobs = store.list_jobs(filter).await.expect("asked");
        jobs.into_iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(None, false, None, 9).await, [4, 3, 2, 1].map(job_id));
    assert_eq!(ids(Some(owner_id(1)), false, None, 2).await, [4, 3].map(job_id));
    assert_eq!(ids(Some(owner_id(1)), true, None, 9).await, [4, 1].map(job_id));
    assert_eq!(ids(None, true, Some(job_id(4)), 9).await, [2, 1].map(job_id));
}

async fn check_cancel(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let later = QueuedJob { due: today_at(500), ..build_job(1, 1) };
    commit_writes(store, vec![add_job(later), add_job(build_job(2, 1)), claim_job(2, 0, 20)]).await;
    let cancel = |number| wrap_job_write(JobWrite::WantCancel(job_id(number)));
    commit_writes(store, vec![cancel(1), cancel(2), cancel(3)]).await;
    let waits = read_job(store, 1).await;
    assert_eq!((waits.wants_cancel, waits.due), (true, Timestamp::from_ms(0)));
    assert_eq!(read_job(store, 2).await.due, today_at(10), "somebody works on it");
    commit_writes(
        store,
        vec![step_job(1, 0, 30, JobStep::Fail { failure: "{}".into() }), cancel(1)],
    )
    .await;
}

async fn check_timings(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let count = u128::try_from(TIMINGS_KEPT).expect("a small number") + 3;
    for number in 1..=count {
        let media_number = number << 8;
        let took_ms = u64::try_from(number).expect("a small number");
        let complete = JobStep::Complete { media: media_id(media_number), took_ms };
        let made = StoreWrite::Media(Box::new(MediaWrite::Add(build_media(media_number, 1))));
        commit_writes(
            store,
            vec![add_job(build_job(number, 1)), made, step_job(number, 0, 5, complete)],
        )
        .await;
    }
    let mut times = store.job_timings("film").await.expect("asked");
    times.sort_unstable();
    assert_eq!(times.len(), TIMINGS_KEPT);
    assert_eq!(times[0], 4, "the oldest are forgotten");
    assert_eq!(store.job_timings("other").await.expect("asked"), [0_u64; 0]);
}

async fn check_deletion(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let made = StoreWrite::Media(Box::new(MediaWrite::Add(build_media(7, 1))));
    let complete = JobStep::Complete { media: media_id(7), took_ms: 1 };
    let failed = || JobStep::Fail { failure: "{}".into() };
    commit_writes(
        store,
        vec![add_job(build_job(1, 1)), add_job(build_job(2, 1)), add_job(build_job(3, 1)), made],
    )
    .await;
    commit_writes(store, vec![step_job(1, 0, 20, complete), step_job(2, 0, 21, failed())]).await;
    let drop =
        |ms, rows_max| wrap_job_write(JobWrite::DropEnded { before: today_at(ms), rows_max });
    let left = async || {
        let filter = JobFilter { limit: 9, ..JobFilter::default() };
        let jobs = store.list_jobs(filter).await.expect("asked");
        jobs.into_iter().map(|job| job.id).collect::<Vec<_>>()
    };
    commit_writes(store, vec![drop(21, 9)]).await;
    assert_eq!(left().await, [3, 2, 1].map(job_id), "what it made is still there");
    commit_writes(store, vec![drop(22, 9)]).await;
    assert_eq!(left().await, [3, 1].map(job_id));
    let gone = [MediaWrite::DestroyKey(media_id(7)), MediaWrite::Deleted(media_id(7))];
    commit_writes(store, gone.map(|it| StoreWrite::Media(Box::new(it))).to_vec()).await;
    commit_writes(store, vec![drop(22, 0)]).await;
    assert_eq!(left().await, [3, 1].map(job_id));
    commit_writes(store, vec![drop(22, 9)]).await;
    assert_eq!(left().await, [3].map(job_id), "it has not ended");
    assert_eq!(store.media(media_id(7)).await.expect("asked"), None);
}
