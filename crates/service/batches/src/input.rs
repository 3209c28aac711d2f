//! Opens the input file of a batch.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use media_store::{MediaError, ObjectKey};
use store::batch::StoredBatch;

use crate::line_reader::LineReader;
use crate::run::BatchRunStop;
use crate::service::BatchService;

pub(crate) type InputReader = LineReader<BoxStream<'static, Result<Bytes, MediaError>>>;

impl BatchService {
    /// Reads the input file from its start.
    pub(crate) async fn open_input(
        &self,
        batch: &StoredBatch,
    ) -> Result<InputReader, BatchRunStop> {
        let id = batch.input_file.media();
        let media = self.parts.store.media(id).await?.ok_or(BatchRunStop::InputGone)?;
        let key = media.key.map(ObjectKey::new).ok_or(BatchRunStop::InputGone)?;
        let bytes = self.parts.media.read(id.0, &key, media.bytes, 0..media.bytes)?;
        Ok(LineReader::new(bytes, self.settings.line_bytes_max))
    }
}
