//! Refusals of speech and of recordings.

use audio_probe::RecordingReadError;
use axum::http::StatusCode;
use engine::EngineError;

use crate::refusal::Refusal;
use crate::refusal::inference::InferenceFailure;
use crate::request_id::RequestId;

const UNPROCESSABLE: &str = "The audio could not be processed for transcription";
const TRANSCRIPTION_FAILED: &str = "The transcription failed. Please try again later.";
const SPEECH_TIMED_OUT: &str = "The request took too long to complete and was timed-out. Send a \
     shorter text, or set `streaming` to true.";
const TRANSCRIPTION_TIMED_OUT: &str = "The request took too long to complete and was timed-out. \
     Send a shorter recording.";

impl Refusal {
    /// 400 for a file of an unknown format, 422 for a damaged or too long one.
    pub fn unreadable_audio(unreadable: RecordingReadError) -> Refusal {
        let message = format!("{UNPROCESSABLE}: {unreadable}.");
        match unreadable {
            RecordingReadError::Empty | RecordingReadError::UnknownFormat => {
                let code = Some("INVALID_AUDIO_FORMAT");
                let status = StatusCode::BAD_REQUEST;
                Refusal::standard(status, "Invalid audio format", message, code)
            }
            RecordingReadError::Damaged(_) | RecordingReadError::TooLong(_) => {
                Refusal::unprocessable_audio(message)
            }
        }
    }

    /// 422 for a file that exceeds the limits of a reader process.
    pub fn audio_too_complex() -> Refusal {
        Refusal::unprocessable_audio(format!("{UNPROCESSABLE}: measuring it takes too long."))
    }

    fn unprocessable_audio(message: String) -> Refusal {
        let code = Some("ASR_UPSTREAM_VALIDATION_FAILED");
        Refusal::standard(StatusCode::UNPROCESSABLE_ENTITY, "Invalid audio", message, code)
    }
}

/// The refusal of speech before the response has begun.
pub fn refuse_speech(failure: InferenceFailure, streams: bool, request_id: &RequestId) -> Refusal {
    match failure {
        InferenceFailure::Engine(error @ EngineError::BadAnswer { .. }) if streams => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Refusal::standard(status, "Stream error", "Stream error", None).caused_by(error)
        }
        InferenceFailure::Engine(EngineError::Timeout { .. }) => timed_out(SPEECH_TIMED_OUT),
        other => other.into_refusal(request_id, "input"),
    }
}

pub fn refuse_transcription(failure: InferenceFailure, request_id: &RequestId) -> Refusal {
    match failure {
        InferenceFailure::Engine(EngineError::Rejected { message }) => {
            Refusal::unprocessable_audio(format!("{UNPROCESSABLE}: {message}"))
        }
        InferenceFailure::Engine(error @ EngineError::BadAnswer { .. }) => {
            let (status, code) = (StatusCode::BAD_GATEWAY, Some("ASR_UPSTREAM_FAILED"));
            Refusal::standard(status, "Transcription failed", TRANSCRIPTION_FAILED, code)
                .caused_by(error)
        }
        InferenceFailure::Engine(EngineError::Timeout { .. }) => timed_out(TRANSCRIPTION_TIMED_OUT),
        other => other.into_refusal(request_id, "file"),
    }
}

fn timed_out(message: &str) -> Refusal {
    Refusal::standard(StatusCode::GATEWAY_TIMEOUT, "Request timeout", message, None)
}
