//! Work that a server queues: polled until it is done, and cancelled when the caller is gone.

use std::future::Future;
use std::time::Duration;

use engine::{EngineError, Phase};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Quick work is noticed quickly, and slow work asked about seldom.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// A server that does not hear that it may stop works on, as it would without us.
const STOP_WAIT_MAX: Duration = Duration::from_secs(5);
/// What a server calls a job.
const ID_BYTES_MAX: usize = 128;

/// Asks until there is an outcome, for as long as an answer may take.
pub(crate) async fn outcome<T, F>(
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
    timeout_at(deadline, asking).await.unwrap_or(Err(EngineError::Timeout { phase: Phase::Answer }))
}

/// Tells a server to stop when it is dropped, unless the job has ended.
pub(crate) struct Stop {
    telling: Option<BoxFuture<'static, ()>>,
}

impl Stop {
    pub(crate) fn with(telling: impl Future<Output = ()> + Send + 'static) -> Stop {
        Stop { telling: Some(Box::pin(telling)) }
    }

    /// The job has ended, well or badly: there is nothing to stop.
    pub(crate) fn disarm(mut self) {
        self.telling = None;
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        if let (Some(telling), Ok(runtime)) = (self.telling.take(), Handle::try_current()) {
            runtime.spawn(timeout(STOP_WAIT_MAX, telling));
        }
    }
}

/// What a server calls a job, if it can stand in an address.
pub(crate) fn id(told: &str) -> Result<&str, EngineError> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    let is_id = (1..=ID_BYTES_MAX).contains(&told.len())
        && told.bytes().all(is_plain)
        && !told.bytes().all(|it| it == b'.');
    if is_id {
        return Ok(told);
    }
    Err(crate::transport::bad_answer("its job has no name that can stand in an address"))
}
