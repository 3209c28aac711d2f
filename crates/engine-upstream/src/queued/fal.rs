//! fal's queue, for music and videos.

use engine::{EngineError, MediaFile, MediaRequest, MusicRequest, Progress, Ticket, VideoRequest};
use outbound::Answer;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::driver::Driver;
use super::{failed, file, parse, refuse_extras, refuse_references, running};
use crate::fal::{self, Accepted};
use crate::picture;
use crate::transport::{Endpoint, bad_answer};

/// One model of fal.
pub(crate) struct FalMedia {
    /// The URL to which requests for the model are submitted.
    pub(crate) submit: Endpoint,
}

impl Driver for FalMedia {
    const TAKES_ADDRESSES: bool = true;

    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        body(request).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<Ticket, EngineError> {
        let answer = self.submit.ask(body(request)?.to_string().into_bytes()).await?;
        let accepted: Accepted = parse(&answer)?;
        for address in [&accepted.status_url, &accepted.response_url, &accepted.cancel_url] {
            fal::at(&self.submit, address)?;
        }
        let ticket = serde_json::to_string(&accepted);
        ticket.map(Ticket).map_err(|error| bad_answer(error.to_string()))
    }

    async fn look(&self, ticket: &Ticket) -> Result<Progress, EngineError> {
        let accepted: Accepted = parse(ticket.0.as_bytes())?;
        let status = fal::at(&self.submit, &accepted.status_url)?;
        let Some(told) = status.fetch_known("").await? else { return Ok(Progress::Lost) };
        match progress(&told)? {
            // The reason of a failure is at the URL of the result.
            Progress::Done => match self.result(&accepted).await {
                Ok(_) => Ok(Progress::Done),
                Err(EngineError::ContentPolicy { message }) => {
                    Ok(failed("content_policy", &message))
                }
                Err(EngineError::Rejected { message }) => Ok(Progress::Rejected { message }),
                Err(error) => Err(error),
            },
            other => Ok(other),
        }
    }

    async fn fetch(&self, ticket: &Ticket) -> Result<MediaFile, EngineError> {
        let accepted: Accepted = parse(ticket.0.as_bytes())?;
        let address = self.result(&accepted).await?;
        let at = picture::place(&self.submit, &address)?;
        Ok(file::of_answer(at.open_file("").await?, at.timeouts))
    }

    async fn cancel(&self, ticket: &Ticket) -> Result<bool, EngineError> {
        let accepted: Accepted = parse(ticket.0.as_bytes())?;
        fal::at(&self.submit, &accepted.cancel_url)?.put().await;
        Ok(true)
    }
}

impl FalMedia {
    /// The URL of the generated file.
    async fn result(&self, accepted: &Accepted) -> Result<String, EngineError> {
        let result = fal::at(&self.submit, &accepted.response_url)?;
        address(&result.fetch_or_reject("", is_final_failure).await?)
    }
}

/// True if a failed result is final: fal says so itself, or the model's own server failed. Errors
/// of proxies (502, 503, 504) are temporary.
fn is_final_failure(answer: &Answer) -> bool {
    let retryable = answer.headers().get("x-fal-retryable").map(|value| value.as_bytes());
    match (answer.status(), retryable) {
        (500..600, Some(retryable)) => retryable == b"false",
        (500 | 501, None) => true,
        _ => false,
    }
}

fn body(request: &MediaRequest) -> Result<Value, EngineError> {
    match request {
        MediaRequest::Music(request) => music(request),
        MediaRequest::Video(request) => video(request),
    }
}

/// The request body. fal's models name their fields differently; each model ignores unknown ones.
pub(crate) fn video(request: &VideoRequest) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_extras([("enlarging", request.upscale_factor.is_some())])?;
    let text = |it: &Option<String>| it.clone().map(Value::from);
    let fields = [
        ("prompt", Some(request.prompt.as_str().into())),
        ("seed", Some(request.seed.into())),
        ("negative_prompt", text(&request.negative_prompt)),
        // Most models accept fixed lengths, as strings.
        ("duration", request.duration_s.map(|it| it.to_string().into())),
        ("aspect_ratio", text(&request.aspect_ratio)),
        ("resolution", text(&request.resolution)),
        ("generate_audio", request.has_audio.map(Value::from)),
        ("image_url", text(&request.image)),
        ("end_image_url", text(&request.end_image)),
        ("audio_url", text(&request.audio)),
        ("video_url", text(&request.video)),
    ];
    Ok(given(fields))
}

pub(crate) fn music(request: &MusicRequest) -> Result<Value, EngineError> {
    refuse_extras([
        ("a voice", request.voice.is_some()),
        ("a speed", request.speed.is_some()),
        ("a language", request.language.is_some()),
        ("loops", request.is_loop),
        ("lyrics of its own", request.optimizes_lyrics),
    ])?;
    let fields = [
        ("prompt", Some(request.prompt.as_str().into())),
        ("seed", Some(request.seed.into())),
        ("lyrics", request.lyrics.clone().map(Value::from)),
        ("duration", request.duration_s.map(Value::from)),
        ("seconds_total", request.duration_s.map(Value::from)),
        ("instrumental", request.is_instrumental.then_some(true.into())),
        ("output_format", request.format.clone().map(Value::from)),
    ];
    Ok(given(fields))
}

fn given<const COUNT: usize>(fields: [(&str, Option<Value>); COUNT]) -> Value {
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    json!(given.collect::<Map<String, Value>>())
}

#[derive(Deserialize)]
struct Status {
    status: String,
    #[serde(default)]
    queue_position: Value,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    error_type: Option<String>,
}

pub(crate) fn progress(answer: &[u8]) -> Result<Progress, EngineError> {
    let told: Status = parse(answer)?;
    match told.status.as_str() {
        "IN_QUEUE" | "IN_PROGRESS" => Ok(running(&Value::Null, &told.queue_position)),
        "COMPLETED" if told.error.is_none() => Ok(Progress::Done),
        "COMPLETED" | "FAILED" | "CANCELED" => {
            let error = told.error.unwrap_or_default();
            let message = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            let message = if error.is_null() { "" } else { message.as_str() };
            Ok(failed(&told.error_type.unwrap_or_default(), message))
        }
        other => Err(bad_answer(format!("its request is {other:?}"))),
    }
}

fn address(answer: &[u8]) -> Result<String, EngineError> {
    let told: Value = parse(answer)?;
    let places =
        ["/video/url", "/audio/url", "/audio_file/url", "/videos/0/url", "/audios/0/url", "/audio"];
    let found = places.iter().find_map(|at| told.pointer(at)?.as_str());
    found.map(str::to_owned).ok_or_else(|| bad_answer("it made no file"))
}
