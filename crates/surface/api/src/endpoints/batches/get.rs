//! `GET /batches/{batch_id}`: tells how far a batch is.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::batches::{BatchObject, BatchPath};

use super::{find_batch, to_wire};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/batches/{batch_id}", get_batch)
        .tag("Batches")
        .summary("Get a batch")
        .refuses(404, "There is no such batch")
        .build()
}

async fn get_batch(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<BatchPath>>,
) -> Result<WithHeaders<BatchObject>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    Ok(WithHeaders::new(to_wire(find_batch(&app, &holder, &path.batch_id).await?)))
}
