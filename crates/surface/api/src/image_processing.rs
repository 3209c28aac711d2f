//! Image processing: downloads by `web`; decoding and encoding in reader processes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{EngineError, FileKind, ImageFile, PictureSize, TimeoutPhase};
use http_frame::app::SharedApp;
use http_frame::input::BodyReservation;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use pictures::{
    ImageBounds, ImageEncoding, ImageFault, ImageFileFormat, ImageOperations, PixelSize,
    ProcessedImage, ResizeMode,
};
use sandbox::CallerId;
use sandbox::tasks::picture::ImageTask;

use crate::caller_files;

const ACCEPTED: &str = "image/png, image/jpeg, image/webp";
const TOO_MUCH: &str = "Reading the image takes too much memory or time. Send a smaller one.";
/// Time limit for the classifier.
const JUDGE_TIME_MAX: Duration = Duration::from_secs(30);
/// The size at which the classifier gets an image.
const JUDGED_SIZE: PixelSize = PixelSize { width: 256, height: 256 };
/// Score from which an image counts as adult. The classifier's authors call scores below 0.2 safe
/// and above 0.8 unsafe; harmless test images got up to 0.44.
const ADULT_MIN: f64 = 0.6;
const BUSY: &str = "Too many images are waiting to be read. Please try again shortly.";

/// Processes the images of one caller.
#[derive(Clone)]
pub(crate) struct ImageProcessor {
    app: SharedApp,
    caller: CallerId,
    room: Arc<BodyReservation>,
}

impl ImageProcessor {
    pub(crate) fn for_call(call: &PaidCall) -> ImageProcessor {
        let (app, room) = (Arc::clone(&call.app), Arc::clone(&call.room));
        ImageProcessor { app, caller: call.reader_caller_id(), room }
    }

    /// Downloads a file. The inner error is the reason why it failed, for the caller.
    pub(crate) async fn fetch_image(
        &self,
        address: &str,
    ) -> Result<Result<Bytes, String>, Refusal> {
        caller_files::fetch_caller_file(&self.app, self.caller, &self.room, address, ACCEPTED).await
    }

    /// Processes an image in a reader process. The inner error is what is wrong with the image.
    pub(crate) async fn process_image(
        &self,
        order: ImageOperations,
        bytes: Bytes,
    ) -> Result<Result<ProcessedImage, ImageFault>, Refusal> {
        let reader = self.app.reader.as_ref();
        match sandbox::run_task(reader, self.caller, ImageTask { order }, bytes).await {
            Ok((written, file)) => Ok(written.map(|written| written.combine_with(file))),
            Err(sandbox::ReaderError::TooMuch { .. }) => Err(Refusal::not_an_image(TOO_MUCH)),
            Err(sandbox::ReaderError::Busy) => Err(Refusal::busy(BUSY)),
            Err(error @ sandbox::ReaderError::Unavailable { .. }) => {
                Err(Refusal::unavailable(error))
            }
        }
    }

    /// True if an image is adult; None if that could not be determined. Such an image is still
    /// sent: a response header says that it was not checked, and the log says why.
    pub(crate) async fn is_adult(&self, bounds: ImageBounds, bytes: &Bytes) -> Option<bool> {
        let judge = self.app.engines.image_classifier()?;
        let order = ImageOperations {
            bounds,
            is_strict: false,
            resize: Some(ResizeMode::To(JUDGED_SIZE)),
            blur: false,
            mark: None,
            write: ImageEncoding::As(ImageFileFormat::Png),
            facts: None,
        };
        let Ok(Ok(small)) = self.process_image(order, bytes.clone()).await else {
            tracing::warn!(
                "an image is sent without the safety check: it could not be scaled down"
            );
            return None;
        };
        let judging = tokio::time::timeout(JUDGE_TIME_MAX, judge.adult_score(for_engines(small)));
        let score = judging.await.map_err(|_| EngineError::Timeout { phase: TimeoutPhase::Answer });
        match score.flatten() {
            Ok(score) => Some(ADULT_MIN <= score),
            Err(error) => {
                tracing::warn!(%error, "an image is sent without the safety check: {error}");
                None
            }
        }
    }

    /// A black image.
    pub(crate) async fn black_image(
        &self,
        size: PixelSize,
        format: ImageFileFormat,
    ) -> Result<Result<ProcessedImage, ImageFault>, Refusal> {
        let work = move || pictures::encode_black_image(size, format);
        self.app.tasks.spawn_blocking(work).await.map_err(Refusal::internal)
    }
}

/// The image in the form that engines get.
pub(crate) fn for_engines(outcome: ProcessedImage) -> ImageFile {
    let ProcessedImage { file, format, size } = outcome;
    ImageFile {
        bytes: file.into(),
        kind: FileKind { extension: format.extension(), mime: format.mime() },
        size: PictureSize { width: size.width, height: size.height },
    }
}
