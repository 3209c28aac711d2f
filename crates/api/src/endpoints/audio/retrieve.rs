//! `POST /audio/retrieve`: returns the state of a job, or its file.

use store::job::JobKind;
use wire::audio::RetrieveRequest;

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Collector;
use crate::collect::{self, Named};
use crate::endpoint::{Draft, Endpoint};
use crate::input::Json;
use crate::refusal::content::AudioRefusal;
use crate::reply::media::RetrievedMusic;
use domain::limits::tiers::LimitClass;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/audio/retrieve", retrieve_audio)
        .tag("Audio")
        .summary("Retrieve a piece of music that was queued")
        .limit(LimitClass::AudioRetrieve)
        .build()
}

async fn retrieve_audio(
    app: Shared,
    call: Call<Collector, Json<RetrieveRequest>>,
) -> Result<RetrievedMusic, AudioRefusal> {
    let (Collector(holder), Json(body)) = (call.caller, call.input);
    let named = Named { kind: JobKind::Music, model: &body.model, queue_id: &body.queue_id };
    let job = collect::find(&app, &holder, named, call.now).await?;
    let deletes = body.delete_media_on_completion == Some(true);
    Ok(RetrievedMusic(collect::retrieve(&app, job, deletes).await?))
}
