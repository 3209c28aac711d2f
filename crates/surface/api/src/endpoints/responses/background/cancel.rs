//! `POST /responses/{response_id}/cancel`: ends a background response. What it produced is charged.

use std::time::Duration;

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use store::model_response::ResponseWrite;
use store::write::WriteGroup;
use tokio::time::{Instant, sleep, timeout};
use wire::responses::ResponsePath;

use super::worker;
use crate::endpoints::responses::reply::ResponseReply;
use crate::endpoints::responses::stored::read;

/// Time that the end of a run is waited for. After that the response is still in progress, and
/// ends by itself.
const WAIT_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(250);

pub(in crate::endpoints) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/responses/{response_id}/cancel", cancel_response)
        .tag("Chat")
        .summary("Cancel a background response")
        .refuses(404, "There is no such response")
        .build()
}

async fn cancel_response(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<ResponsePath>>,
) -> Result<WithHeaders<ResponseReply>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let owner = holder.owner.id;
    let found = read::find_response(&app, owner, &path.response_id).await?;
    if !found.record.is_background {
        return Err(Refusal::bad_request(
            "Response cannot be cancelled",
            "Only a response created with `background: true` can be cancelled.",
        ));
    }
    let id = found.record.id;
    let begun = Instant::now();
    let mut found = found;
    if found.record.state.is_open() {
        let write = ResponseWrite::WantCancel(id);
        let wanted = app.store.commit(WriteGroup::from_write(write.into())).await;
        wanted.map_err(Refusal::unavailable)?;
        app.background.cancel(id);
        // One that no worker has is ended here, whatever else its account runs.
        worker::end_waiting(&app, &found.record).await;
    }
    while found.record.state.is_open() && begun.elapsed() < WAIT_MAX {
        let steps = app.background.watch(id);
        found = read::find_response(&app, owner, &path.response_id).await?;
        if !found.record.state.is_open() {
            break;
        }
        match steps {
            Some(mut steps) => {
                let _ = timeout(LOOK_EVERY, steps.changed()).await;
            }
            None => sleep(LOOK_EVERY).await,
        }
    }
    Ok(WithHeaders::new(ResponseReply::Native(read::open_response(&found)?)))
}
