//! `POST /audio/complete`: deletes the file of a job.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::JsonBody;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use store::job::JobKind;
use wire::audio::{CompleteRequest, Completed};

use crate::job_retrieval::{self, JobReference};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/complete", complete_audio)
        .tag("Audio")
        .summary("Delete the result of a music job")
        .build()
}

async fn complete_audio(
    app: SharedApp,
    call: ApiCall<JobCollector, JsonBody<CompleteRequest>>,
) -> Result<WithHeaders<Completed>, Refusal> {
    let (JobCollector(holder), JsonBody(body)) = (call.caller, call.input);
    let named = JobReference { kind: JobKind::Music, model: &body.model, queue_id: &body.queue_id };
    let job = job_retrieval::find_job(&app, &holder, named, call.now).await?;
    job_retrieval::complete_job(&app, &job).await
}
