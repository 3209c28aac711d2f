//! Checks that the Redis server for shared rate limits answers.

use config::sections::limits::LimitsConfig;

use super::CheckFinding;
use crate::serve::limits;

const CHECK: &str = "limits.url";

pub(super) async fn check_shared_limits(section: &LimitsConfig) -> Option<CheckFinding> {
    let counts = match limits::open_shared_counts(section) {
        Ok(counts) => counts?,
        Err(failure) => {
            return Some(CheckFinding::failed(
                CHECK,
                failure.to_string(),
                "correct `url` in [limits]",
            ));
        }
    };
    Some(match counts.check_connection().await {
        Ok(()) => CheckFinding::ok(CHECK, "answers"),
        Err(cause) => {
            let fix = "start it, or correct `url` in [limits]; until then each node counts callers \
                       without a credential by itself";
            CheckFinding::warning(CHECK, cause, fix)
        }
    })
}
