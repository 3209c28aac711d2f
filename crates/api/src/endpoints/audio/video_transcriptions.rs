//! `POST /video/transcriptions`: transcribes the audio of a video.

use std::sync::Arc;

use credits::Want;
use engine::{FileKind, Times, TranscriptionRequest};
use wire::audio::{VideoTranscript, VideoTranscriptFormat, VideoTranscriptionRequest};

use super::transcriptions::{Chosen, ONE_SECOND, choose, heard, inspect, one_file};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::caller_files;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{FileFields, Form, FormOrJson};
use crate::model_headers;
use crate::paid::{PaidCall, Produced};
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::sound::refuse_transcription;
use crate::reply::WithHeaders;
use crate::reply::written::VideoWritten;

const ACCEPTED: &str = "video/mp4, video/webm, audio/*";

impl FileFields for VideoTranscriptionRequest {
    const REQUIRED_ANY: &'static [&'static str] = &[];
}

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/video/transcriptions", create_video_transcription)
        .tag("Video")
        .summary("Write down what is said in a video")
        .paid()
        .refuses(400, "There is no video, or its sound is none that is known")
        .refuses(502, "The model failed")
        .build()
}

async fn create_video_transcription(
    app: Shared,
    call: Call<Customer, FormOrJson<VideoTranscriptionRequest>>,
) -> Result<VideoWritten, Refusal> {
    let (call, FormOrJson(Form { fields, files })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let Chosen { resolved, engine, price } = choose(&call, &catalogue, fields.model.as_deref())?;
    let file = match &fields.url {
        None => one_file(files, fields.file.is_some())?,
        Some(_) if !files.is_empty() || fields.file.is_some() => {
            return Err(no_video("Send `url` or `file`, not both."));
        }
        Some(url) => {
            // The length is known only after the download: check the price of one second first.
            call.refuse_if_hopeless(resolved.model, price.most(ONE_SECOND))?;
            let caller = call.reads_for();
            let fetched = caller_files::fetch(&app, caller, &call.room, url, ACCEPTED).await?;
            fetched.map_err(|told| no_video(format!("`url`: {told}")))?
        }
    };
    let recording = inspect(&call, &file).await?;

    let funds = call.hold(resolved.model, 0, Want::Exactly(price.most(recording.length)))?;
    let container = recording.container;
    let request = Arc::new(TranscriptionRequest {
        sound: file,
        kind: FileKind { extension: container.extension(), mime: container.mime() },
        language: None,
        hint: None,
        temperature: None,
        times: Times::default(),
    });
    let paid = funds.run(async move {
        let transcript = engine.transcribe(request).await?;
        let charge = price.charge(&transcript, heard(recording.length, transcript.duration_s));
        Ok(Produced { output: transcript, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| refuse_transcription(failure, &call.request_id))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let transcript = paid.output;
    let is_bare = fields.response_format == Some(VideoTranscriptFormat::Text);
    if is_bare {
        let answer =
            WithHeaders::new(transcript.text).header(payment::BALANCE_REMAINING, remaining);
        return Ok(VideoWritten::Text(model_headers::write(answer, &resolved)));
    }
    let told = VideoTranscript { transcript: transcript.text, lang: transcript.language };
    let answer = WithHeaders::new(told).header(payment::BALANCE_REMAINING, remaining);
    Ok(VideoWritten::Json(model_headers::write(answer, &resolved)))
}

fn no_video(message: impl Into<String>) -> Refusal {
    Refusal::bad_request("No video provided", message)
}
