//! Renders one video: images of the model that change into each other, with a slow camera movement,
//! encoded while they are drawn.
//!
//! The model draws a few images per second of video. Between them, latents are interpolated and
//! decoded several times per second; between those, pixels are interpolated. The camera moves with
//! every frame. Only the latents, two decoded images and the encoded file are kept in memory. A
//! video with a start image begins with that image, which fades into the model's images.

use engine_onnx::pictor::{
    ImageLatent, ImageSequence, PIXELS_SIDE, PROMPTS_MAX, PictorError, PictorModel,
};
use image::RgbImage;
use image::imageops::{self, FilterType};
use video::{
    CameraView, FrameCanvas, ImageFit, RgbPixels, VideoError, VideoFormat, VideoFrame, VideoWriter,
};

use crate::style::with_style;

pub(crate) const SECONDS_MAX: u32 = 10;
/// Range of each side in pixels; sides must be even.
pub(crate) const SIDES: std::ops::RangeInclusive<usize> = 16..=1280;

const FRAMES_PER_SECOND: usize = 24;
const DRAWN_PER_SECOND: usize = 2;
const DECODED_PER_SECOND: usize = 8;
/// Zoom of the camera per second.
const ZOOM_PER_SECOND: f32 = 0.03;
/// Sideways movement of the camera per second, as a fraction of the image.
const DRIFT_PER_SECOND: f32 = 0.008;
/// Duration for which the start image fades out.
const START_SECONDS: f32 = 1.0;
/// The word in a prompt that begins the next scene.
const NEXT_SCENE: &str = "then";

/// A video to render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VideoRenderRequest {
    pub(crate) prompt: String,
    pub(crate) negative_prompt: String,
    pub(crate) seed: u64,
    pub(crate) seconds: u32,
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Start image, of the same width and height.
    pub(crate) start: Option<RgbImage>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum VideoRenderError {
    #[error(transparent)]
    Picture(#[from] PictorError),
    #[error(transparent)]
    File(#[from] VideoError),
    #[error("a frame has odd sides")]
    Frame,
}

/// Observer of the work.
pub(crate) trait RenderObserver {
    /// Called before each step; false cancels the work.
    fn is_wanted(&self) -> bool;
    /// Called with the progress in percent.
    fn report_progress(&self, percent: u8);
}

/// Renders and encodes the video.
pub(crate) fn render_video(
    painter: &PictorModel,
    order: &VideoRenderRequest,
    audience: &dyn RenderObserver,
) -> Result<Vec<u8>, VideoRenderError> {
    let seconds = order.seconds as usize;
    let prompts = split_scenes(&order.prompt);
    let side = PIXELS_SIDE as u32;
    let start = order.start.as_ref();
    let start = start.map(|it| imageops::resize(it, side, side, FilterType::Triangle));
    let walk = ImageSequence {
        prompts: &prompts,
        negative_prompt: &order.negative_prompt,
        seed: order.seed,
        pictures: seconds * DRAWN_PER_SECOND + 1,
        start: start.as_ref().map(|it| it.as_raw().as_slice()),
    };
    let format = VideoFormat {
        width: order.width,
        height: order.height,
        frames_per_second: FRAMES_PER_SECOND as u32,
    };
    let mut writer = VideoWriter::new(format)?;
    let mut work = RenderProgress { done: 0, of: count_steps(&walk, seconds), audience };
    let is_wanted = || audience.is_wanted();
    let latents = painter.paint_sequence(&walk, &is_wanted, || work.add_steps(DRAWING_COST))?;
    let camera =
        CameraMovement { canvas: FrameCanvas { width: order.width, height: order.height }, order };
    let decode = |number: usize| painter.decode_latent(&interpolate_latent(&latents, number));
    let mut here = decode(0)?;
    for number in 0..seconds * DECODED_PER_SECOND {
        if !is_wanted() {
            return Err(PictorError::Cancelled.into());
        }
        let next = decode(number + 1)?;
        for step in 0..FRAMES_BETWEEN {
            let pixels = mix_images(&here, &next, step, FRAMES_BETWEEN);
            writer.add_frame(&camera.render_frame(&pixels, number * FRAMES_BETWEEN + step)?)?;
        }
        here = next;
        work.add_steps(1);
    }
    Ok(writer.finish()?)
}

const START_FRAMES: usize = (START_SECONDS * FRAMES_PER_SECOND as f32) as usize;
/// Frames between two decoded images.
const FRAMES_BETWEEN: usize = FRAMES_PER_SECOND / DECODED_PER_SECOND;
/// Cost of drawing one image, in decoded images.
const DRAWING_COST: usize = 6;

fn count_steps(walk: &ImageSequence<'_>, seconds: usize) -> usize {
    walk.pictures * DRAWING_COST + seconds * DECODED_PER_SECOND
}

struct RenderProgress<'a> {
    done: usize,
    of: usize,
    audience: &'a dyn RenderObserver,
}

impl RenderProgress<'_> {
    fn add_steps(&mut self, steps: usize) {
        self.done += steps;
        let percent = (self.done * 100 / self.of.max(1)).min(99);
        self.audience.report_progress(percent as u8);
    }
}

/// The scenes of a prompt. Scenes beyond the maximum are joined to the last.
fn split_scenes(prompt: &str) -> Vec<String> {
    let mut scenes: Vec<Vec<&str>> = vec![Vec::new()];
    for word in prompt.split_whitespace() {
        let is_next = word.trim_matches([',', ';', '.']).eq_ignore_ascii_case(NEXT_SCENE);
        if is_next && scenes.len() < PROMPTS_MAX && scenes.last().is_some_and(|it| !it.is_empty()) {
            scenes.push(Vec::new());
        } else if let Some(last) = scenes.last_mut() {
            last.push(word);
        }
    }
    let text =
        |words: Vec<&str>| with_style(words.join(" ").trim_end_matches([',', ';', '.', ' ']));
    let told: Vec<String> =
        scenes.into_iter().filter(|words| !words.is_empty()).map(text).collect();
    if told.is_empty() { vec![with_style("")] } else { told }
}

/// The latent of the decoded image with this number, interpolated between the drawn ones.
fn interpolate_latent(latents: &[ImageLatent], number: usize) -> ImageLatent {
    const DECODED_BETWEEN: usize = DECODED_PER_SECOND / DRAWN_PER_SECOND;
    let (at, step) = (number / DECODED_BETWEEN, number % DECODED_BETWEEN);
    match latents.get(at + 1) {
        Some(next) if 0 < step => {
            latents[at].interpolate(next, step as f32 / DECODED_BETWEEN as f32)
        }
        _ => latents[at].clone(),
    }
}

/// Interpolates between two images; `step` 0 is `here`.
fn mix_images(here: &[u8], next: &[u8], step: usize, of: usize) -> Vec<u8> {
    let (step, of) = (step as u32, of as u32);
    let mixed = |(here, next): (&u8, &u8)| {
        let sum = u32::from(*here) * (of - step) + u32::from(*next) * step;
        ((sum + of / 2) / of) as u8
    };
    here.iter().zip(next).map(mixed).collect()
}

struct CameraMovement<'a> {
    canvas: FrameCanvas,
    order: &'a VideoRenderRequest,
}

impl CameraMovement<'_> {
    fn render_frame(&self, rgb: &[u8], number: usize) -> Result<VideoFrame, VideoRenderError> {
        let seconds = number as f32 / FRAMES_PER_SECOND as f32;
        // One of four directions, selected by the seed.
        let side = |bit: u32| if self.order.seed >> bit & 1 == 0 { 1.0 } else { -1.0 };
        let view = CameraView {
            // The start image already has the aspect ratio of the frame.
            fit: if self.order.start.is_some() { ImageFit::Fill } else { ImageFit::Square },
            zoom: 1.0 + ZOOM_PER_SECOND * seconds,
            right: side(0) * DRIFT_PER_SECOND * seconds,
            down: side(1) * DRIFT_PER_SECOND * seconds,
        };
        let FrameCanvas { width, height } = self.canvas;
        let pixels = RgbPixels { rgb, width: PIXELS_SIDE, height: PIXELS_SIDE };
        let mut drawn = self.canvas.draw(pixels, view);
        if let Some(start) = self.order.start.as_ref().filter(|_| number < START_FRAMES) {
            let start = self.canvas.draw(RgbPixels { rgb: start, width, height }, view);
            drawn = mix_images(&start, &drawn, number, START_FRAMES);
        }
        VideoFrame::from_rgb(width, height, &drawn).ok_or(VideoRenderError::Frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_told_in_scenes() {
        let styled = |text: &str| format!("{text}, flat illustration");
        assert_eq!(split_scenes("a red apple"), [styled("a red apple")]);
        assert_eq!(
            split_scenes("a red apple, then a green apple. Then, an owl, pixel art"),
            [styled("a red apple"), styled("a green apple"), "an owl, pixel art".to_owned()]
        );
        assert_eq!(split_scenes("then then "), [styled("then")]);
        assert_eq!(split_scenes("strengthen"), [styled("strengthen")]);
        assert_eq!(split_scenes("a then b then c then d then e").len(), PROMPTS_MAX);
        assert_eq!(split_scenes(" ").len(), 1);
    }

    #[test]
    fn pixels_go_from_one_picture_to_the_next() {
        assert_eq!(mix_images(&[0, 255, 9], &[30, 0, 9], 0, 3), [0, 255, 9]);
        assert_eq!(mix_images(&[0, 255, 9], &[30, 0, 9], 1, 3), [10, 170, 9]);
        assert_eq!(mix_images(&[0, 255, 9], &[30, 0, 9], 2, 3), [20, 85, 9]);
    }

    #[test]
    fn a_video_begins_with_the_picture_it_starts_from() {
        let start = RgbImage::from_fn(64, 36, |x, y| image::Rgb([x as u8 * 3, y as u8 * 5, 200]));
        let order = VideoRenderRequest {
            prompt: "a boat".into(),
            negative_prompt: String::new(),
            seed: 1,
            seconds: 2,
            width: 64,
            height: 36,
            start: Some(start.clone()),
        };
        let camera =
            CameraMovement { canvas: FrameCanvas { width: 64, height: 36 }, order: &order };
        let drawn = [10, 20, 30].repeat(PIXELS_SIDE * PIXELS_SIDE);
        let frame = |rgb: &[u8]| VideoFrame::from_rgb(64, 36, rgb).unwrap();
        assert_eq!(camera.render_frame(&drawn, 0).unwrap(), frame(&start));
        let even = frame(&[10, 20, 30].repeat(64 * 36));
        assert_eq!(camera.render_frame(&drawn, START_FRAMES).unwrap(), even);
        assert_ne!(camera.render_frame(&drawn, START_FRAMES / 2).unwrap(), even);
    }
}
