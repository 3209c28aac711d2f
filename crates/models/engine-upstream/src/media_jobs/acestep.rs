//! ACE-Step's music server.

use engine::{EngineError, MediaFile, MediaRequest, MediaStatus, MediaTicket, MusicRequest};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::protocol::MediaProtocol;
use super::{
    classify_failure, file, parse_body, plain_name, refuse_unsupported, require_music,
    running_status,
};
use crate::transport::{UpstreamEndpoint, bad_answer};

/// The lyrics of a piece without vocals.
const INSTRUMENTAL: &str = "[Instrumental]";

/// One model of one server.
pub(crate) struct AceStep {
    pub(crate) release: UpstreamEndpoint,
    pub(crate) query: UpstreamEndpoint,
    pub(crate) audio: UpstreamEndpoint,
    /// The endpoint that writes lyrics.
    pub(crate) format_input: UpstreamEndpoint,
    pub(crate) model: String,
}

impl MediaProtocol for AceStep {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        encode_request(require_music(request)?, None, &self.model).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<MediaTicket, EngineError> {
        let request = require_music(request)?;
        let lyrics = match request.optimizes_lyrics {
            true => Some(self.write_lyrics(request).await?),
            false => request.lyrics.clone(),
        };
        let body = encode_request(request, lyrics.as_deref(), &self.model)?;
        let answer = self.release.post_json(body.to_string().into_bytes()).await?;
        let task: AceStepEnvelope<AceStepTask> = parse_body(&answer)?;
        let task = task.into_data()?;
        plain_name(&task.task_id).map(|id| MediaTicket(id.to_owned()))
    }

    async fn poll_status(&self, ticket: &MediaTicket) -> Result<MediaStatus, EngineError> {
        parse_status(&self.query_jobs(ticket).await?)
    }

    async fn download(&self, ticket: &MediaTicket) -> Result<MediaFile, EngineError> {
        let path = find_file_path(&self.query_jobs(ticket).await?)?;
        let rest = format!("?path={}", utf8_percent_encode(&path, NON_ALPHANUMERIC));
        let answer = self.audio.open_file(&rest).await?;
        Ok(file::file_from_answer(answer, self.audio.timeouts))
    }
}

impl AceStep {
    async fn query_jobs(&self, ticket: &MediaTicket) -> Result<Vec<AceStepJob>, EngineError> {
        let body = json!({ "task_id_list": [ticket.0] });
        let answer = self.query.post_json(body.to_string().into_bytes()).await?;
        parse_body::<AceStepEnvelope<Vec<AceStepJob>>>(&answer)?.into_data()
    }

    async fn write_lyrics(&self, request: &MusicRequest) -> Result<String, EngineError> {
        let body = json!({ "prompt": request.prompt, "lyrics": "" });
        let answer = self.format_input.post_json(body.to_string().into_bytes()).await?;
        let written: AceStepEnvelope<LyricsBody> = parse_body(&answer)?;
        Ok(written.into_data()?.lyrics)
    }
}

pub(crate) fn encode_request(
    request: &MusicRequest,
    lyrics: Option<&str>,
    model: &str,
) -> Result<Value, EngineError> {
    refuse_unsupported([
        ("a voice", request.voice.is_some()),
        ("a speed", request.speed.is_some()),
        ("loops", request.is_loop),
    ])?;
    let lyrics =
        if request.is_instrumental { INSTRUMENTAL } else { lyrics.unwrap_or(INSTRUMENTAL) };
    let mut body = json!({
        "prompt": request.prompt,
        "lyrics": lyrics,
        "task_type": "text2music",
        "model": model,
        "audio_format": request.format.as_deref().unwrap_or("mp3"),
        "batch_size": 1,
        "use_random_seed": false,
        "seed": request.seed,
    });
    if let Some(seconds) = request.duration_s {
        body["audio_duration"] = seconds.into();
    }
    if let Some(language) = &request.language {
        body["vocal_language"] = language.as_str().into();
    }
    Ok(body)
}

/// The envelope of every response.
#[derive(Deserialize)]
struct AceStepEnvelope<T> {
    data: Option<T>,
    error: Option<Value>,
}

impl<T> AceStepEnvelope<T> {
    fn into_data(self) -> Result<T, EngineError> {
        self.data.ok_or_else(|| {
            let error = self.error.unwrap_or_default();
            bad_answer(error.as_str().map_or_else(|| error.to_string(), str::to_owned))
        })
    }
}

#[derive(Deserialize)]
struct AceStepTask {
    task_id: String,
}

#[derive(Deserialize)]
struct LyricsBody {
    lyrics: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AceStepJob {
    status: i64,
    /// JSON, as a string.
    #[serde(default)]
    result: Value,
    #[serde(default)]
    progress_text: Option<String>,
}

pub(crate) fn parse_status(found: &[AceStepJob]) -> Result<MediaStatus, EngineError> {
    let Some(found) = found.first() else { return Ok(MediaStatus::Lost) };
    match found.status {
        0 => Ok(running_status(&Value::Null, &Value::Null)),
        1 => Ok(MediaStatus::Done),
        2 => Ok(classify_failure("", found.progress_text.as_deref().unwrap_or_default())),
        other => Err(bad_answer(format!("a task has the status {other}"))),
    }
}

/// The path of a task's first file, as the server names it.
fn find_file_path(found: &[AceStepJob]) -> Result<String, EngineError> {
    let lost = || bad_answer("its task returned no file");
    let result = &found.first().ok_or_else(lost)?.result;
    let read;
    let files = match result.as_str() {
        Some(text) => {
            read = parse_body::<Value>(text.as_bytes())?;
            &read
        }
        None => result,
    };
    let first = files.get(0).unwrap_or(files);
    let file = first["file"].as_str().or(first["audio_path"].as_str()).ok_or_else(lost)?;
    // Some releases return a URL with the path as a parameter, others the path itself.
    let path = file.split_once("?path=").map_or(file, |(_, path)| path);
    let path = percent_encoding::percent_decode_str(path).decode_utf8();
    path.map(|it| it.into_owned()).map_err(|_| lost())
}
