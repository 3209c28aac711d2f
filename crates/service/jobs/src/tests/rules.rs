//! Tests of the decisions about a job, without a store.

use std::time::Duration;

use engine::{EngineError, MediaProgress, MediaStatus};
use moment::Timestamp;
use store::job::{JobId, JobKind, JobState, QueuedJob};
use uuid::Uuid;

use crate::content::content_type;
use crate::failure::FailureReason;
use crate::rules::{
    FirstStep, JOB_TIME_MAX, PollStep, SILENCE_MAX, SubmitFailureStep, decide_after_poll,
    decide_after_submit_error, decide_first_step, poll_interval,
};

const NOW: Timestamp = Timestamp::from_ms(1_000_000_000);

fn job() -> QueuedJob {
    QueuedJob {
        id: JobId(Uuid::from_u128(1)),
        owner: ledger_core::OwnerId(Uuid::from_u128(2)),
        key: None,
        kind: JobKind::Music,
        model: "m".into(),
        request: "{}".into(),
        charge: "[]".into(),
        request_id: String::new(),
        alternative: None,
        has_link: false,
        is_link_revoked: false,
        state: JobState::Running,
        attempts: 1,
        fence: 1,
        lease_until: NOW,
        due: NOW,
        is_submitting: false,
        wants_cancel: false,
        ticket: None,
        queued: NOW,
        started: Some(NOW),
        submitted: None,
        done: None,
        failure: None,
        media: None,
    }
}

fn submitted() -> QueuedJob {
    QueuedJob { ticket: Some("t".into()), submitted: Some(NOW), ..job() }
}

fn reason(first: FirstStep) -> Option<FailureReason> {
    match first {
        FirstStep::End(failure) => Some(failure.reason),
        _ => None,
    }
}

#[test]
fn a_job_is_handed_in_once() {
    assert_eq!(decide_first_step(&job(), false, NOW), FirstStep::Submit);
    assert_eq!(decide_first_step(&submitted(), false, NOW), FirstStep::Look);
    let cut_off = QueuedJob { is_submitting: true, ..job() };
    assert_eq!(reason(decide_first_step(&cut_off, false, NOW)), Some(FailureReason::Interrupted));
    assert_eq!(decide_first_step(&cut_off, true, NOW), FirstStep::SubmitAgain);
}

#[test]
fn what_is_not_wanted_is_not_handed_in() {
    let unwanted = QueuedJob { wants_cancel: true, ..job() };
    assert_eq!(reason(decide_first_step(&unwanted, false, NOW)), Some(FailureReason::Cancelled));
    // A provider has it: the provider must be asked to stop.
    let running = QueuedJob { wants_cancel: true, ..submitted() };
    assert_eq!(decide_first_step(&running, false, NOW), FirstStep::Look);
}

#[test]
fn nothing_is_waited_for_longer_than_a_day() {
    let late = NOW.plus(JOB_TIME_MAX);
    assert_eq!(reason(decide_first_step(&submitted(), false, late)), Some(FailureReason::Overdue));
    assert_eq!(reason(decide_first_step(&job(), false, late)), Some(FailureReason::Overdue));
    let still = decide_after_poll(
        Ok(MediaStatus::Running(MediaProgress::default())),
        &submitted(),
        late,
        late,
    );
    assert!(matches!(still, PollStep::End(failure) if failure.reason == FailureReason::Overdue));
    // A finished result is fetched even then.
    assert_eq!(decide_after_poll(Ok(MediaStatus::Done), &submitted(), late, late), PollStep::Fetch);
}

#[test]
fn silence_is_no_verdict() {
    let silent = || Err(EngineError::BadAnswer { cause: "500".into() });
    assert_eq!(
        decide_after_poll(silent(), &submitted(), NOW, NOW.plus(Duration::from_secs(5))),
        PollStep::Wait
    );
    assert_eq!(
        decide_after_poll(silent(), &submitted(), NOW, NOW.plus(SILENCE_MAX)),
        PollStep::LeaveUnknown
    );
}

#[test]
fn three_attempts_are_made_with_longer_pauses() {
    let gone = || EngineError::Unreachable { cause: String::new() };
    let pauses: Vec<_> =
        (1..=3).map(|attempts| decide_after_submit_error(gone(), attempts, false)).collect();
    let back = |s| SubmitFailureStep::PutBack { pause: Duration::from_secs(s), is_attempt: true };
    assert_eq!(pauses[..2], [back(10), back(40)]);
    assert!(
        matches!(&pauses[2], SubmitFailureStep::End(failure) if failure.reason == FailureReason::Provider)
    );
    let lost = decide_after_poll(Ok(MediaStatus::Lost), &submitted(), NOW, NOW);
    assert_eq!(lost, PollStep::PutBack { pause: Duration::from_secs(10) });
}

#[test]
fn a_bad_request_is_not_tried_again() {
    let bad = EngineError::Rejected { message: "too long".into() };
    let SubmitFailureStep::End(failure) = decide_after_submit_error(bad, 1, true) else {
        panic!("it must end")
    };
    assert_eq!((failure.reason, failure.message.as_str()), (FailureReason::Rejected, "too long"));
}

#[test]
fn providers_are_asked_less_often_the_longer_it_takes() {
    let pause = |s| poll_interval(Duration::from_secs(s), Duration::from_secs(1)).as_secs();
    assert_eq!([pause(0), pause(9), pause(10), pause(59), pause(600)], [1, 1, 3, 3, 10]);
}

#[test]
fn files_are_known_by_their_bytes() {
    let music = |head: &[u8]| content_type(JobKind::Music, head);
    assert_eq!(music(b"ID3\x04"), Some("audio/mpeg"));
    assert_eq!(music(&[0xff, 0xfb, 0x90]), Some("audio/mpeg"));
    assert_eq!(music(&[0xff, 0xf1, 0x50]), None, "ADTS is not MP3");
    assert_eq!(music(b"fLaC"), Some("audio/flac"));
    assert_eq!(music(b"<!doctype html>"), None);
    assert_eq!(content_type(JobKind::Video, b"\0\0\0\x18ftypisom"), Some("video/mp4"));
    assert_eq!(content_type(JobKind::Video, b"ID3\x04"), None);
    assert_eq!(content_type(JobKind::Video, b""), None);
}
