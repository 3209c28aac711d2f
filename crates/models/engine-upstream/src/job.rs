//! Jobs in a server's queue: polled until done, and cancelled when the caller disconnects.

use std::future::Future;
use std::time::Duration;

use engine::{EngineError, TimeoutPhase};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Short at first so that quick jobs are noticed early, then longer.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Timeout of the cancel request. If it fails, the server finishes the job uselessly.
const STOP_WAIT_MAX: Duration = Duration::from_secs(5);
/// Maximum length of a server's job id.
const ID_BYTES_MAX: usize = 128;

/// Polls until there is an outcome, for at most `answer_max`.
pub(crate) async fn poll_until_done<T, F>(
    answer_max: Duration,
    look: impl Fn() -> F,
) -> Result<T, EngineError>
where
    F: Future<Output = Result<Option<T>, EngineError>>,
{
    let deadline = Instant::now() + answer_max;
    let mut pause = FIRST_PAUSE;
    let asking = async {
        loop {
            if let Some(outcome) = look().await? {
                return Ok(outcome);
            }
            sleep(pause).await;
            pause = (pause * 3 / 2).min(PAUSE_MAX);
        }
    };
    timeout_at(deadline, asking)
        .await
        .unwrap_or(Err(EngineError::Timeout { phase: TimeoutPhase::Answer }))
}

/// Sends the cancel request on drop, unless disarmed.
pub(crate) struct CancelOnDrop {
    telling: Option<BoxFuture<'static, ()>>,
}

impl CancelOnDrop {
    pub(crate) fn with(telling: impl Future<Output = ()> + Send + 'static) -> CancelOnDrop {
        CancelOnDrop { telling: Some(Box::pin(telling)) }
    }

    /// Call when the job has ended, successfully or not: there is nothing to cancel.
    pub(crate) fn disarm(mut self) {
        self.telling = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let (Some(telling), Ok(runtime)) = (self.telling.take(), Handle::try_current()) {
            runtime.spawn(timeout(STOP_WAIT_MAX, telling));
        }
    }
}

/// Returns a server's job id if it is safe in a URL path.
pub(crate) fn check_job_id(told: &str) -> Result<&str, EngineError> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    let is_id = (1..=ID_BYTES_MAX).contains(&told.len())
        && told.bytes().all(is_plain)
        && !told.bytes().all(|it| it == b'.');
    if is_id {
        return Ok(told);
    }
    Err(crate::transport::bad_answer("the id of its job cannot be part of a URL"))
}
