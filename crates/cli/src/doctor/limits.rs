//! Checks that the Redis server for shared rate limits answers.

use config::sections::limits::Limits;

use super::Finding;
use crate::serve::limits;

const CHECK: &str = "limits.url";

pub(super) async fn check(section: &Limits) -> Option<Finding> {
    let counts = match limits::open(section) {
        Ok(counts) => counts?,
        Err(failure) => {
            return Some(Finding::failed(CHECK, failure.to_string(), "correct `url` in [limits]"));
        }
    };
    Some(match counts.check().await {
        Ok(()) => Finding::ok(CHECK, "answers"),
        Err(cause) => {
            let fix = "start it, or correct `url` in [limits]; until then each node counts callers \
                       without a credential by itself";
            Finding::warning(CHECK, cause, fix)
        }
    })
}
