//! Work on pictures: they are fetched by `web`, and opened and written by the reader processes.

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
/// A classifier that takes longer is not waited for.
const JUDGE_TIME_MAX: Duration = Duration::from_secs(30);
/// All that a classifier sees of a picture.
const JUDGED_SIZE: Size = Size { width: 256, height: 256 };
/// From here on a picture counts as one for adults. The classifier's authors call what is below 0.2
/// safe and what is above 0.8 not; harmless pictures of ours got up to 0.44.
const ADULT_MIN: f64 = 0.6;
const BUSY: &str = "Too many pictures are waiting to be read. Please try again shortly.";

/// Where the pictures of one caller are worked on.
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

    /// What lies at an address, or why it cannot be had.
    pub(crate) async fn fetch(&self, address: &str) -> Result<Result<Bytes, String>, Refusal> {
        caller_files::fetch(&self.app, self.caller, &self.room, address, ACCEPTED).await
    }

    /// Has an order carried out: what came of it, or what is wrong with the picture.
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

    /// Whether a picture is for adults; none if nobody can tell. Such a picture is let through: the
    /// caller is told that nobody looked, and the log why.
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

    /// A picture on which nothing is to be seen.
    pub(crate) async fn black(
        &self,
        size: Size,
        format: Format,
    ) -> Result<Result<Outcome, Fault>, Refusal> {
        let work = move || pictures::black(size, format);
        self.app.tasks.spawn_blocking(work).await.map_err(Refusal::internal)
    }
}

/// What engines are sent.
pub(crate) fn for_engines(outcome: Outcome) -> Picture {
    let Outcome { file, format, size } = outcome;
    Picture {
        bytes: file.into(),
        kind: FileKind { extension: format.extension(), mime: format.mime() },
        size: PictureSize { width: size.width, height: size.height },
    }
}
