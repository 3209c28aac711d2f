//! `POST /video/complete`: deletes the file of a job.

use store::job::JobKind;
use wire::audio::{CompleteRequest, Completed};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Collector;
use crate::collect::{self, Named};
use crate::endpoint::{Draft, Endpoint};
use crate::input::Json;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/video/complete", complete_video)
        .tag("Video")
        .summary("Delete a video after it was downloaded")
        .build()
}

async fn complete_video(
    app: Shared,
    call: Call<Collector, Json<CompleteRequest>>,
) -> Result<WithHeaders<Completed>, Refusal> {
    let (Collector(holder), Json(body)) = (call.caller, call.input);
    let named = Named { kind: JobKind::Video, model: &body.model, queue_id: &body.queue_id };
    let job = collect::find(&app, &holder, named, call.now).await?;
    collect::complete(&app, &job).await
}
