//! Image processing: downloads by `web`; decoding and encoding in reader processes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{EngineError, FileKind, Phase, Picture, PictureSize};
use pictures::{Bounds, Fault, Format, Order, Outcome, Resize, Size, Writing};
use reader::CallerId;
use reader::tasks::picture::Request;

use crate::app::Shared;
use crate::caller_files;
use crate::input::Room;
use crate::paid::PaidCall;
use crate::refusal::Refusal;

const ACCEPTED: &str = "image/png, image/jpeg, image/webp";
const TOO_MUCH: &str = "Reading the picture takes too much memory or time. Send a smaller one.";
/// Time limit for the classifier.
const JUDGE_TIME_MAX: Duration = Duration::from_secs(30);
/// The size at which the classifier gets an image.
const JUDGED_SIZE: Size = Size { width: 256, height: 256 };
/// Score from which an image counts as adult. The classifier's authors call scores below 0.2 safe
/// and above 0.8 unsafe; harmless test images got up to 0.44.
const ADULT_MIN: f64 = 0.6;
const BUSY: &str = "Too many pictures are waiting to be read. Please try again shortly.";

/// Processes the images of one caller.
#[derive(Clone)]
pub(crate) struct Studio {
    app: Shared,
    caller: CallerId,
    room: Arc<Room>,
}

impl Studio {
    pub(crate) fn of(call: &PaidCall) -> Studio {
        let (app, room) = (Arc::clone(&call.app), Arc::clone(&call.room));
        Studio { app, caller: call.reads_for(), room }
    }

    /// Downloads a file. The inner error is the reason why it failed, for the caller.
    pub(crate) async fn fetch(&self, address: &str) -> Result<Result<Bytes, String>, Refusal> {
        caller_files::fetch(&self.app, self.caller, &self.room, address, ACCEPTED).await
    }

    /// Processes an image in a reader process. The inner error is what is wrong with the image.
    pub(crate) async fn carry_out(
        &self,
        order: Order,
        bytes: Bytes,
    ) -> Result<Result<Outcome, Fault>, Refusal> {
        let reader = self.app.reader.as_ref();
        match reader::ask(reader, self.caller, Request { order }, bytes).await {
            Ok((written, file)) => Ok(written.map(|written| written.with(file))),
            Err(reader::ReaderError::TooMuch { .. }) => Err(Refusal::no_picture(TOO_MUCH)),
            Err(reader::ReaderError::Busy) => Err(Refusal::busy(BUSY)),
            Err(error @ reader::ReaderError::Unavailable { .. }) => {
                Err(Refusal::unavailable(error))
            }
        }
    }

    /// True if an image is adult; None if that could not be determined. Such an image is still
    /// sent: a response header says that it was not checked, and the log says why.
    pub(crate) async fn is_adult(&self, bounds: Bounds, bytes: &Bytes) -> Option<bool> {
        let judge = self.app.engines.judge()?;
        let order = Order {
            bounds,
            is_strict: false,
            resize: Some(Resize::To(JUDGED_SIZE)),
            blur: false,
            mark: None,
            write: Writing::As(Format::Png),
            facts: None,
        };
        let Ok(Ok(small)) = self.carry_out(order, bytes.clone()).await else {
            tracing::warn!("a picture goes out unjudged: it could not be made small");
            return None;
        };
        let judging = tokio::time::timeout(JUDGE_TIME_MAX, judge.adult_score(for_engines(small)));
        let score = judging.await.map_err(|_| EngineError::Timeout { phase: Phase::Answer });
        match score.flatten() {
            Ok(score) => Some(ADULT_MIN <= score),
            Err(error) => {
                tracing::warn!(%error, "a picture goes out unjudged: {error}");
                None
            }
        }
    }

    /// A black image.
    pub(crate) async fn black(
        &self,
        size: Size,
        format: Format,
    ) -> Result<Result<Outcome, Fault>, Refusal> {
        let work = move || pictures::black(size, format);
        self.app.tasks.spawn_blocking(work).await.map_err(Refusal::internal)
    }
}

/// The image in the form that engines get.
pub(crate) fn for_engines(outcome: Outcome) -> Picture {
    let Outcome { file, format, size } = outcome;
    Picture {
        bytes: file.into(),
        kind: FileKind { extension: format.extension(), mime: format.mime() },
        size: PictureSize { width: size.width, height: size.height },
    }
}
