//! Runs one batch: validates its file, runs its lines, writes their results into files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ledger::LedgerError;
use media_store::{MediaError, ObjectKey, RecordCipher};
use store::batch::{BatchId, BatchState, BatchStep, BatchWrite, StoredBatch};
use store::error::StoreError;
use store::write::WriteGroup;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::done_lines::DoneLines;
use crate::faults::BatchFault;
use crate::files::FileError;
use crate::line_check::parse_line;
use crate::line_reader::InputLine;
use crate::line_run::{LineEnd, PendingLine, RunContext};
use crate::line_server::LineServer;
use crate::service::BatchService;

/// Lines that a batch may begin before it makes way for a waiting owner.
const TURN_LINES: usize = 200;
/// Interval of the check that there is room for another line.
const ROOM_EVERY: Duration = Duration::from_millis(20);

/// The reason why a run broke off. The batch goes on in a later run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchRunStop {
    #[error("another node is the home of the owner")]
    Moved,
    #[error("the input file is gone")]
    InputGone,
    #[error("the batch cannot be written: {0}")]
    Unwritable(String),
}

pub(crate) type RunResult<T> = Result<T, BatchRunStop>;

impl From<StoreError> for BatchRunStop {
    fn from(error: StoreError) -> BatchRunStop {
        BatchRunStop::Unwritable(error.to_string())
    }
}

impl From<LedgerError> for BatchRunStop {
    fn from(error: LedgerError) -> BatchRunStop {
        BatchRunStop::Unwritable(error.to_string())
    }
}

impl From<MediaError> for BatchRunStop {
    fn from(error: MediaError) -> BatchRunStop {
        match error {
            MediaError::Missing => BatchRunStop::InputGone,
            other => BatchRunStop::Unwritable(other.to_string()),
        }
    }
}

impl From<FileError> for BatchRunStop {
    fn from(error: FileError) -> BatchRunStop {
        BatchRunStop::Unwritable(error.to_string())
    }
}

impl From<JoinError> for BatchRunStop {
    fn from(error: JoinError) -> BatchRunStop {
        BatchRunStop::Unwritable(format!("a line was not run to its end: {error}"))
    }
}

/// The reason that no more lines begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinesEnd {
    AllDone,
    Expired,
    Cancelled,
    /// Another owner's turn, or the process stops.
    Paused,
}

/// One turn of a batch.
pub(crate) struct BatchRun {
    pub(crate) service: Arc<BatchService>,
    pub(crate) server: Arc<dyn LineServer>,
    pub(crate) is_cancelled: Arc<AtomicBool>,
    pub(crate) stop: CancellationToken,
}

impl BatchRun {
    /// Takes the batch as far as it goes. The row is read after the batch was made active, so a
    /// cancellation is either in the row or in the flag.
    pub(crate) async fn run(self, id: BatchId) -> RunResult<()> {
        while !self.stop.is_cancelled() {
            let Some(batch) = self.service.parts.store.batch(id).await? else { return Ok(()) };
            match batch.state {
                BatchState::Validating => self.validate(&batch).await?,
                BatchState::InProgress => {
                    if self.run_lines(&batch).await? == LinesEnd::Paused {
                        return Ok(());
                    }
                }
                BatchState::Cancelling => {
                    self.service.end_batch(&batch, BatchState::Cancelled).await?;
                }
                BatchState::Finalizing => {
                    self.service.end_batch(&batch, BatchState::Completed).await?;
                }
                BatchState::Completed
                | BatchState::Failed
                | BatchState::Expired
                | BatchState::Cancelled => return Ok(()),
            }
        }
        Ok(())
    }

    async fn validate(&self, batch: &StoredBatch) -> RunResult<()> {
        let checked = match self.service.validate_input(batch).await {
            Err(BatchRunStop::InputGone) => {
                Err(vec![BatchFault::of_file("input_file_gone", "The input file was deleted.")])
            }
            checked => checked?,
        };
        let step = match checked {
            Ok(lines) => BatchStep::Start { lines: u64::from(lines) },
            Err(faults) => BatchStep::Fail { errors: BatchFault::write_list(&faults) },
        };
        self.take_step(batch, step).await
    }

    /// Takes a step. It is taken already, or the batch was cancelled, if no batch waits for it.
    async fn take_step(&self, batch: &StoredBatch, step: BatchStep) -> RunResult<()> {
        let write = BatchWrite::Step { batch: batch.id, step, at: self.service.now() };
        match self.service.parts.store.commit(WriteGroup::from_write(write.into())).await {
            Ok(()) | Err(StoreError::Missing(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs the lines without a result.
    async fn run_lines(&self, batch: &StoredBatch) -> RunResult<LinesEnd> {
        let done = self.service.parts.store.finished_lines(batch.id).await?;
        let done = DoneLines::from_numbers(&done);
        let context = Arc::new(self.build_context(batch)?);
        let mut running = JoinSet::new();
        let begun = self.begin_lines(&context, &done, &mut running).await;
        // Lines in progress are settled, whatever ended the turn.
        let mut outcome = begun;
        while let Some(ended) = running.join_next().await {
            let ended = ended.map_err(BatchRunStop::from).and_then(|ended| ended);
            outcome = match (outcome, ended) {
                (Err(stop), _) | (Ok(_), Err(stop)) => Err(stop),
                (Ok(LinesEnd::AllDone), Ok(LineEnd::NotRun)) => Ok(self.find_reason(&context)),
                (outcome, _) => outcome,
            };
        }
        let end = match outcome {
            Err(BatchRunStop::InputGone) => LinesEnd::Expired,
            outcome => outcome?,
        };
        match end {
            LinesEnd::AllDone => self.take_step(batch, BatchStep::Finalize).await?,
            LinesEnd::Expired => self.service.end_batch(batch, BatchState::Expired).await?,
            // The row says that it is to be cancelled.
            LinesEnd::Cancelled | LinesEnd::Paused => {}
        }
        Ok(end)
    }

    fn build_context(&self, batch: &StoredBatch) -> RunResult<RunContext> {
        let key = batch.result_key.map(ObjectKey::new);
        let key = key.ok_or_else(|| BatchRunStop::Unwritable("it has no key".to_owned()))?;
        Ok(RunContext {
            service: Arc::clone(&self.service),
            batch: Arc::new(batch.clone()),
            server: Arc::clone(&self.server),
            cipher: RecordCipher::new(&key, batch.id.0)?,
            is_cancelled: Arc::clone(&self.is_cancelled),
            stop: self.stop.clone(),
            result_bytes: AtomicU64::new(batch.counts.result_bytes),
            is_upstream_busy: AtomicBool::new(false),
        })
    }

    async fn begin_lines(
        &self,
        context: &Arc<RunContext>,
        done: &DoneLines,
        running: &mut JoinSet<RunResult<LineEnd>>,
    ) -> RunResult<LinesEnd> {
        let mut input = self.service.open_input(&context.batch).await?;
        let (mut begun, mut window) = (0, LineWindow::default());
        while let Some(line) = input.next().await? {
            // The file was validated, so every line is a text.
            let InputLine::Text { number, bytes } = line else { continue };
            if done.contains(number) {
                continue;
            }
            let Ok(call) = parse_line(number, &bytes, &context.batch.endpoint) else { continue };
            let body = bytes.slice_ref(call.body.as_bytes());
            let line = PendingLine { number, custom_id: call.custom_id, body };
            self.wait_for_room(context, running, &mut window).await?;
            if context.is_over() {
                return Ok(self.find_reason(context));
            }
            if TURN_LINES <= begun && self.service.lock_runs().has_waiting {
                return Ok(LinesEnd::Paused);
            }
            begun += 1;
            let context = Arc::clone(context);
            running.spawn(async move { context.run_line(line).await });
        }
        Ok(LinesEnd::AllDone)
    }

    fn find_reason(&self, context: &RunContext) -> LinesEnd {
        if context.is_cancelled.load(Ordering::Relaxed) {
            LinesEnd::Cancelled
        } else if context.batch.expires <= self.service.now() {
            LinesEnd::Expired
        } else {
            LinesEnd::Paused
        }
    }

    /// Waits until another line may run: behind interactive work and other batches, and more slowly
    /// while an upstream is busy.
    async fn wait_for_room(
        &self,
        context: &RunContext,
        running: &mut JoinSet<RunResult<LineEnd>>,
        window: &mut LineWindow,
    ) -> RunResult<()> {
        loop {
            let allowed = self.service.lines_at_once();
            if context.is_upstream_busy.swap(false, Ordering::Relaxed) {
                window.shrink(running.len());
            }
            if context.is_over() {
                return Ok(());
            }
            if running.len() < window.limit(allowed) {
                sleep(self.service.interactive.reserve_line_start(Instant::now())).await;
                return Ok(());
            }
            if let Ok(Some(ended)) = timeout(ROOM_EVERY, running.join_next()).await {
                ended??;
                window.grow();
            }
        }
    }
}

/// The number of lines at once that an upstream bears: halved when it was busy, raised by one line
/// for each that ended since.
#[derive(Debug, Default)]
struct LineWindow {
    bound: Option<usize>,
}

impl LineWindow {
    fn limit(&self, allowed: usize) -> usize {
        self.bound.unwrap_or(allowed).min(allowed).max(1)
    }

    fn shrink(&mut self, running: usize) {
        self.bound = Some((running / 2).max(1));
    }

    fn grow(&mut self) {
        if let Some(bound) = &mut self.bound {
            *bound += 1;
        }
    }
}
