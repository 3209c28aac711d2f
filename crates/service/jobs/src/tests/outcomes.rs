//! Tests of the ends of jobs, and of their cost.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{ContentRefusal, EngineError, MediaProgress, MediaStatus, TimeoutPhase};
use store::job::JobState;
use store::media::MediaState;

use super::fixture::{Script, World, owner, world};
use crate::{FailureReason, JobFailure};

fn answers<T>(answers: impl IntoIterator<Item = T>) -> std::sync::Mutex<Vec<T>> {
    std::sync::Mutex::new(answers.into_iter().collect())
}

fn unreachable() -> EngineError {
    EngineError::Unreachable { cause: "down".into() }
}

async fn failure(world: &World) -> JobFailure {
    let jobs = world.all().await;
    JobFailure::read(jobs[0].failure.as_deref().expect("it failed"))
}

#[tokio::test]
async fn a_job_that_succeeds_is_charged_once_and_its_result_is_kept() {
    let world = world(Script::default()).await;
    let id = world.add(1).await.unwrap();
    assert_eq!(world.job(id).await.state, JobState::Queued);
    world.to_the_end().await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Completed, 1));
    assert_eq!(job.request, "", "prompts are not kept after the end");
    let media = world.jobs.find_media(&job).await.unwrap().unwrap();
    assert_eq!(media.content_type, "audio/wav");
    world.expect_sound().await;
}

#[tokio::test]
async fn a_panic_while_a_job_runs_ends_neither_the_queue_nor_the_job() {
    let world = world(Script { panics: true.into(), ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    let job = world.job(id).await;
    assert!(matches!(job.state, JobState::Completed | JobState::Failed), "{:?}", job.state);
    let second = world.add(1).await.unwrap();
    world.to_the_end().await;
    assert_eq!(world.job(second).await.state, JobState::Completed);
    world.expect_sound().await;
}

#[tokio::test]
async fn work_that_would_fail_again_is_handed_in_once_and_given_back() {
    let looks = answers([Ok(MediaStatus::Rejected { message: "no result".into() })]);
    let world = world(Script { looks, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    assert_eq!(world.job(id).await.state, JobState::Failed);
    assert_eq!(failure(&world).await.reason, FailureReason::Provider);
    assert_eq!(world.engine.order.lock().unwrap().len(), 1);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_job_that_cannot_be_paid_is_not_there() {
    let world = world(Script::default()).await;
    let mut new = super::fixture::new_job(1);
    new.charge.lines[0].units = 1_000_000;
    assert!(matches!(world.jobs.add(new, |_| Vec::new()).await, Err(crate::QueueError::Unpaid(_))));
    assert_eq!(world.all().await, []);
    world.expect_sound().await;
}

#[tokio::test]
async fn an_owner_has_a_bounded_number_of_open_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let store = super::fixture::open_store(&folder);
    let settings =
        crate::QueueSettings { open_per_owner_max: 2, ..crate::QueueSettings::default() };
    let world = super::fixture::world_on(store, folder, Script::default(), settings).await;
    world.add(1).await.unwrap();
    world.add(1).await.unwrap();
    assert!(matches!(world.add(1).await, Err(crate::QueueError::TooMany { most: 2 })));
    world.add(2).await.unwrap();
    world.to_the_end().await;
    world.add(1).await.unwrap();
    world.to_the_end().await;
    world.expect_sound().await;
}

#[tokio::test]
async fn a_provider_that_fails_is_tried_three_times_and_then_the_money_goes_back() {
    let looks = answers([Ok(MediaStatus::Failed { message: "out of memory".into() })]);
    let world = world(Script { looks, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Failed, 3));
    assert_eq!(failure(&world).await.message, "out of memory");
    assert_eq!(world.engine.taken.lock().unwrap().values().sum::<usize>(), 3);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_provider_that_recovers_is_paid() {
    let submits = answers([Err(unreachable()), Err(unreachable()), Ok(())]);
    let world = world(Script { submits, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    assert_eq!(world.job(id).await.state, JobState::Completed);
    world.expect_sound().await;
}

#[tokio::test]
async fn waiting_for_a_full_provider_is_no_attempt() {
    let full = || Err(EngineError::Overloaded { retry_after: None });
    let submits = answers([full(), full(), full(), full(), full(), Ok(())]);
    let world = world(Script { submits, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Completed, 1));
    world.expect_sound().await;
}

#[tokio::test]
async fn content_that_a_provider_refuses_ends_the_job_for_good() {
    let refusal = ContentRefusal {
        message: "no violence".into(),
        suggested_prompt: Some("a calm walk".into()),
        recommended_model: None,
    };
    let looks = answers([Ok(MediaStatus::Refused(refusal))]);
    let world = world(Script { looks, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Rejected, 1));
    let failure = failure(&world).await;
    assert_eq!(failure.reason, FailureReason::Policy);
    assert_eq!(failure.suggested_prompt.as_deref(), Some("a calm walk"));
    world.expect_sound().await;
}

#[tokio::test]
async fn work_that_may_have_begun_is_not_handed_in_twice() {
    let timeout = || EngineError::Timeout { phase: TimeoutPhase::Answer };
    let submits = answers([Err(timeout()), Ok(())]);
    let world = world(Script { submits, ..Script::default() }).await;
    world.add(1).await.unwrap();
    world.to_the_end().await;
    assert_eq!(failure(&world).await.reason, FailureReason::Provider);
    assert_eq!(world.engine.taken.lock().unwrap().len(), 0);
    world.expect_sound().await;
}

#[tokio::test]
async fn an_engine_that_knows_names_is_asked_again() {
    let timeout = || EngineError::Timeout { phase: TimeoutPhase::Answer };
    let submits = answers([Err(timeout()), Ok(())]);
    let world = world(Script { submits, knows_names: true, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    assert_eq!(world.job(id).await.state, JobState::Completed);
    world.expect_sound().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test itself waits for the worker")]
async fn a_silent_provider_keeps_the_money_held_for_a_day_and_no_longer() {
    let looks = answers([Err(unreachable())]);
    let world = world(Script { looks, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    // Ten minutes without a response pass while the worker polls.
    let working = tokio::spawn(world.begin());
    let clock = world.clock.clone();
    let engine = world.engine.clone();
    tokio::time::timeout(Duration::from_secs(10), async {
        while engine.looked.load(Ordering::SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    clock.advance(Duration::from_secs(601));
    working.await.unwrap();
    world.round().await;
    let job = world.job(id).await;
    assert_eq!(job.state, JobState::Unknown);
    assert_eq!(world.ledger.status().open_holds, 1, "unknown is not failed");
    world.clock.advance(Duration::from_secs(23 * 60 * 60));
    let working = tokio::spawn(world.begin());
    let before = world.engine.looked.load(Ordering::SeqCst);
    tokio::time::timeout(Duration::from_secs(10), async {
        while world.engine.looked.load(Ordering::SeqCst) == before {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    assert!(world.job(id).await.state.is_open());
    world.clock.advance(Duration::from_secs(60 * 60));
    working.await.unwrap();
    world.to_the_end().await;
    assert_eq!(failure(&world).await.reason, FailureReason::Overdue);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_provider_that_answers_again_after_silence_is_paid() {
    let fetches = answers([Err(unreachable()), Err(unreachable()), Ok(super::fixture::sound())]);
    let world = world(Script { fetches, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    let job = world.job(id).await;
    assert_eq!((job.state, job.attempts), (JobState::Completed, 1));
    world.expect_sound().await;
}

#[tokio::test]
async fn something_that_is_no_sound_is_not_charged_for() {
    let fetches = answers([Ok(b"<html>Not found</html>".to_vec())]);
    let world = world(Script { fetches, ..Script::default() }).await;
    world.add(1).await.unwrap();
    world.to_the_end().await;
    assert_eq!(failure(&world).await.reason, FailureReason::Provider);
    assert_eq!(world.ledger.status().open_holds, 0);
    assert_eq!(world.ledger.balances(owner(1)).usd.nanos(), super::fixture::STARTING);
}

#[tokio::test]
async fn a_waiting_job_can_be_cancelled_and_costs_nothing() {
    let world = world(Script::default()).await;
    let id = world.add(1).await.unwrap();
    assert!(world.jobs.cancel(id).await.unwrap());
    world.to_the_end().await;
    assert_eq!(failure(&world).await.reason, FailureReason::Cancelled);
    assert!(!world.jobs.cancel(id).await.unwrap(), "it has ended");
    assert_eq!(world.engine.taken.lock().unwrap().len(), 0);
    world.expect_sound().await;
}

#[tokio::test]
async fn a_running_job_is_cancelled_where_its_provider_can() {
    let advance = MediaProgress { percent: Some(40), ahead: None };
    let looks = answers([Ok(MediaStatus::Running(advance))]);
    let world = world(Script { looks, cancels: true, ..Script::default() }).await;
    let id = world.add(1).await.unwrap();
    world.begin().await;
    tokio::time::timeout(Duration::from_secs(10), async {
        while world.jobs.reported_progress(id).is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    assert_eq!(world.jobs.reported_progress(id), Some(advance));
    assert!(world.jobs.cancel(id).await.unwrap());
    world.round().await;
    assert_eq!(world.jobs.reported_progress(id), None);
    assert_eq!(failure(&world).await.reason, FailureReason::Cancelled);
    assert_eq!(world.engine.cancelled.load(Ordering::SeqCst), 1);
    world.expect_sound().await;
}

#[tokio::test]
async fn results_go_when_their_time_is_over_and_their_jobs_with_them() {
    let world = world(Script::default()).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    let job = world.job(id).await;
    world.jobs.delete_expired().await.unwrap();
    assert!(world.jobs.find_media(&job).await.unwrap().is_some());
    world.clock.advance(world.settings.retention + Duration::from_secs(1));
    assert!(world.jobs.find_media(&job).await.unwrap().is_none(), "expired before it is swept");
    world.jobs.delete_expired().await.unwrap();
    assert_eq!(world.store.job(id).await.unwrap(), None);
    assert!(world.media.written_before(moment::Timestamp::MAX).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_deleted_result_cannot_be_read_even_while_its_object_is_there() {
    let world = world(Script::default()).await;
    let id = world.add(1).await.unwrap();
    world.to_the_end().await;
    let job = world.job(id).await;
    assert!(world.jobs.delete_media(&job).await.unwrap());
    assert!(world.jobs.delete_media(&job).await.unwrap(), "deleting twice is as good as once");
    assert!(world.jobs.find_media(&job).await.unwrap().is_none());
    let media = world.store.media(job.media.unwrap()).await.unwrap().unwrap();
    assert_eq!((media.state, media.key), (MediaState::Deleted, None));
}
