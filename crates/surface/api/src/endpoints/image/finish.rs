//! Post-processes an engine's image for the caller.

use bytes::Bytes;
use domain::image_size::{self, SideRatio};
use engine::{EngineError, ImageAnswer, PictureSize};
use pictures::{
    ImageBounds, ImageEncoding, ImageFileFormat, ImageOperations, PixelSize, ProcessedImage,
    ResizeMode,
};
use wire::images::{OpenAiFormat, OutputFormat, PictureFormat};

use crate::image_processing::ImageProcessor;

/// Limits for images of engines, which may be larger than those of callers.
const BOUNDS: ImageBounds = ImageBounds { pixels_min: 1, pixels_max: 40_000_000, side_min: 1 };

/// The state of the check for adult content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SafeMode {
    On,
    /// The caller turned it off.
    Off,
    /// Neither the model's provider nor our classifier gave a result.
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

/// The post-processing of an image.
#[derive(Debug, Clone)]
pub(super) struct FinishOptions {
    pub(super) format: ImageFileFormat,
    pub(super) is_safe: bool,
    pub(super) mark: Option<String>,
    /// Metadata written into the file.
    pub(super) facts: Option<String>,
    pub(super) size: FinishedSize,
}

/// The size of the finished image, whatever the engine made. The rest is cropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinishedSize {
    /// Unchanged: the caller asked for no size.
    AsMade,
    /// Exactly these pixels.
    Pixels(PictureSize),
    /// The aspect ratio of these sides, with any number of pixels.
    Form(PictureSize),
}

impl FinishedSize {
    /// The aspect ratio of a text such as `16:9`.
    pub(super) fn of_ratio(ratio: Option<&str>) -> FinishedSize {
        let ratio = ratio.and_then(image_size::parse_ratio);
        ratio.map_or(FinishedSize::AsMade, |SideRatio { width, height }| {
            FinishedSize::Form(PictureSize { width, height })
        })
    }

    fn to_resize(self) -> Option<ResizeMode> {
        let size = |it: PictureSize| PixelSize { width: it.width, height: it.height };
        match self {
            FinishedSize::AsMade => None,
            FinishedSize::Pixels(pixels) => Some(ResizeMode::Cover(size(pixels))),
            FinishedSize::Form(sides) => Some(ResizeMode::Form(size(sides))),
        }
    }
}

/// A finished image.
#[derive(Debug, Clone)]
pub(super) struct FinishedImage {
    pub(super) file: Bytes,
    pub(super) format: ImageFileFormat,
    pub(super) is_blurred: bool,
    pub(super) safe_mode: SafeMode,
    /// Set if the image was replaced by a black one because of the engine's policy.
    pub(super) is_violation: bool,
}

impl FinishOptions {
    /// Decodes an engine's image in a reader process, but allows data after the image, unlike for
    /// callers. A failure is the engine's fault.
    pub(super) async fn finish_image(
        &self,
        studio: &ImageProcessor,
        answer: ImageAnswer,
    ) -> Result<FinishedImage, EngineError> {
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
        let order = ImageOperations {
            bounds: BOUNDS,
            is_strict: false,
            resize: self.size.to_resize(),
            blur: is_blurred,
            mark: self.mark.clone(),
            write: ImageEncoding::As(self.format),
            facts: self.facts.clone(),
        };
        let outcome = studio.process_image(order, answer.file).await;
        let unread = |cause: String| EngineError::BadAnswer { cause };
        let outcome = outcome.map_err(|_| unread("its picture could not be opened".to_owned()))?;
        let outcome = outcome.map_err(|fault| unread(format!("its picture: {fault}")))?;
        let ProcessedImage { file, format, .. } = outcome;
        Ok(FinishedImage { file: file.into(), format, is_blurred, safe_mode, is_violation: false })
    }

    /// A black image, sent instead of one that the engine's policy forbids.
    pub(super) async fn build_black_image(
        &self,
        studio: &ImageProcessor,
        framed: PictureSize,
    ) -> Result<FinishedImage, EngineError> {
        let size = match self.size {
            FinishedSize::Pixels(pixels) => pixels,
            FinishedSize::AsMade | FinishedSize::Form(_) => framed,
        };
        let size = PixelSize { width: size.width, height: size.height };
        let outcome = studio.black_image(size, self.format).await;
        let unwritten = |cause: String| EngineError::BadAnswer { cause };
        let outcome = outcome.map_err(|_| unwritten("no black picture was made".to_owned()))?;
        let outcome = outcome.map_err(|fault| unwritten(fault.to_string()))?;
        let ProcessedImage { file, format, .. } = outcome;
        let safe_mode = if self.is_safe { SafeMode::On } else { SafeMode::Off };
        let file = file.into();
        Ok(FinishedImage { file, format, is_blurred: false, safe_mode, is_violation: true })
    }
}

pub(super) const fn to_file_format(asked: PictureFormat) -> ImageFileFormat {
    match asked {
        PictureFormat::Jpeg => ImageFileFormat::Jpeg,
        PictureFormat::Png => ImageFileFormat::Png,
        PictureFormat::Webp => ImageFileFormat::Webp,
    }
}

pub(super) const fn output_format(asked: OutputFormat) -> ImageFileFormat {
    match asked {
        OutputFormat::Jpeg | OutputFormat::Jpg => ImageFileFormat::Jpeg,
        OutputFormat::Png => ImageFileFormat::Png,
        OutputFormat::Webp => ImageFileFormat::Webp,
    }
}

pub(super) const fn openai_format(asked: OpenAiFormat) -> ImageFileFormat {
    match asked {
        OpenAiFormat::Jpeg => ImageFileFormat::Jpeg,
        OpenAiFormat::Png => ImageFileFormat::Png,
        OpenAiFormat::Webp => ImageFileFormat::Webp,
    }
}
