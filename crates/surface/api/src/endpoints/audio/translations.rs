//! `POST /audio/translations`: transcribes a recording in English.

use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::MultipartForm;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::reply::transcript::TranscriptReply;
use wire::audio::{TranscriptionRequest, TranslationRequest};

use super::transcriptions::{TranscriptTask, run_transcription};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/translations", create_translation)
        .tag("Audio")
        .summary("Transcribe a recording in English")
        .paid()
        .usual_class(LimitClass::Audio)
        .refuses(
            400,
            "The file is missing, its format is not supported, or the model cannot translate",
        )
        .refuses(502, "The model failed")
        .build()
}

async fn create_translation(
    app: SharedApp,
    call: ApiCall<PayingCaller, MultipartForm<TranslationRequest>>,
) -> Result<TranscriptReply, Refusal> {
    let (call, MultipartForm { fields, files }) = PaidCall::from_call(&app, call);
    let TranslationRequest { file, model, response_format, prompt, temperature } = fields;
    let fields = TranscriptionRequest {
        file,
        model,
        response_format,
        prompt,
        temperature,
        timestamps: None,
        language: None,
        timestamp_granularities: None,
    };
    run_transcription(&call, MultipartForm { fields, files }, TranscriptTask::Translate).await
}
