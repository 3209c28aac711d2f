//! Decides whether a line is tried again.

use std::time::Duration;

/// Times that a line is tried if its call failed for a reason that may pass soon.
const TRIES_MAX: u32 = 3;
/// The longest pause between two tries, in first pauses: a minute.
const PAUSES_MAX: u32 = 60;

/// The step after a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextTry {
    /// The reply is the result of the line.
    Keep,
    After {
        pause: Duration,
        is_overload: bool,
    },
}

/// `tries` is the number of tries so far, `first` the pause after the first.
pub(crate) fn decide_next_try(
    status: u16,
    retry_after: Option<Duration>,
    tries: u32,
    first: Duration,
) -> NextTry {
    let longest = first.saturating_mul(PAUSES_MAX);
    let doubled = first.saturating_mul(1 << tries.saturating_sub(1).min(10)).min(longest);
    match status {
        // The upstream is busy, or the service is: tried until the batch expires.
        429 | 503 | 529 => {
            let pause = retry_after.map_or(doubled, |wait| wait.min(longest));
            NextTry::After { pause, is_overload: true }
        }
        408 | 500 | 502 | 504 if tries < TRIES_MAX => {
            NextTry::After { pause: doubled, is_overload: false }
        }
        _ => NextTry::Keep,
    }
}
