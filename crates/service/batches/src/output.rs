//! Writes the results of a batch into files, and ends it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, unfold};
use media_store::{ObjectKey, RecordCipher};
use store::batch::{BatchState, BatchStep, BatchWrite, StoredBatch};
use store::error::StoreError;
use store::file::{FileId, FilePurpose};
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::done_lines::DoneLines;
use crate::files::{FileError, NewFile, ReceivedFile};
use crate::input::InputReader;
use crate::line_check::parse_line;
use crate::line_reader::InputLine;
use crate::line_result::LineNames;
use crate::line_run::name_request;
use crate::result_stream::ResultReader;
use crate::run::{BatchRunStop, RunResult};
use crate::service::BatchService;

/// Bytes of a file of results at most; the run stops adding results long before.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// The lines without a result, and the error that each gets.
struct UnrunLines {
    input: InputReader,
    batch: StoredBatch,
    done: DoneLines,
    code: &'static str,
    message: &'static str,
}

impl BatchService {
    /// Writes the files, and ends the batch in the transaction that adds them. Its key is destroyed
    /// there, so the results can be read from the files only.
    pub(crate) async fn end_batch(&self, batch: &StoredBatch, state: BatchState) -> RunResult<()> {
        let key = batch.result_key.map(ObjectKey::new);
        let key = key.ok_or_else(|| BatchRunStop::Unwritable("it has no key".to_owned()))?;
        let cipher = Arc::new(RecordCipher::new(&key, batch.id.0)?);
        let results = |is_failed| {
            let store = Arc::clone(&self.parts.store);
            ResultReader::new(store, Arc::clone(&cipher), batch.id, is_failed).into_stream()
        };
        let output = self.write_results(results(false)).await?;
        let unrun = self.list_unrun(batch, state).await?;
        let errors = self.write_results(results(true).chain(unrun)).await?;
        let (mut writes, mut objects) = (Vec::new(), Vec::new());
        let mut add = |received: Option<ReceivedFile>, kind: &str| -> Option<FileId> {
            let received = received?;
            let name = format!("batch_{}_{kind}.jsonl", batch.id.0.simple());
            let keep = batch.keep_output_ms.and_then(|ms| u64::try_from(ms).ok());
            let keep = keep.map(Duration::from_millis);
            let new = NewFile { name, purpose: FilePurpose::BatchOutput, keep };
            let (file, rows) = self.build_rows(batch.owner, &received, new);
            writes.extend(rows);
            objects.push(file.id.0);
            Some(file.id)
        };
        let (output_file, error_file) = (add(output, "output"), add(errors, "errors"));
        let step = BatchStep::End { state, output_file, error_file };
        let end = BatchWrite::Step { batch: batch.id, step, at: self.now() };
        writes.push(StoreWrite::from(end));
        match self.parts.store.commit(WriteGroup { writes }).await {
            Ok(()) => {}
            Err(StoreError::Missing(_)) => self.drop_objects(objects).await,
            Err(error) => return Err(error.into()),
        }
        metrics::counter!("batches_ended_total", "state" => state.name()).increment(1);
        Ok(())
    }

    /// Another node ended the batch first.
    async fn drop_objects(&self, objects: Vec<Uuid>) {
        for object in objects {
            if let Err(error) = self.parts.media.delete(object).await {
                tracing::warn!(%error, "a file without a row was not deleted: {error}");
            }
        }
    }

    /// None if there is nothing to write.
    async fn write_results(
        &self,
        source: impl stream::Stream<Item = Result<Bytes, String>>,
    ) -> RunResult<Option<ReceivedFile>> {
        match self.write_object(source, FILE_BYTES_MAX).await {
            Ok(received) => Ok(Some(received)),
            Err(FileError::Empty) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// An error for each line without a result.
    async fn list_unrun(
        &self,
        batch: &StoredBatch,
        state: BatchState,
    ) -> RunResult<BoxStream<'static, Result<Bytes, String>>> {
        let (code, message) = match state {
            BatchState::Expired => (
                "batch_expired",
                "This request could not be executed before the completion window expired.",
            ),
            BatchState::Cancelled => {
                ("batch_cancelled", "This request was not executed: the batch was cancelled.")
            }
            _ => return Ok(stream::empty().boxed()),
        };
        let done = self.parts.store.finished_lines(batch.id).await?;
        let done = DoneLines::from_numbers(&done);
        let input = match self.open_input(batch).await {
            Err(BatchRunStop::InputGone) => return Ok(stream::empty().boxed()),
            input => input?,
        };
        let batch = batch.clone();
        let unrun = UnrunLines { input, batch, done, code, message };
        Ok(unfold(Some(unrun), |unrun| async move {
            let mut unrun = unrun?;
            match unrun.next().await {
                Ok(Some(line)) => Some((Ok(line), Some(unrun))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed())
    }
}

impl UnrunLines {
    async fn next(&mut self) -> Result<Option<Bytes>, String> {
        while let Some(line) = self.input.next().await.map_err(|error| error.to_string())? {
            let InputLine::Text { number, bytes } = line else { continue };
            if self.done.contains(number) {
                continue;
            }
            // A batch that was cancelled before its file was validated may have faulty lines.
            let Ok(call) = parse_line(number, &bytes, &self.batch.endpoint) else { continue };
            let request_id = name_request(self.batch.id, number);
            let names = LineNames { custom_id: &call.custom_id, request_id: &request_id };
            let mut line = names.write_error(self.code, self.message);
            line.push(b'\n');
            return Ok(Some(line.into()));
        }
        Ok(None)
    }
}
