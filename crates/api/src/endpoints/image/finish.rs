//! From what an engine made to what a caller gets.

use bytes::Bytes;
use domain::frame;
use engine::{EngineError, ImageAnswer, PictureSize};
use pictures::{Bounds, Format, Order, Outcome, Resize, Size, Writing};
use wire::images::{ImageFormat, OpenAiFormat, OutputFormat};

use crate::picture_work::Studio;

/// Of what an engine makes, which may be larger than what callers send.
const BOUNDS: Bounds = Bounds { pixels_min: 1, pixels_max: 40_000_000, side_min: 1 };

/// Whether somebody has looked for what is for adults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SafeMode {
    On,
    /// The caller wants none.
    Off,
    /// Neither the model's provider nor a classifier of ours could tell.
    Unavailable,
}

impl SafeMode {
    pub(super) const fn name(self) -> &'static str {
        match self {
            SafeMode::On => "on",
            SafeMode::Off => "off",
            SafeMode::Unavailable => "unavailable",
        }
    }
}

/// How a picture shall leave.
#[derive(Debug, Clone)]
pub(super) struct Finish {
    pub(super) format: Format,
    pub(super) is_safe: bool,
    pub(super) mark: Option<String>,
    /// What is written into the file.
    pub(super) facts: Option<String>,
    pub(super) size: FinishedSize,
}

/// How large a picture is that leaves, whatever the engine made. What does not fit is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinishedSize {
    /// The caller asked for none.
    AsMade,
    /// Exactly these pixels.
    Pixels(PictureSize),
    /// Any pixels in the form of these sides.
    Form(PictureSize),
}

impl FinishedSize {
    /// The form of a ratio such as `16:9`.
    pub(super) fn of_ratio(ratio: Option<&str>) -> FinishedSize {
        let sides = ratio.and_then(frame::parts);
        sides.map_or(FinishedSize::AsMade, |(width, height)| {
            FinishedSize::Form(PictureSize { width, height })
        })
    }

    fn resize(self) -> Option<Resize> {
        let size = |it: PictureSize| Size { width: it.width, height: it.height };
        match self {
            FinishedSize::AsMade => None,
            FinishedSize::Pixels(pixels) => Some(Resize::Cover(size(pixels))),
            FinishedSize::Form(sides) => Some(Resize::Form(size(sides))),
        }
    }
}

/// A picture as it leaves.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    pub(super) file: Bytes,
    pub(super) format: Format,
    pub(super) is_blurred: bool,
    pub(super) safe_mode: SafeMode,
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
        let is_adult = match (self.is_safe, answer.is_adult) {
            (false, _) => None,
            (true, None) => studio.is_adult(BOUNDS, &answer.file).await,
            (true, told) => told,
        };
        let safe_mode = match (self.is_safe, is_adult) {
            (false, _) => SafeMode::Off,
            (true, None) => SafeMode::Unavailable,
            (true, Some(_)) => SafeMode::On,
        };
        let is_blurred = is_adult == Some(true);
        let order = Order {
            bounds: BOUNDS,
            is_strict: false,
            resize: self.size.resize(),
            blur: is_blurred,
            mark: self.mark.clone(),
            write: Writing::As(self.format),
            facts: self.facts.clone(),
        };
        let outcome = studio.carry_out(order, answer.file).await;
        let unread = |cause: String| EngineError::BadAnswer { cause };
        let outcome = outcome.map_err(|_| unread("its picture could not be opened".to_owned()))?;
        let outcome = outcome.map_err(|fault| unread(format!("its picture: {fault}")))?;
        let Outcome { file, format, .. } = outcome;
        Ok(Finished { file: file.into(), format, is_blurred, safe_mode, is_violation: false })
    }

    /// What is sent instead of something that the engine's policy forbids.
    pub(super) async fn blacked_out(
        &self,
        studio: &Studio,
        framed: PictureSize,
    ) -> Result<Finished, EngineError> {
        let size = match self.size {
            FinishedSize::Pixels(pixels) => pixels,
            FinishedSize::AsMade | FinishedSize::Form(_) => framed,
        };
        let size = Size { width: size.width, height: size.height };
        let outcome = studio.black(size, self.format).await;
        let unwritten = |cause: String| EngineError::BadAnswer { cause };
        let outcome = outcome.map_err(|_| unwritten("no black picture was made".to_owned()))?;
        let outcome = outcome.map_err(|fault| unwritten(fault.to_string()))?;
        let Outcome { file, format, .. } = outcome;
        let safe_mode = if self.is_safe { SafeMode::On } else { SafeMode::Off };
        let file = file.into();
        Ok(Finished { file, format, is_blurred: false, safe_mode, is_violation: true })
    }
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
