//! `POST /batches/{batch_id}/cancel`: ends a batch with what is done.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::batches::{BatchObject, BatchPath};

use super::{find_batch, refuse_order, to_wire};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/batches/{batch_id}/cancel", cancel_batch)
        .tag("Batches")
        .summary("Cancel a batch")
        .refuses(404, "There is no such batch")
        .refuses(409, "The batch has ended")
        .build()
}

async fn cancel_batch(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<BatchPath>>,
) -> Result<WithHeaders<BatchObject>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let batch = find_batch(&app, &holder, &path.batch_id).await?;
    let batch = app.batches.cancel_batch(batch).await.map_err(refuse_order)?;
    Ok(WithHeaders::new(to_wire(batch)))
}
