//! `POST /video/retrieve`: returns the state of a job, or its file.

use store::job::JobKind;
use wire::audio::RetrieveRequest;

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Collector;
use crate::collect::{self, Named};
use crate::endpoint::{Draft, Endpoint};
use crate::input::Json;
use crate::refusal::content::VideoRefusal;
use crate::reply::media::RetrievedVideo;
use domain::limits::tiers::LimitClass;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/video/retrieve", retrieve_video)
        .tag("Video")
        .summary("Retrieve a video that was queued")
        .limit(LimitClass::VideoRetrieve)
        .build()
}

async fn retrieve_video(
    app: Shared,
    call: Call<Collector, Json<RetrieveRequest>>,
) -> Result<RetrievedVideo, VideoRefusal> {
    let (Collector(holder), Json(body)) = (call.caller, call.input);
    let named = Named { kind: JobKind::Video, model: &body.model, queue_id: &body.queue_id };
    let job = collect::find(&app, &holder, named, call.now).await?;
    let deletes = body.delete_media_on_completion == Some(true);
    Ok(RetrievedVideo(collect::retrieve(&app, job, deletes).await?))
}
