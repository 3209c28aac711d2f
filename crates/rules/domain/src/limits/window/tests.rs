//! Tests of the one-minute windows: their edges, corrections and bounds.

use super::*;

const ALLOWED: MinuteLimits = MinuteLimits { requests: 3, tokens: Some(100) };

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(1_800_000_000_000 + ms)
}

#[test]
fn the_last_allowed_request_passes_and_the_next_waits_for_the_promised_reset() {
    let limiter = WindowLimiter::default();
    let subject = LimitSubject::new("account", "model");
    let lefts: Vec<u64> = (0..3)
        .map(|_| limiter.admit(subject, ALLOWED, 0, at(0)).unwrap().standing.requests_left)
        .collect();
    assert_eq!(lefts, [2, 1, 0]);

    let refused = limiter.admit(subject, ALLOWED, 0, at(0)).unwrap_err();
    let resets_at = refused.limit_status().resets_at;
    assert!(at(0) < resets_at && resets_at <= at(60_000));
    let just_before = resets_at.minus(Duration::from_millis(1));
    assert!(limiter.admit(subject, ALLOWED, 0, just_before).is_err());
    assert!(limiter.admit(subject, ALLOWED, 0, resets_at).is_ok());
}

#[test]
fn subjects_do_not_share_windows() {
    let limiter = WindowLimiter::default();
    for model in ["a", "b"] {
        for _ in 0..3 {
            limiter.admit(LimitSubject::new("account", model), ALLOWED, 0, at(0)).unwrap();
        }
    }
}

#[test]
fn tokens_are_reserved_and_then_corrected() {
    let limiter = WindowLimiter::default();
    let subject = LimitSubject::new("account", "model");
    let first = limiter.admit(subject, ALLOWED, 80, at(0)).unwrap();
    assert_eq!(first.standing.tokens_left, Some(20));
    assert!(matches!(limiter.admit(subject, ALLOWED, 30, at(0)), Err(ExceededLimit::Tokens(_))));

    limiter.correct_tokens(first, 10);
    let standing = limiter.limit_status(subject, ALLOWED, at(0));
    assert_eq!((standing.requests_left, standing.tokens_left), (2, Some(90)));
    limiter.admit(subject, ALLOWED, 30, at(0)).unwrap();
}

#[test]
fn a_late_correction_does_not_touch_the_next_window() {
    let limiter = WindowLimiter::default();
    let subject = LimitSubject::new("account", "model");
    let first = limiter.admit(subject, ALLOWED, 80, at(0)).unwrap();
    limiter.admit(subject, ALLOWED, 50, at(60_000)).unwrap();
    limiter.correct_tokens(first, 100);
    assert_eq!(limiter.limit_status(subject, ALLOWED, at(60_000)).tokens_left, Some(50));
}

#[test]
fn a_request_larger_than_the_limit_runs_alone() {
    let limiter = WindowLimiter::default();
    let subject = LimitSubject::new("account", "model");
    limiter.admit(subject, ALLOWED, 1_000, at(0)).unwrap();
    assert!(limiter.admit(subject, ALLOWED, 1, at(0)).is_err());
}

#[test]
fn requests_are_given_back_as_often_as_the_limit_allows_and_in_their_window_only() {
    let limiter = WindowLimiter::default();
    let subject = LimitSubject::new("account", "model");
    for _ in 0..ALLOWED.requests {
        let admission = limiter.admit(subject, ALLOWED, 0, at(0)).unwrap();
        assert_eq!(limiter.return_request(admission).requests_left, ALLOWED.requests);
    }
    let admission = limiter.admit(subject, ALLOWED, 0, at(0)).unwrap();
    assert_eq!(limiter.return_request(admission).requests_left, ALLOWED.requests - 1);
    let later = limiter.admit(subject, ALLOWED, 0, at(60_000)).unwrap();
    limiter.return_request(admission);
    let known = limiter.limit_status(subject, ALLOWED, at(60_000));
    assert_eq!(known.requests_left, later.standing.requests_left);
}

#[test]
fn windows_that_ended_are_forgotten() {
    let limiter = WindowLimiter::default();
    for caller in 0..SHARDS * (SHARD_WINDOWS_SWEPT + 200) {
        let _ = limiter.admit(LimitSubject::new(caller, ""), ALLOWED, 0, at(0));
    }
    for caller in 0..SHARDS * 64 {
        let _ = limiter.admit(LimitSubject::new(caller, "later"), ALLOWED, 0, at(120_000));
    }
    let kept: usize = limiter.shards.iter().map(|shard| shard.lock().unwrap().windows.len()).sum();
    assert!(kept <= SHARDS * 64, "{kept} windows kept");
}
