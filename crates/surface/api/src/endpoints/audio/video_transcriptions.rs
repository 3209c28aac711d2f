//! `POST /video/transcriptions`: transcribes the audio of a video.

use std::sync::Arc;

use engine::{FileKind, TimestampOptions, TranscriptionRequest};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{FormOrJson, MultipartForm};
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::refusal::audio::refuse_transcription;
use http_frame::reply::WithHeaders;
use http_frame::reply::transcript::VideoTranscriptReply;
use ledger_core::HoldRange;
use wire::audio::{VideoTranscript, VideoTranscriptFormat, VideoTranscriptionRequest};

use super::transcriptions::{
    ONE_SECOND, TranscriptionModel, choose_model, inspect_recording, measure_billed_length,
    take_one_file,
};
use crate::caller_files;

const ACCEPTED: &str = "video/mp4, video/webm, audio/*";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/video/transcriptions", create_video_transcription)
        .tag("Video")
        .summary("Transcribe the sound of a video")
        .paid()
        .refuses(400, "The video is missing, or the format of its sound is not supported")
        .refuses(502, "The model failed")
        .build()
}

async fn create_video_transcription(
    app: SharedApp,
    call: ApiCall<PayingCaller, FormOrJson<VideoTranscriptionRequest>>,
) -> Result<VideoTranscriptReply, Refusal> {
    let (call, FormOrJson(MultipartForm { fields, files })) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let TranscriptionModel { resolved, engine, price } =
        choose_model(&call, &catalogue, fields.model.as_deref())?;
    let file = match &fields.url {
        None => take_one_file(files, fields.file.is_some())?,
        Some(_) if !files.is_empty() || fields.file.is_some() => {
            return Err(no_video("Send `url` or `file`, not both."));
        }
        Some(url) => {
            // The length is known only after the download: check the price of one second first.
            call.refuse_if_unaffordable(resolved.model, price.max_cost(ONE_SECOND))?;
            let caller = call.reader_caller_id();
            let fetched =
                caller_files::fetch_caller_file(&app, caller, &call.room, url, ACCEPTED).await?;
            fetched.map_err(|told| no_video(format!("`url`: {told}")))?
        }
    };
    let recording = inspect_recording(&call, &file).await?;

    let funds =
        call.hold(resolved.model, 0, HoldRange::Exactly(price.max_cost(recording.length)))?;
    let container = recording.container;
    let request = Arc::new(TranscriptionRequest {
        sound: file,
        kind: FileKind { extension: container.extension(), mime: container.mime() },
        language: None,
        hint: None,
        temperature: None,
        times: TimestampOptions::default(),
    });
    let paid = funds.run(async move {
        let transcript = engine.transcribe(request).await?;
        let charge = price.build_charge(
            &transcript,
            measure_billed_length(recording.length, transcript.duration_s),
        );
        Ok(WorkResult { output: transcript, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_transcription(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let transcript = paid.output;
    let is_bare = fields.response_format == Some(VideoTranscriptFormat::Text);
    if is_bare {
        let answer =
            WithHeaders::new(transcript.text).header(payment::BALANCE_REMAINING, remaining);
        return Ok(VideoTranscriptReply::Text(model_headers::write_model_headers(
            answer, &resolved,
        )));
    }
    let told = VideoTranscript { transcript: transcript.text, lang: transcript.language };
    let answer = WithHeaders::new(told).header(payment::BALANCE_REMAINING, remaining);
    Ok(VideoTranscriptReply::Json(model_headers::write_model_headers(answer, &resolved)))
}

fn no_video(message: impl Into<String>) -> Refusal {
    Refusal::bad_request("No video provided", message)
}
