//! Retries, and the lines that are done.

use std::time::Duration;

use crate::done_lines::DoneLines;
use crate::retry::{NextTry, decide_next_try};

const FIRST: Duration = Duration::from_secs(1);

#[test]
fn a_busy_upstream_is_asked_again_without_end() {
    for status in [429, 503, 529] {
        let wait = Some(Duration::from_secs(7));
        let after = |pause| NextTry::After { pause: Duration::from_secs(pause), is_overload: true };
        assert_eq!(decide_next_try(status, wait, 1, FIRST), after(7));
        assert_eq!(decide_next_try(status, None, 3, FIRST), after(4));
        assert_eq!(decide_next_try(status, None, 10_000, FIRST), after(60));
        let day = Some(Duration::from_secs(86_400));
        assert_eq!(decide_next_try(status, day, 1, FIRST), after(60));
    }
}

#[test]
fn a_failure_is_tried_three_times_and_a_refusal_once() {
    for status in [408, 500, 502, 504] {
        let next = decide_next_try(status, None, 2, FIRST);
        let pause = Duration::from_secs(2);
        assert_eq!(next, NextTry::After { pause, is_overload: false });
        assert_eq!(decide_next_try(status, None, 3, FIRST), NextTry::Keep);
    }
    for status in [200, 400, 401, 402, 403, 404, 410, 413, 422] {
        assert_eq!(decide_next_try(status, None, 1, FIRST), NextTry::Keep, "{status}");
    }
}

#[test]
fn done_lines_are_those_that_were_added() {
    let mut done = DoneLines::from_numbers(&[1, 64, 50_000]);
    done.add(3);
    let found: Vec<u32> = (0..60_000).filter(|line| done.contains(*line)).collect();
    assert_eq!(found, [1, 3, 64, 50_000]);
    assert!(!done.contains(u32::MAX));
}
