//! `POST /audio/retrieve`: returns the state of a job, or its file.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::JsonBody;
use http_frame::refusal::content::AudioRefusal;
use http_frame::reply::media::RetrievedMusic;
use store::job::JobKind;
use wire::audio::RetrieveRequest;

use crate::job_retrieval::{self, JobReference};
use domain::limits::tiers::LimitClass;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/retrieve", retrieve_audio)
        .tag("Audio")
        .summary("Get the progress or the result of a music job")
        .limit(LimitClass::AudioRetrieve)
        .build()
}

async fn retrieve_audio(
    app: SharedApp,
    call: ApiCall<JobCollector, JsonBody<RetrieveRequest>>,
) -> Result<RetrievedMusic, AudioRefusal> {
    let (JobCollector(holder), JsonBody(body)) = (call.caller, call.input);
    let named = JobReference { kind: JobKind::Music, model: &body.model, queue_id: &body.queue_id };
    let job = job_retrieval::find_job(&app, &holder, named, call.now).await?;
    let deletes = body.delete_media_on_completion == Some(true);
    Ok(RetrievedMusic(job_retrieval::retrieve_job(&app, job, deletes).await?))
}
