//! ComfyUI for music and videos: queues a workflow with its slots filled.

use base64::Engine as _;
use bytes::Bytes;
use engine::{
    EngineError, MediaFile, MediaRequest, MediaStatus, MediaTicket, MusicRequest, VideoRequest,
};
use serde_json::Value;

use super::protocol::MediaProtocol;
use super::{
    classify_failure, file, parse_body, plain_name, refuse_option, refuse_references,
    refuse_unsupported, running_status, size,
};
use crate::comfyui::{ComfyFile, ComfyServer, ComfyWorkflow, WorkflowSlot, failure_reason};
use crate::transport::bad_answer;
use crate::upstream::MediaWork;

/// File extensions of the results of each kind. Previews have others.
const VIDEO_ENDINGS: [&str; 4] = ["mp4", "webm", "mov", "m4v"];
const MUSIC_ENDINGS: [&str; 6] = ["mp3", "flac", "wav", "ogg", "opus", "m4a"];
/// Models require a multiple of 4 or 8 frames, plus one.
const FRAME_STEP: u64 = 8;
/// The lyrics of music without vocals.
const NO_LYRICS: &str = "[instrumental]";
/// Nodes that call other services report a content refusal only in words.
const POLICY_WORDS: [&str; 5] =
    ["content policy", "content_policy", "moderation", "moderated", "nsfw"];

/// One workflow of one server.
pub(crate) struct ComfyUiMedia {
    pub(crate) server: ComfyServer,
    pub(crate) workflow: ComfyWorkflow,
    pub(crate) work: MediaWork,
}

impl MediaProtocol for ComfyUiMedia {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        let mut values = self.values(request)?;
        for (slot, picture) in input_pictures(request) {
            read_picture(picture)?;
            values.push((slot, Value::Null));
        }
        self.workflow.fill_slots(&values, self.field_names()).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<MediaTicket, EngineError> {
        let mut values = self.values(request)?;
        for (slot, picture) in input_pictures(request) {
            let (extension, mime, bytes) = read_picture(picture)?;
            values.push((slot, self.server.upload(extension, mime, bytes).await?));
        }
        let graph = self.workflow.fill_slots(&values, self.field_names())?;
        self.server.submit(graph).await.map(MediaTicket)
    }

    async fn poll_status(&self, ticket: &MediaTicket) -> Result<MediaStatus, EngineError> {
        let id = plain_name(&ticket.0)?;
        if let Some(told) = self.poll_history(id).await? {
            return Ok(told);
        }
        if let Some(ahead) = self.server.ahead_in_queue(id).await? {
            return Ok(running_status(&Value::Null, &ahead.into()));
        }
        // The job may have ended between the two requests.
        Ok(self.poll_history(id).await?.unwrap_or(MediaStatus::Lost))
    }

    async fn download(&self, ticket: &MediaTicket) -> Result<MediaFile, EngineError> {
        let id = plain_name(&ticket.0)?;
        let history = self.server.fetch_history(id).await?;
        let made = find_result_file(&history, id, self.work)?;
        let made = made.ok_or_else(|| bad_answer("its workflow returned no file"))?;
        let view = &self.server.view;
        Ok(file::file_from_answer(view.open_file(&made.view_query()).await?, view.timeouts))
    }

    async fn cancel(&self, ticket: &MediaTicket) -> Result<bool, EngineError> {
        self.server.stop(plain_name(&ticket.0)?).await;
        Ok(true)
    }
}

impl ComfyUiMedia {
    /// The state from the history; `None` if the history does not know the job yet.
    async fn poll_history(&self, id: &str) -> Result<Option<MediaStatus>, EngineError> {
        parse_status(&self.server.fetch_history(id).await?, id, self.work)
    }

    fn field_names(&self) -> fn(WorkflowSlot) -> &'static str {
        match self.work {
            MediaWork::Music => music_field,
            MediaWork::Video => video_field,
        }
    }

    /// The slot values of a request, without its images.
    fn values(&self, request: &MediaRequest) -> Result<Vec<(WorkflowSlot, Value)>, EngineError> {
        let mut values = match request {
            MediaRequest::Music(request) => music_slots(request)?,
            MediaRequest::Video(request) => video_slots(request)?,
        };
        let has_lyrics = values.iter().any(|(slot, _)| *slot == WorkflowSlot::Lyrics);
        if !has_lyrics {
            // A workflow for songs can also make instrumental music.
            let nothing = (WorkflowSlot::Lyrics, NO_LYRICS.into());
            let needs_lyrics = self.workflow.has_slot(WorkflowSlot::Lyrics)
                && !self.workflow.has_default(WorkflowSlot::Lyrics);
            values.extend(needs_lyrics.then_some(nothing));
        }
        if self.workflow.has_default(WorkflowSlot::NegativePrompt) {
            values.retain(|(slot, text)| *slot != WorkflowSlot::NegativePrompt || text != "");
        }
        Ok(values)
    }
}

/// The field of `POST /audio/queue` that fills a slot.
fn music_field(slot: WorkflowSlot) -> &'static str {
    match slot {
        WorkflowSlot::Lyrics => "lyrics_prompt",
        other => other.name(),
    }
}

/// The field of `POST /video/queue` that fills a slot.
fn video_field(slot: WorkflowSlot) -> &'static str {
    match slot {
        WorkflowSlot::Image => "image_url",
        WorkflowSlot::EndImage => "end_image_url",
        WorkflowSlot::DurationSeconds | WorkflowSlot::Frames16 | WorkflowSlot::Frames24 => {
            "duration"
        }
        WorkflowSlot::Width | WorkflowSlot::Height => "resolution",
        other => other.name(),
    }
}

/// The images of a request and their slots.
fn input_pictures(request: &MediaRequest) -> impl Iterator<Item = (WorkflowSlot, &str)> {
    let given = match request {
        MediaRequest::Music(_) => [(WorkflowSlot::Image, None), (WorkflowSlot::EndImage, None)],
        MediaRequest::Video(request) => [
            (WorkflowSlot::Image, request.image.as_deref()),
            (WorkflowSlot::EndImage, request.end_image.as_deref()),
        ],
    };
    given.into_iter().filter_map(|(slot, picture)| Some((slot, picture?)))
}

/// Decodes a data URL to extension, media type and bytes.
fn read_picture(picture: &str) -> Result<(&'static str, &'static str, Bytes), EngineError> {
    let (mime, data) = file::split_data_url(picture).ok_or_else(|| refuse_option("addresses"))?;
    let kinds = [("png", "image/png"), ("jpg", "image/jpeg"), ("webp", "image/webp")];
    let kind = kinds.into_iter().find(|(_, known)| *known == mime);
    let (extension, mime) = kind.ok_or_else(|| refuse_option("pictures of this kind"))?;
    let bytes = base64::prelude::BASE64_STANDARD.decode(data);
    let bytes = bytes.map_err(|_| refuse_option("pictures that are not base64"))?;
    Ok((extension, mime, Bytes::from(bytes)))
}

/// The slot values of a video request, without its images.
pub(crate) fn video_slots(
    request: &VideoRequest,
) -> Result<Vec<(WorkflowSlot, Value)>, EngineError> {
    refuse_references(request)?;
    refuse_unsupported([
        ("enlarging", request.upscale_factor.is_some()),
        ("sound", request.audio.is_some()),
        ("a video", request.video.is_some()),
    ])?;
    let mut values =
        prompt_slots(&request.prompt, request.negative_prompt.as_deref(), request.seed);
    let resolution = request.resolution.as_deref();
    if let Some((width, height)) = size::compute_pixels(resolution, request.aspect_ratio.as_deref())
    {
        values.extend([(WorkflowSlot::Width, width.into()), (WorkflowSlot::Height, height.into())]);
    }
    if let Some(seconds) = request.duration_s {
        let frames = |rate: u64| (seconds * rate).div_ceil(FRAME_STEP) * FRAME_STEP + 1;
        values.extend([
            (WorkflowSlot::DurationSeconds, seconds.into()),
            (WorkflowSlot::Frames16, frames(16).into()),
            (WorkflowSlot::Frames24, frames(24).into()),
        ]);
    }
    Ok(values)
}

/// The slot values of a music request.
pub(crate) fn music_slots(
    request: &MusicRequest,
) -> Result<Vec<(WorkflowSlot, Value)>, EngineError> {
    refuse_unsupported([
        ("a voice", request.voice.is_some()),
        ("a speed", request.speed.is_some()),
        ("a language", request.language.is_some()),
        ("loops", request.is_loop),
        ("lyrics of its own", request.optimizes_lyrics),
    ])?;
    let mut values = prompt_slots(&request.prompt, None, request.seed);
    values.extend(request.duration_s.map(|it| (WorkflowSlot::DurationSeconds, it.into())));
    values.extend(request.lyrics.as_deref().map(|it| (WorkflowSlot::Lyrics, it.into())));
    Ok(values)
}

fn prompt_slots(
    prompt: &str,
    negative_prompt: Option<&str>,
    seed: u64,
) -> Vec<(WorkflowSlot, Value)> {
    vec![
        (WorkflowSlot::Prompt, prompt.into()),
        (WorkflowSlot::NegativePrompt, negative_prompt.unwrap_or_default().into()),
        (WorkflowSlot::Seed, seed.into()),
    ]
}

/// The state from a job's history entry; `None` if there is none yet.
pub(crate) fn parse_status(
    history: &[u8],
    id: &str,
    work: MediaWork,
) -> Result<Option<MediaStatus>, EngineError> {
    let told: Value = parse_body(history)?;
    let Some(job) = told.get(id) else { return Ok(None) };
    if job["status"]["status_str"] == "error" {
        let reason = failure_reason(&job["status"]);
        let lower = reason.to_ascii_lowercase();
        let is_policy = POLICY_WORDS.iter().any(|it| lower.contains(it));
        if is_policy {
            return Ok(Some(classify_failure("content_policy", &reason)));
        }
        return Ok(Some(classify_failure("", &format!("The workflow failed: {reason}"))));
    }
    let is_made = find_result_file(history, id, work)?.is_some();
    let nothing = || classify_failure("", "The workflow returned no file of the requested kind.");
    Ok(Some(if is_made { MediaStatus::Done } else { nothing() }))
}

/// The result file of a job. Temporary previews are used only if no node saved an output file.
fn find_result_file(
    history: &[u8],
    id: &str,
    work: MediaWork,
) -> Result<Option<ComfyFile>, EngineError> {
    let endings = match work {
        MediaWork::Music => MUSIC_ENDINGS.as_slice(),
        MediaWork::Video => VIDEO_ENDINGS.as_slice(),
    };
    let told: Value = parse_body(history)?;
    let nodes = told[id]["outputs"].as_object().into_iter().flatten();
    // Nodes name their lists `images`, `gifs`, `videos` or `audio`, regardless of the content.
    let lists = nodes.flat_map(|(_, node)| node.as_object().into_iter().flatten());
    let files = lists.flat_map(|(_, list)| list.as_array().into_iter().flatten());
    let files = files.filter_map(|file| serde_json::from_value::<ComfyFile>(file.clone()).ok());
    let is_wanted = |file: &ComfyFile| {
        let ending = file.filename.rsplit_once('.').map(|(_, it)| it.to_ascii_lowercase());
        ending.is_some_and(|it| endings.contains(&it.as_str()))
    };
    let mut wanted: Vec<ComfyFile> = files.filter(is_wanted).collect();
    wanted.sort_by_key(|file| file.kind != "output");
    Ok(wanted.into_iter().next())
}
