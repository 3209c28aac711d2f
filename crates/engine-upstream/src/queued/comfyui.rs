//! ComfyUI's queue, for music and videos: a workflow with its slots filled in.

use base64::Engine as _;
use bytes::Bytes;
use engine::{
    EngineError, MediaEngine, MediaFile, MediaRequest, MusicRequest, Progress, Ticket, VideoRequest,
};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{cannot, failed, file, parse, plain_name, refuse_extras, size};
use crate::comfyui::{Made, Server, Slot, Workflow, reason};
use crate::transport::bad_answer;
use crate::upstream::MediaWork;

/// What the files are called that a workflow of each kind is for. Previews have other endings.
const VIDEO_ENDINGS: [&str; 4] = ["mp4", "webm", "mov", "m4v"];
const MUSIC_ENDINGS: [&str; 6] = ["mp3", "flac", "wav", "ogg", "opus", "m4a"];
/// Models want a multiple of 4 or 8 frames, and one.
const FRAME_STEP: u64 = 8;
/// Stands where lyrics go for music without any.
const NO_LYRICS: &str = "[instrumental]";
/// Nodes that ask others for content say in words that it was refused.
const POLICY_WORDS: [&str; 5] =
    ["content policy", "content_policy", "moderation", "moderated", "nsfw"];

/// One workflow of one server.
pub(crate) struct ComfyUiMedia {
    pub(crate) server: Server,
    pub(crate) workflow: Workflow,
    pub(crate) work: MediaWork,
}

impl MediaEngine for ComfyUiMedia {
    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
        Box::pin(async move {
            let mut values = match request {
                MediaRequest::Music(request) => music(request)?,
                MediaRequest::Video(request) => video(request)?,
            };
            if let MediaRequest::Video(request) = request {
                let given = [(Slot::Image, &request.image), (Slot::EndImage, &request.end_image)];
                for (slot, picture) in given {
                    if let Some(picture) = picture {
                        values.push((slot, self.upload(picture).await?));
                    }
                }
            }
            let has_lyrics = values.iter().any(|(slot, _)| *slot == Slot::Lyrics);
            if !has_lyrics {
                // A workflow for songs can also make music without words.
                let nothing = (Slot::Lyrics, NO_LYRICS.into());
                values.extend(self.workflow.has(Slot::Lyrics).then_some(nothing));
            }
            self.server.submit(self.workflow.filled(&values)?).await.map(Ticket)
        })
    }

    fn look<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(async move {
            let id = plain_name(&ticket.0)?;
            if let Some(told) = self.told(id).await? {
                return Ok(told);
            }
            if self.server.has_in_queue(id).await? {
                return Ok(Progress::Running);
            }
            // It may have ended between the two questions.
            Ok(self.told(id).await?.unwrap_or(Progress::Lost))
        })
    }

    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let id = plain_name(&ticket.0)?;
            let history = self.server.told_of(id).await?;
            let made = made(&history, id, self.work)?;
            let made = made.ok_or_else(|| bad_answer("its workflow put out no file"))?;
            let view = &self.server.view;
            Ok(file::of_answer(view.open_file(&made.address()).await?, view.timeouts))
        })
    }

    fn cancel<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async move {
            self.server.stop(plain_name(&ticket.0)?).await;
            Ok(true)
        })
    }
}

impl ComfyUiMedia {
    /// None while the history does not know the job.
    async fn told(&self, id: &str) -> Result<Option<Progress>, EngineError> {
        progress(&self.server.told_of(id).await?, id, self.work)
    }

    async fn upload(&self, picture: &str) -> Result<Value, EngineError> {
        let (mime, data) = file::of_data_url(picture).ok_or_else(|| cannot("addresses"))?;
        let kinds = [("png", "image/png"), ("jpg", "image/jpeg"), ("webp", "image/webp")];
        let kind = kinds.into_iter().find(|(_, known)| *known == mime);
        let (extension, mime) = kind.ok_or_else(|| cannot("pictures of this kind"))?;
        let bytes = base64::prelude::BASE64_STANDARD.decode(data);
        let bytes = bytes.map_err(|_| cannot("pictures that are not base64"))?;
        self.server.upload(extension, mime, Bytes::from(bytes)).await
    }
}

/// What a request for a video fills in, but for its pictures.
pub(crate) fn video(request: &VideoRequest) -> Result<Vec<(Slot, Value)>, EngineError> {
    refuse_extras([
        ("enlarging", request.upscale_factor.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
        ("references", !request.reference_images.is_empty()),
        ("references", !request.reference_videos.is_empty()),
        ("references", !request.reference_audios.is_empty()),
        ("scenes", !request.scene_images.is_empty()),
        ("elements", !request.elements.is_empty()),
    ])?;
    let mut values = words(&request.prompt, request.negative_prompt.as_deref(), request.seed);
    let resolution = request.resolution.as_deref();
    if let Some((width, height)) = size::pixels(resolution, request.aspect_ratio.as_deref()) {
        values.extend([(Slot::Width, width.into()), (Slot::Height, height.into())]);
    }
    if let Some(seconds) = request.duration_s {
        let frames = |rate: u64| (seconds * rate).div_ceil(FRAME_STEP) * FRAME_STEP + 1;
        values.extend([
            (Slot::DurationSeconds, seconds.into()),
            (Slot::Frames16, frames(16).into()),
            (Slot::Frames24, frames(24).into()),
        ]);
    }
    Ok(values)
}

/// What a request for music fills in.
pub(crate) fn music(request: &MusicRequest) -> Result<Vec<(Slot, Value)>, EngineError> {
    refuse_extras([
        ("a voice", request.voice.is_some()),
        ("a speed", request.speed.is_some()),
        ("a language", request.language.is_some()),
        ("loops", request.is_loop),
        ("lyrics of its own", request.optimizes_lyrics),
    ])?;
    let mut values = words(&request.prompt, None, request.seed);
    values.extend(request.duration_s.map(|it| (Slot::DurationSeconds, it.into())));
    values.extend(request.lyrics.as_deref().map(|it| (Slot::Lyrics, it.into())));
    Ok(values)
}

fn words(prompt: &str, negative_prompt: Option<&str>, seed: u64) -> Vec<(Slot, Value)> {
    vec![
        (Slot::Prompt, prompt.into()),
        (Slot::NegativePrompt, negative_prompt.unwrap_or_default().into()),
        (Slot::Seed, seed.into()),
    ]
}

/// What the history says of a job; none if it does not know the job yet.
pub(crate) fn progress(
    history: &[u8],
    id: &str,
    work: MediaWork,
) -> Result<Option<Progress>, EngineError> {
    let told: Value = parse(history)?;
    let Some(job) = told.get(id) else { return Ok(None) };
    if job["status"]["status_str"] == "error" {
        let reason = reason(&job["status"]);
        let lower = reason.to_ascii_lowercase();
        let is_policy = POLICY_WORDS.iter().any(|it| lower.contains(it));
        if is_policy {
            return Ok(Some(failed("content_policy", &reason)));
        }
        return Ok(Some(failed("", &format!("The workflow failed: {reason}"))));
    }
    let is_made = made(history, id, work)?.is_some();
    let nothing = || failed("", "The workflow put out no file of the kind that was asked for.");
    Ok(Some(if is_made { Progress::Done } else { nothing() }))
}

/// The file that a job is about. What nodes only showed in passing counts where none of them has put
/// anything out.
fn made(history: &[u8], id: &str, work: MediaWork) -> Result<Option<Made>, EngineError> {
    let endings = match work {
        MediaWork::Music => MUSIC_ENDINGS.as_slice(),
        MediaWork::Video => VIDEO_ENDINGS.as_slice(),
    };
    let told: Value = parse(history)?;
    let nodes = told[id]["outputs"].as_object().into_iter().flatten();
    // Nodes call their lists `images`, `gifs`, `videos` or `audio`, whatever is in them.
    let lists = nodes.flat_map(|(_, node)| node.as_object().into_iter().flatten());
    let files = lists.flat_map(|(_, list)| list.as_array().into_iter().flatten());
    let files = files.filter_map(|file| serde_json::from_value::<Made>(file.clone()).ok());
    let is_wanted = |file: &Made| {
        let ending = file.filename.rsplit_once('.').map(|(_, it)| it.to_ascii_lowercase());
        ending.is_some_and(|it| endings.contains(&it.as_str()))
    };
    let mut wanted: Vec<Made> = files.filter(is_wanted).collect();
    wanted.sort_by_key(|file| file.kind != "output");
    Ok(wanted.into_iter().next())
}
