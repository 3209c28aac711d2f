//! Queued work: every step names its fence, a job ends once, and owners take turns.

use credits::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

use crate::Store;
use crate::conformance::Cases;
use crate::conformance::fixture::{at, done, furnish, key_id, owner_id, refused};
use crate::conformance::media::{media, media_id};
use crate::error::StoreError;
use crate::job::{JobFilter, JobId, JobKind, JobState, JobStep, JobWrite, QueuedJob, TIMINGS_KEPT};
use crate::media::MediaWrite;
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("a job is read back as it was queued", |store| Box::pin(queued(store))),
    ("a step by another fence changes nothing", |store| Box::pin(fenced(store))),
    ("a job goes from its provider to its end, which is one", |store| Box::pin(completed(store))),
    ("a job that was not handed in is put back", |store| Box::pin(put_back(store))),
    ("owners take turns, each with its oldest job that is due", |store| Box::pin(turns(store))),
    ("jobs are listed the newest first, a page at a time", |store| Box::pin(listed(store))),
    ("a job that is to end is taken up at once", |store| Box::pin(cancelled(store))),
    ("the times of the last jobs of a model are kept", |store| Box::pin(timed(store))),
    ("jobs are forgotten with their media", |store| Box::pin(dropped(store))),
];

fn job_id(number: u128) -> JobId {
    JobId(Uuid::from_u128(number))
}

fn job(number: u128, owner: u8) -> QueuedJob {
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
        due: at(10),
        is_submitting: false,
        wants_cancel: false,
        ticket: None,
        queued: at(i64::try_from(number).unwrap_or(0)),
        started: None,
        submitted: None,
        done: None,
        failure: None,
        media: None,
    }
}

fn write(write: JobWrite) -> Write {
    Write::Job(Box::new(write))
}

fn add(job: QueuedJob) -> Write {
    write(JobWrite::Add(Box::new(job)))
}

fn step(number: u128, fence: u64, ms: i64, step: JobStep) -> Write {
    write(JobWrite::Step { job: job_id(number), fence, step, at: at(ms) })
}

fn claim(number: u128, fence: u64, ms: i64) -> Write {
    step(number, fence, ms, JobStep::Claim { lease_until: at(ms + 60) })
}

async fn found(store: &dyn Store, number: u128) -> QueuedJob {
    store.job(job_id(number)).await.expect("asked").expect("the job is there")
}

async fn queued(store: &dyn Store) {
    furnish(store, 1).await;
    assert_eq!(store.job(job_id(1)).await.expect("asked"), None);
    done(store, vec![add(job(1, 1))]).await;
    assert_eq!(found(store, 1).await, job(1, 1));
    assert_eq!(store.open_jobs(owner_id(1)).await.expect("asked"), 1);
    let error = refused(store, vec![add(job(1, 1))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
    let counts = store.job_counts().await.expect("asked");
    assert_eq!((counts.len(), counts[0].state, counts[0].jobs), (1, JobState::Queued, 1));
    assert_eq!(counts[0].oldest, Some(at(1)));
}

async fn fenced(store: &dyn Store) {
    furnish(store, 1).await;
    done(store, vec![add(job(1, 1)), claim(1, 0, 20)]).await;
    let claimed = found(store, 1).await;
    assert_eq!((claimed.state, claimed.fence), (JobState::Running, 1));
    assert_eq!((claimed.started, claimed.lease_until), (Some(at(20)), at(80)));
    for stale in [claim(1, 0, 90), claim(1, 1, 79), step(1, 0, 30, JobStep::BeginSubmit)] {
        let error = refused(store, vec![stale]).await;
        assert!(matches!(error, StoreError::Missing(_)), "{error}");
    }
    done(store, vec![step(1, 1, 30, JobStep::Beat { lease_until: at(100) })]).await;
    let error = refused(store, vec![claim(1, 1, 99)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "its lease runs: {error}");
    done(store, vec![write(JobWrite::BreakLeases), claim(1, 1, 99)]).await;
    let again = found(store, 1).await;
    assert_eq!((again.fence, again.started), (2, Some(at(20))));
}

async fn completed(store: &dyn Store) {
    furnish(store, 1).await;
    done(store, vec![add(job(1, 1)), claim(1, 0, 20)]).await;
    let submitted = || step(1, 1, 31, JobStep::Submitted { ticket: "t".into() });
    let error = refused(store, vec![submitted()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "nobody began to: {error}");
    done(store, vec![step(1, 1, 30, JobStep::BeginSubmit), submitted()]).await;
    let running = found(store, 1).await;
    assert_eq!((running.attempts, running.ticket.as_deref()), (1, Some("t")));
    assert_eq!((running.submitted, running.is_submitting), (Some(at(31)), false));
    done(store, vec![step(1, 1, 40, JobStep::Leave { due: at(50), is_unknown: true })]).await;
    assert_eq!(found(store, 1).await.state, JobState::Unknown);
    let complete = || step(1, 2, 60, JobStep::Complete { media: media_id(7), took_ms: 29 });
    let made = Write::Media(Box::new(MediaWrite::Add(media(7, 1))));
    done(store, vec![claim(1, 1, 55), made, complete()]).await;
    let ended = found(store, 1).await;
    assert_eq!((ended.state, ended.media), (JobState::Completed, Some(media_id(7))));
    assert_eq!((ended.request.as_str(), ended.done), ("", Some(at(60))));
    let failed = step(1, 2, 70, JobStep::Fail { failure: "{}".into() });
    for late in [complete(), failed, claim(1, 2, 999)] {
        let error = refused(store, vec![late]).await;
        assert!(matches!(error, StoreError::Missing(_)), "{error}");
    }
    assert_eq!(store.open_jobs(owner_id(1)).await.expect("asked"), 0);
    assert_eq!(store.job_timings("film").await.expect("asked"), [29]);
    done(store, vec![write(JobWrite::RevokeLink(job_id(1)))]).await;
    assert!(found(store, 1).await.is_link_revoked);
}

async fn put_back(store: &dyn Store) {
    furnish(store, 1).await;
    done(store, vec![add(job(1, 1)), claim(1, 0, 20)]).await;
    let back = |is_attempt| step(1, 1, 40, JobStep::PutBack { due: at(90), is_attempt });
    done(store, vec![step(1, 1, 30, JobStep::BeginSubmit), back(true)]).await;
    let waits = found(store, 1).await;
    assert_eq!((waits.state, waits.attempts, waits.due), (JobState::Queued, 1, at(90)));
    assert!(!waits.is_submitting);
    done(store, vec![step(1, 1, 30, JobStep::BeginSubmit), back(false)]).await;
    assert_eq!(found(store, 1).await.attempts, 1);
    let leave = step(1, 1, 40, JobStep::Leave { due: at(50), is_unknown: false });
    let error = refused(store, vec![leave]).await;
    assert!(matches!(error, StoreError::Missing(_)), "no provider has it: {error}");
    done(store, vec![step(1, 1, 50, JobStep::Reject { failure: "{\"a\":1}".into() })]).await;
    let rejected = found(store, 1).await;
    assert_eq!(rejected.state, JobState::Rejected);
    assert_eq!(rejected.failure.as_deref(), Some("{\"a\":1}"));
}

async fn due(store: &dyn Store, ms: i64, limit: usize) -> Vec<JobId> {
    let jobs = store.due_jobs(at(ms), None, limit).await.expect("asked");
    jobs.into_iter().map(|job| job.id).collect()
}

async fn turns(store: &dyn Store) {
    for number in [1, 2, 3] {
        furnish(store, number).await;
    }
    let later = QueuedJob { due: at(500), ..job(4, 3) };
    done(store, vec![add(job(2, 1)), add(job(1, 1)), add(job(3, 2)), add(later)]).await;
    assert_eq!(due(store, 9, 10).await, []);
    assert_eq!(due(store, 10, 10).await, [job_id(1), job_id(3)]);
    assert_eq!(due(store, 10, 1).await, [job_id(1)]);
    done(store, vec![claim(1, 0, 20)]).await;
    assert_eq!(due(store, 20, 10).await, [job_id(2), job_id(3)]);
    assert_eq!(due(store, 80, 10).await, [job_id(1), job_id(3)], "its lease is over");
    assert_eq!(due(store, 500, 10).await, [job_id(1), job_id(3), job_id(4)]);
    let mut after = None;
    for number in [1, 3, 4] {
        let page = store.due_jobs(at(500), after, 1).await.expect("asked");
        assert_eq!(page.iter().map(|job| job.id).collect::<Vec<_>>(), [job_id(number)]);
        after = page.first().map(QueuedJob::cursor);
    }
    assert_eq!(store.due_jobs(at(500), after, 1).await.expect("asked"), []);
}

async fn listed(store: &dyn Store) {
    furnish(store, 1).await;
    furnish(store, 2).await;
    done(store, vec![add(job(1, 1)), add(job(2, 2)), add(job(3, 1)), add(job(4, 1))]).await;
    done(store, vec![step(3, 0, 9, JobStep::Fail { failure: "{}".into() })]).await;
    let ids = async |owner: Option<OwnerId>, open_only, before, limit| {
        let filter = JobFilter { owner, open_only, before, limit };
        let jobs = store.jobs(filter).await.expect("asked");
        jobs.into_iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(None, false, None, 9).await, [4, 3, 2, 1].map(job_id));
    assert_eq!(ids(Some(owner_id(1)), false, None, 2).await, [4, 3].map(job_id));
    assert_eq!(ids(Some(owner_id(1)), true, None, 9).await, [4, 1].map(job_id));
    assert_eq!(ids(None, true, Some(job_id(4)), 9).await, [2, 1].map(job_id));
}

async fn cancelled(store: &dyn Store) {
    furnish(store, 1).await;
    let later = QueuedJob { due: at(500), ..job(1, 1) };
    done(store, vec![add(later), add(job(2, 1)), claim(2, 0, 20)]).await;
    let cancel = |number| write(JobWrite::WantCancel(job_id(number)));
    done(store, vec![cancel(1), cancel(2), cancel(3)]).await;
    let waits = found(store, 1).await;
    assert_eq!((waits.wants_cancel, waits.due), (true, Timestamp::from_ms(0)));
    assert_eq!(found(store, 2).await.due, at(10), "somebody works on it");
    done(store, vec![step(1, 0, 30, JobStep::Fail { failure: "{}".into() }), cancel(1)]).await;
}

async fn timed(store: &dyn Store) {
    furnish(store, 1).await;
    let count = u128::try_from(TIMINGS_KEPT).expect("a small number") + 3;
    for number in 1..=count {
        let media_number = number << 8;
        let took_ms = u64::try_from(number).expect("a small number");
        let complete = JobStep::Complete { media: media_id(media_number), took_ms };
        let made = Write::Media(Box::new(MediaWrite::Add(media(media_number, 1))));
        done(store, vec![add(job(number, 1)), made, step(number, 0, 5, complete)]).await;
    }
    let mut times = store.job_timings("film").await.expect("asked");
    times.sort_unstable();
    assert_eq!(times.len(), TIMINGS_KEPT);
    assert_eq!(times[0], 4, "the oldest are forgotten");
    assert_eq!(store.job_timings("other").await.expect("asked"), [0_u64; 0]);
}

async fn dropped(store: &dyn Store) {
    furnish(store, 1).await;
    let made = Write::Media(Box::new(MediaWrite::Add(media(7, 1))));
    let complete = JobStep::Complete { media: media_id(7), took_ms: 1 };
    let failed = || JobStep::Fail { failure: "{}".into() };
    done(store, vec![add(job(1, 1)), add(job(2, 1)), add(job(3, 1)), made]).await;
    done(store, vec![step(1, 0, 20, complete), step(2, 0, 21, failed())]).await;
    let drop = |ms, rows_max| write(JobWrite::DropEnded { before: at(ms), rows_max });
    let left = async || {
        let filter = JobFilter { limit: 9, ..JobFilter::default() };
        let jobs = store.jobs(filter).await.expect("asked");
        jobs.into_iter().map(|job| job.id).collect::<Vec<_>>()
    };
    done(store, vec![drop(21, 9)]).await;
    assert_eq!(left().await, [3, 2, 1].map(job_id), "what it made is still there");
    done(store, vec![drop(22, 9)]).await;
    assert_eq!(left().await, [3, 1].map(job_id));
    let gone = [MediaWrite::DestroyKey(media_id(7)), MediaWrite::Deleted(media_id(7))];
    done(store, gone.map(|it| Write::Media(Box::new(it))).to_vec()).await;
    done(store, vec![drop(22, 0)]).await;
    assert_eq!(left().await, [3, 1].map(job_id));
    done(store, vec![drop(22, 9)]).await;
    assert_eq!(left().await, [3].map(job_id), "it has not ended");
    assert_eq!(store.media(media_id(7)).await.expect("asked"), None);
}
