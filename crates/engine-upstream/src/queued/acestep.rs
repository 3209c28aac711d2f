//! ACE-Step's music server.

use engine::{EngineError, MediaFile, MediaRequest, MusicRequest, Progress, Ticket};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::driver::Driver;
use super::{failed, file, music, parse, plain_name, refuse_extras, running};
use crate::transport::{Endpoint, bad_answer};

/// The lyrics of a piece without vocals.
const INSTRUMENTAL: &str = "[Instrumental]";

/// One model of one server.
pub(crate) struct AceStep {
    pub(crate) release: Endpoint,
    pub(crate) query: Endpoint,
    pub(crate) audio: Endpoint,
    /// The endpoint that writes lyrics.
    pub(crate) format_input: Endpoint,
    pub(crate) model: String,
}

impl Driver for AceStep {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        body(music(request)?, None, &self.model).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<Ticket, EngineError> {
        let request = music(request)?;
        let lyrics = match request.optimizes_lyrics {
            true => Some(self.write_lyrics(request).await?),
            false => request.lyrics.clone(),
        };
        let body = body(request, lyrics.as_deref(), &self.model)?;
        let answer = self.release.ask(body.to_string().into_bytes()).await?;
        let task: Envelope<Task> = parse(&answer)?;
        let task = task.into_data()?;
        plain_name(&task.task_id).map(|id| Ticket(id.to_owned()))
    }

    async fn look(&self, ticket: &Ticket) -> Result<Progress, EngineError> {
        progress(&self.ask_about(ticket).await?)
    }

    async fn fetch(&self, ticket: &Ticket) -> Result<MediaFile, EngineError> {
        let path = path(&self.ask_about(ticket).await?)?;
        let rest = format!("?path={}", utf8_percent_encode(&path, NON_ALPHANUMERIC));
        let answer = self.audio.open_file(&rest).await?;
        Ok(file::of_answer(answer, self.audio.timeouts))
    }
}

impl AceStep {
    async fn ask_about(&self, ticket: &Ticket) -> Result<Vec<AceStepJob>, EngineError> {
        let body = json!({ "task_id_list": [ticket.0] });
        let answer = self.query.ask(body.to_string().into_bytes()).await?;
        parse::<Envelope<Vec<AceStepJob>>>(&answer)?.into_data()
    }

    async fn write_lyrics(&self, request: &MusicRequest) -> Result<String, EngineError> {
        let body = json!({ "prompt": request.prompt, "lyrics": "" });
        let answer = self.format_input.ask(body.to_string().into_bytes()).await?;
        let written: Envelope<Written> = parse(&answer)?;
        Ok(written.into_data()?.lyrics)
    }
}

pub(crate) fn body(
    request: &MusicRequest,
    lyrics: Option<&str>,
    model: &str,
) -> Result<Value, EngineError> {
    refuse_extras([
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
struct Envelope<T> {
    data: Option<T>,
    error: Option<Value>,
}

impl<T> Envelope<T> {
    fn into_data(self) -> Result<T, EngineError> {
        self.data.ok_or_else(|| {
            let error = self.error.unwrap_or_default();
            bad_answer(error.as_str().map_or_else(|| error.to_string(), str::to_owned))
        })
    }
}

#[derive(Deserialize)]
struct Task {
    task_id: String,
}

#[derive(Deserialize)]
struct Written {
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

pub(crate) fn progress(found: &[AceStepJob]) -> Result<Progress, EngineError> {
    let Some(found) = found.first() else { return Ok(Progress::Lost) };
    match found.status {
        0 => Ok(running(&Value::Null, &Value::Null)),
        1 => Ok(Progress::Done),
        2 => Ok(failed("", found.progress_text.as_deref().unwrap_or_default())),
        other => Err(bad_answer(format!("a task has the status {other}"))),
    }
}

/// The path of a task's first file, as the server names it.
fn path(found: &[AceStepJob]) -> Result<String, EngineError> {
    let lost = || bad_answer("its task made no file");
    let result = &found.first().ok_or_else(lost)?.result;
    let read;
    let files = match result.as_str() {
        Some(text) => {
            read = parse::<Value>(text.as_bytes())?;
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
