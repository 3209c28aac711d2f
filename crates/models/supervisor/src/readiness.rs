//! Decides if the engine can run a model now, with a message for the caller if not.

use std::sync::Arc;
use std::time::Duration;

use engine::EngineError;
use weights::{DownloadProgress, DownloadState, ModelPuller};

use crate::status::StatusCell;

/// Values of `Retry-After`: starting is quick, downloading a model takes longer.
const START_WAIT: Duration = Duration::from_secs(2);
const FETCH_WAIT: Duration = Duration::from_secs(5);
const FAILED_WAIT: Duration = Duration::from_secs(30);

/// Returns a check that runs before each request. For models outside the built-in list, such as the
/// operator's own files, only the process state is checked.
pub fn readiness_check(
    puller: Arc<ModelPuller>,
    status: StatusCell,
) -> impl Fn(&str) -> Result<(), EngineError> + Send + Sync {
    move |model| {
        let is_built_in = puller.manifest().find_model(model).is_some();
        if is_built_in {
            check_weights(model, &puller.model_state(model))?;
        }
        if status.is_up() {
            return Ok(());
        }
        let message = "The engine of this service is starting. Please try again in a moment.";
        Err(EngineError::NotReady { message: message.to_owned(), retry_after: START_WAIT })
    }
}

/// Callers learn only that a download failed; the reason is in the operator's log.
fn check_weights(model: &str, state: &DownloadState) -> Result<(), EngineError> {
    let (message, retry_after) = match state {
        DownloadState::Ready => return Ok(()),
        DownloadState::Fetching(progress) => {
            let message = format!(
                "The model {model} is being downloaded ({}). Please try again shortly.",
                format_progress(*progress)
            );
            (message, FETCH_WAIT)
        }
        DownloadState::NotFetched => {
            let message = format!(
                "The model {model} has not been fetched yet. Please try again later, or use \
                 another model."
            );
            (message, FETCH_WAIT)
        }
        DownloadState::Failed(_) => {
            let message = format!(
                "The model {model} could not be fetched so far. Please try again later, or use \
                 another model."
            );
            (message, FAILED_WAIT)
        }
    };
    Err(EngineError::NotReady { message, retry_after })
}

/// Formats progress, for example `43 % of 98 MB`.
pub(crate) fn format_progress(progress: DownloadProgress) -> String {
    let megabytes = progress.total_bytes.div_ceil(1_000_000);
    format!("{} % of {megabytes} MB", progress.percent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(state: &DownloadState, expected: Result<(), (&str, u64)>) {
        let expected = expected.map_err(|(message, wait_s)| EngineError::NotReady {
            message: message.to_owned(),
            retry_after: Duration::from_secs(wait_s),
        });
        assert_eq!(check_weights("m", state), expected);
    }

    #[test]
    fn a_model_that_is_fetched_says_how_far_it_is() {
        let progress = DownloadProgress { done_bytes: 43_000_000, total_bytes: 99_400_000 };
        let message = "The model m is being downloaded (43 % of 100 MB). Please try again shortly.";
        check(&DownloadState::Fetching(progress), Err((message, 5)));
    }

    #[test]
    fn why_a_fetch_failed_is_not_told_to_callers() {
        let message = "The model m could not be fetched so far. Please try again later, or use \
                       another model.";
        check(&DownloadState::Failed("/secret/path is full".to_owned()), Err((message, 30)));
    }

    #[test]
    fn a_model_that_is_there_is_ready() {
        check(&DownloadState::Ready, Ok(()));
    }
}
