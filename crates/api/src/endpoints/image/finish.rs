//! From what an engine made to what a caller gets.

use bytes::Bytes;
use engine::{EngineError, ImageAnswer, PictureSize};
use pictures::{Bounds, Format, Order, Outcome, Size, Writing};
use wire::images::{ImageFormat, OpenAiFormat, OutputFormat};

use crate::picture_work::Studio;

/// Of what an engine makes, which may be larger than what callers send.
const PIXELS_MAX: u64 = 40_000_000;

/// How a picture shall leave.
#[derive(Debug, Clone)]
pub(super) struct Finish {
    pub(super) format: Format,
    pub(super) is_safe: bool,
    pub(super) mark: Option<String>,
    /// What is written into the file.
    pub(super) facts: Option<String>,
    /// Exactly this size, whatever the engine made.
    pub(super) size: Option<PictureSize>,
}

/// A picture as it leaves.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    pub(super) file: Bytes,
    pub(super) format: Format,
    pub(super) is_blurred: bool,
    /// Nothing of what was asked for may be seen.
    pub(super) is_violation: bool,
}

impl Finish {
    /// Whatever an engine sent is read as strictly as what a caller sends, and told of as its fault.
    pub(super) async fn apply(
        &self,
        studio: &Studio,
        answer: ImageAnswer,
    ) -> Result<Finished, EngineError> {
        let is_blurred = self.is_safe && answer.is_adult == Some(true);
        let order = Order {
            bounds: Bounds { pixels_min: 1, pixels_max: PIXELS_MAX, side_min: 1 },
            is_strict: false,
            resize: self.size.map(|it| Size { width: it.width, height: it.height }),
            blur: is_blurred,
            mark: self.mark.clone(),
            write: Writing::As(self.format),
            facts: self.facts.clone(),
        };
        let outcome = studio.carry_out(order, answer.file).await;
        let unread = |cause: String| EngineError::BadAnswer { cause };
        let outcome = outcome.map_err(|_| unread("its picture could not be opened".to_owned()))?;
        let outcome = outcome.map_err(|fault| unread(format!("its picture: {fault}")))?;
        Ok(finished(outcome, is_blurred, false))
    }

    /// What is sent instead of something that the engine's policy forbids.
    pub(super) async fn blacked_out(
        &self,
        studio: &Studio,
        size: PictureSize,
    ) -> Result<Finished, EngineError> {
        let size = Size { width: size.width, height: size.height };
        let outcome = studio.black(size, self.format).await;
        let unwritten = |cause: String| EngineError::BadAnswer { cause };
        let outcome = outcome.map_err(|_| unwritten("no black picture was made".to_owned()))?;
        let outcome = outcome.map_err(|fault| unwritten(fault.to_string()))?;
        Ok(finished(outcome, false, true))
    }
}

fn finished(outcome: Outcome, is_blurred: bool, is_violation: bool) -> Finished {
    let Outcome { file, format, .. } = outcome;
    Finished { file: file.into(), format, is_blurred, is_violation }
}

pub(super) const fn format(asked: ImageFormat) -> Format {
    match asked {
        ImageFormat::Jpeg => Format::Jpeg,
        ImageFormat::Png => Format::Png,
        ImageFormat::Webp => Format::Webp,
    }
}

pub(super) const fn output_format(asked: OutputFormat) -> Format {
    match asked {
        OutputFormat::Jpeg | OutputFormat::Jpg => Format::Jpeg,
        OutputFormat::Png => Format::Png,
        OutputFormat::Webp => Format::Webp,
    }
}

pub(super) const fn openai_format(asked: OpenAiFormat) -> Format {
    match asked {
        OpenAiFormat::Jpeg => Format::Jpeg,
        OpenAiFormat::Png => Format::Png,
        OpenAiFormat::Webp => Format::Webp,
    }
}
