//! The form that the image endpoints receive, and the execution of their work.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Multipart;
use axum::extract::multipart::MultipartError;
use engine_onnx::tools::{RgbaPicture, ToolError};
use tokio::sync::OwnedSemaphorePermit;

use super::caller_watch::CallerWatch;
use super::picture_file::{self, ImageEncodeError, PictureFile};
use crate::refusal::EngineRefusal;
use crate::registry::ModelRegistry;

/// The gateway's maximum.
pub(super) const PIXELS_MAX: u64 = 33_177_600;

#[derive(Debug, Default)]
pub(super) struct PictureForm {
    pub(super) model: String,
    pub(super) prompt: String,
    pub(super) size: Option<String>,
    pub(super) seed: Option<i64>,
    pub(super) pictures: Vec<Bytes>,
    pub(super) mask: Option<Bytes>,
}

impl PictureForm {
    pub(super) async fn read(mut multipart: Multipart) -> Result<PictureForm, EngineRefusal> {
        let unreadable = |error: MultipartError| EngineRefusal::invalid(None, error.body_text());
        let mut form = PictureForm::default();
        while let Some(field) = multipart.next_field().await.map_err(unreadable)? {
            let name = field.name().unwrap_or_default().to_owned();
            match name.as_str() {
                "model" => form.model = field.text().await.map_err(unreadable)?,
                "prompt" => form.prompt = field.text().await.map_err(unreadable)?,
                "seed" => form.seed = field.text().await.map_err(unreadable)?.parse().ok(),
                "size" => form.size = Some(field.text().await.map_err(unreadable)?),
                "image" | "image[]" => {
                    form.pictures.push(field.bytes().await.map_err(unreadable)?);
                }
                "mask" => form.mask = Some(field.bytes().await.map_err(unreadable)?),
                _ => {}
            }
        }
        Ok(form)
    }

    /// The only image of the form.
    pub(super) fn take_only_picture(&mut self) -> Result<Bytes, EngineRefusal> {
        match (self.pictures.pop(), self.pictures.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Err(EngineRefusal::invalid(Some("image"), "Send a picture.")),
            (Some(_), false) => {
                let message = "This model processes one image at a time.";
                Err(EngineRefusal::invalid(Some("image"), message))
            }
        }
    }
}

/// Permit held while a large image is decoded and processed, which takes much memory and all cores.
/// Waiting requests have sent only their headers, so they hold no image in memory.
pub(super) struct ImagePermit {
    _permit: OwnedSemaphorePermit,
}

impl ImagePermit {
    pub(super) async fn acquire(registry: &ModelRegistry) -> Result<ImagePermit, EngineRefusal> {
        let permit = Arc::clone(registry.image_permits()).acquire_owned().await;
        let stopped = |_| EngineRefusal::engine_failure("The engine is stopping.");
        Ok(ImagePermit { _permit: permit.map_err(stopped)? })
    }
}

/// Runs the work and encodes the image.
pub(super) async fn run_image_work(
    turn: ImagePermit,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<RgbaPicture, EngineRefusal> + Send + 'static,
) -> Result<PictureFile, EngineRefusal> {
    let waiting = CallerWatch::default();
    let is_wanted = waiting.watch();
    let worked = tokio::task::spawn_blocking(move || {
        // Held until the work ends, even if the caller has disconnected, because its memory is in
        // use until then.
        let _turn = turn;
        let made = work(&is_wanted)?;
        picture_file::encode_picture(made).map_err(|error| match error {
            ImageEncodeError::TooMuchDetail(_) => {
                EngineRefusal::invalid(Some("image"), error.to_string())
            }
            ImageEncodeError::Failed(_) => EngineRefusal::engine_failure(error.to_string()),
        })
    });
    let worked = worked.await.map_err(|error| EngineRefusal::engine_failure(error.to_string()))?;
    drop(waiting);
    worked
}

/// Decodes a file of at most `pixels_max` pixels.
pub(super) fn decode_form_picture(
    field: &'static str,
    file: &[u8],
    pixels_max: u64,
) -> Result<RgbaPicture, EngineRefusal> {
    let opened = picture_file::decode_picture(file, pixels_max);
    opened.map_err(|error| EngineRefusal::invalid(Some(field), error.to_string()))
}

pub(super) fn convert_tool_error(error: ToolError) -> EngineRefusal {
    match error {
        ToolError::MaskSize { .. } | ToolError::NothingToErase | ToolError::NothingToKeep => {
            EngineRefusal::invalid(Some("mask"), to_sentence(&error.to_string()))
        }
        other => EngineRefusal::engine_failure(other.to_string()),
    }
}

fn to_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callers_can_mend_is_told_as_a_sentence() {
        let told = convert_tool_error(ToolError::NothingToErase).body();
        let message = "No pixel of the mask is transparent: there is nothing to erase.";
        assert_eq!(told["error"]["message"], message);
        assert_eq!(told["error"]["param"], "mask");
    }

    #[test]
    fn a_form_has_one_picture() {
        let form = |count| PictureForm {
            pictures: vec![Bytes::from_static(b"x"); count],
            ..PictureForm::default()
        };
        assert!(form(1).take_only_picture().is_ok());
        assert!(form(0).take_only_picture().is_err());
        assert!(form(2).take_only_picture().is_err());
    }
}
