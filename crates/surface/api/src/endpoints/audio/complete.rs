//! `POST /audio/complete`: deletes the file of a job.

use store::job::JobKind;
use wire::audio::{CompleteRequest, Completed};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::JobCollector;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::input::JsonBody;
use crate::job_retrieval::{self, JobReference};
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/audio/complete", complete_audio)
        .tag("Audio")
        .summary("Delete a piece of music after it was downloaded")
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
