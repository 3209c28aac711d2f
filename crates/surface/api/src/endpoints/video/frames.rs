//! The first and last frames of a video. If the engine does not fetch URLs, the images are fetched
//! here, decoded in the reader and encoded again.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{MediaEngine, MediaRequest, VideoRequest};
use http_frame::paid_work::queued_job::{PrepareFiles, check_media_request};
use http_frame::refusal::Refusal;
use pictures::{ImageBounds, ResizeMode};

use crate::endpoints::image::sent_image::{PIXELS_MAX, SIDE_MIN, SentImage};
use crate::image_processing::ImageProcessor;

/// No model makes larger frames, and a job stores its images until it ends.
const SIDE_MAX: u32 = 2048;

/// The step that prepares the frames, if one is needed.
pub(super) fn build_frame_step(
    request: &VideoRequest,
    engine: &Arc<dyn MediaEngine>,
    studio: ImageProcessor,
) -> Option<PrepareFiles> {
    let has_frames = request.image.is_some() || request.end_image.is_some();
    if !has_frames || engine.accepts_urls() {
        return None;
    }
    let engine = Arc::clone(engine);
    Some(Box::new(move |request| {
        Box::pin(async move {
            let request = reencode_frames(request, &studio).await?;
            check_media_request(engine.as_ref(), &request)?;
            Ok(request)
        })
    }))
}

async fn reencode_frames(
    mut request: MediaRequest,
    studio: &ImageProcessor,
) -> Result<MediaRequest, Refusal> {
    if let MediaRequest::Video(video) = &mut request {
        let frames = [("image_url", &mut video.image), ("end_image_url", &mut video.end_image)];
        for (field, frame) in frames {
            if let Some(text) = frame {
                *text = reencode_image(field, text, studio).await?;
            }
        }
    }
    Ok(request)
}

/// The image as a data URL, encoded again.
async fn reencode_image(
    field: &str,
    text: &str,
    studio: &ImageProcessor,
) -> Result<String, Refusal> {
    let side_min = u64::from(SIDE_MIN);
    let bounds =
        ImageBounds { pixels_min: side_min * side_min, pixels_max: PIXELS_MAX, side_min: SIDE_MIN };
    let given = SentImage::from_text(field, text)?;
    let picture = given.open_within(studio, bounds, Some(ResizeMode::Within(SIDE_MAX))).await?;
    Ok(format!("data:{};base64,{}", picture.kind.mime, BASE64_STANDARD.encode(&picture.bytes)))
}
