//! `POST /audio/complete`: deletes the file of a job.

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
    Draft::post("/audio/complete", complete_audio)
        .tag("Audio")
        .summary("Delete a piece of music after it was downloaded")
        .build()
}

async fn complete_audio(
    app: Shared,
    call: Call<Collector, Json<CompleteRequest>>,
) -> Result<WithHeaders<Completed>, Refusal> {
    let (Collector(holder), Json(body)) = (call.caller, call.input);
    let named = Named { kind: JobKind::Music, model: &body.model, queue_id: &body.queue_id };
    let job = collect::find(&app, &holder, named, call.now).await?;
    collect::complete(&app, &job).await
}
