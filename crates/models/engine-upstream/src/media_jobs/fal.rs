//! fal's queue, for music and videos.

use engine::{
    EngineError, MediaFile, MediaRequest, MediaStatus, MediaTicket, MusicRequest, VideoRequest,
};
use outbound::UpstreamResponse;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::protocol::MediaProtocol;
use super::{
    classify_failure, file, parse_body, refuse_references, refuse_unsupported, running_status,
};
use crate::fal::{self, FalReceipt};
use crate::picture;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One model of fal.
pub(crate) struct FalMedia {
    /// The URL to which requests for the model are submitted.
    pub(crate) submit: UpstreamEndpoint,
}

impl MediaProtocol for FalMedia {
    const TAKES_ADDRESSES: bool = true;

    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        encode_request(request).map(drop)
    }

    async fn submit(&self, _: &str, request: &MediaRequest) -> Result<MediaTicket, EngineError> {
        let answer =
            self.submit.post_json(encode_request(request)?.to_string().into_bytes()).await?;
        let accepted: FalReceipt = parse_body(&answer)?;
        for address in [&accepted.status_url, &accepted.response_url, &accepted.cancel_url] {
            fal::resolve_endpoint(&self.submit, address)?;
        }
        let ticket = serde_json::to_string(&accepted);
        ticket.map(MediaTicket).map_err(|error| bad_answer(error.to_string()))
    }

    async fn poll_status(&self, ticket: &MediaTicket) -> Result<MediaStatus, EngineError> {
        let accepted: FalReceipt = parse_body(ticket.0.as_bytes())?;
        let status = fal::resolve_endpoint(&self.submit, &accepted.status_url)?;
        let Some(told) = status.get_if_exists("").await? else { return Ok(MediaStatus::Lost) };
        match parse_status(&told)? {
            // The reason of a failure is at the URL of the result.
            MediaStatus::Done => match self.fetch_result_url(&accepted).await {
                Ok(_) => Ok(MediaStatus::Done),
                Err(EngineError::ContentPolicy { message }) => {
                    Ok(classify_failure("content_policy", &message))
                }
                Err(EngineError::Rejected { message }) => Ok(MediaStatus::Rejected { message }),
                Err(error) => Err(error),
            },
            other => Ok(other),
        }
    }

    async fn download(&self, ticket: &MediaTicket) -> Result<MediaFile, EngineError> {
        let accepted: FalReceipt = parse_body(ticket.0.as_bytes())?;
        let address = self.fetch_result_url(&accepted).await?;
        let at = picture::resolve_file_endpoint(&self.submit, &address)?;
        Ok(file::file_from_answer(at.open_file("").await?, at.timeouts))
    }

    async fn cancel(&self, ticket: &MediaTicket) -> Result<bool, EngineError> {
        let accepted: FalReceipt = parse_body(ticket.0.as_bytes())?;
        fal::resolve_endpoint(&self.submit, &accepted.cancel_url)?.put().await;
        Ok(true)
    }
}

impl FalMedia {
    /// The URL of the generated file.
    async fn fetch_result_url(&self, accepted: &FalReceipt) -> Result<String, EngineError> {
        let result = fal::resolve_endpoint(&self.submit, &accepted.response_url)?;
        read_file_url(&result.get_or_reject("", is_final_failure).await?)
    }
}

/// True if a failed result is final: fal says so itself, or the model's own server failed. Errors
/// of proxies (502, 503, 504) are temporary.
fn is_final_failure(answer: &UpstreamResponse) -> bool {
    let retryable = answer.headers().get("x-fal-retryable").map(|value| value.as_bytes());
    match (answer.status(), retryable) {
        (500..600, Some(retryable)) => retryable == b"false",
        (500 | 501, None) => true,
        _ => false,
    }
}

fn encode_request(request: &MediaRequest) -> Result<Value, EngineError> {
    match request {
        MediaRequest::Music(request) => encode_music(request),
        MediaRequest::Video(request) => encode_video(request),
    }
}

/// The request body. fal's models name their fields differently; each model ignores unknown ones.
pub(crate) fn encode_video(request: &VideoRequest) -> Result<Value, EngineError> {
    refuse_references(request)?;
    refuse_unsupported([("enlarging", request.upscale_factor.is_some())])?;
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
    Ok(build_object(fields))
}

pub(crate) fn encode_music(request: &MusicRequest) -> Result<Value, EngineError> {
    refuse_unsupported([
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
    Ok(build_object(fields))
}

fn build_object<const COUNT: usize>(fields: [(&str, Option<Value>); COUNT]) -> Value {
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    json!(given.collect::<Map<String, Value>>())
}

#[derive(Deserialize)]
struct FalJobStatus {
    status: String,
    #[serde(default)]
    queue_position: Value,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    error_type: Option<String>,
}

pub(crate) fn parse_status(answer: &[u8]) -> Result<MediaStatus, EngineError> {
    let told: FalJobStatus = parse_body(answer)?;
    match told.status.as_str() {
        "IN_QUEUE" | "IN_PROGRESS" => Ok(running_status(&Value::Null, &told.queue_position)),
        "COMPLETED" if told.error.is_none() => Ok(MediaStatus::Done),
        "COMPLETED" | "FAILED" | "CANCELED" => {
            let error = told.error.unwrap_or_default();
            let message = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            let message = if error.is_null() { "" } else { message.as_str() };
            Ok(classify_failure(&told.error_type.unwrap_or_default(), message))
        }
        other => Err(bad_answer(format!("its request is {other:?}"))),
    }
}

fn read_file_url(answer: &[u8]) -> Result<String, EngineError> {
    let told: Value = parse_body(answer)?;
    let places =
        ["/video/url", "/audio/url", "/audio_file/url", "/videos/0/url", "/audios/0/url", "/audio"];
    let found = places.iter().find_map(|at| told.pointer(at)?.as_str());
    found.map(str::to_owned).ok_or_else(|| bad_answer("it made no file"))
}
