//! The form that the image endpoints receive, and the execution of their work.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Multipart;
use axum::extract::multipart::MultipartError;
use engine_onnx::tools::{Picture, ToolError};
use tokio::sync::OwnedSemaphorePermit;

use super::picture_file::{self, PictureFile, Unwritable};
use super::waiting::Waiting;
use crate::refusal::Refusal;
use crate::registry::Registry;

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
    pub(super) async fn read(mut multipart: Multipart) -> Result<PictureForm, Refusal> {
        let unreadable = |error: MultipartError| Refusal::invalid(None, error.body_text());
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
    pub(super) fn picture(&mut self) -> Result<Bytes, Refusal> {
        match (self.pictures.pop(), self.pictures.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Err(Refusal::invalid(Some("image"), "Send a picture.")),
            (Some(_), false) => {
                let message = "This model works on one picture at a time.";
                Err(Refusal::invalid(Some("image"), message))
            }
        }
    }
}

/// Permit held while a large image is decoded and processed, which takes much memory and all cores.
/// Waiting requests have sent only their headers, so they hold no image in memory.
pub(super) struct PictureTurn {
    _permit: OwnedSemaphorePermit,
}

impl PictureTurn {
    pub(super) async fn take(registry: &Registry) -> Result<PictureTurn, Refusal> {
        let permit = Arc::clone(registry.workbench()).acquire_owned().await;
        let stopped = |_| Refusal::failed("The engine is stopping.");
        Ok(PictureTurn { _permit: permit.map_err(stopped)? })
    }
}

/// Runs the work and encodes the image.
pub(super) async fn work(
    turn: PictureTurn,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<Picture, Refusal> + Send + 'static,
) -> Result<PictureFile, Refusal> {
    let waiting = Waiting::default();
    let is_wanted = waiting.watch();
    let worked = tokio::task::spawn_blocking(move || {
        // Held until the work ends, even if the caller has disconnected, because its memory is in
        // use until then.
        let _turn = turn;
        let made = work(&is_wanted)?;
        picture_file::write(made).map_err(|error| match error {
            Unwritable::TooMuchDetail(_) => Refusal::invalid(Some("image"), error.to_string()),
            Unwritable::Failed(_) => Refusal::failed(error.to_string()),
        })
    });
    let worked = worked.await.map_err(|error| Refusal::failed(error.to_string()))?;
    drop(waiting);
    worked
}

/// Decodes a file of at most `pixels_max` pixels.
pub(super) fn opened(
    field: &'static str,
    file: &[u8],
    pixels_max: u64,
) -> Result<Picture, Refusal> {
    let opened = picture_file::read(file, pixels_max);
    opened.map_err(|error| Refusal::invalid(Some(field), error.to_string()))
}

pub(super) fn refusal(error: ToolError) -> Refusal {
    match error {
        ToolError::MaskSize { .. } | ToolError::NothingToErase | ToolError::NothingToKeep => {
            Refusal::invalid(Some("mask"), sentence(&error.to_string()))
        }
        other => Refusal::failed(other.to_string()),
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callers_can_mend_is_told_as_a_sentence() {
        let told = refusal(ToolError::NothingToErase).body();
        let message = "Nothing is transparent in the mask, so there is nothing to erase.";
        assert_eq!(told["error"]["message"], message);
        assert_eq!(told["error"]["param"], "mask");
    }

    #[test]
    fn a_form_has_one_picture() {
        let form = |count| PictureForm {
            pictures: vec![Bytes::from_static(b"x"); count],
            ..PictureForm::default()
        };
        assert!(form(1).picture().is_ok());
        assert!(form(0).picture().is_err());
        assert!(form(2).picture().is_err());
    }
}
