//! `GET /batches`: lists the caller's batches, newest first.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::batches::{BatchList, BatchListQuery};
use wire::files::ListKind;

use super::{parse_id, refuse_unknown, to_wire};

const LIMIT_DEFAULT: usize = 20;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/batches", list_batches)
        .tag("Batches")
        .summary("List batches")
        .refuses(404, "There is no such batch to list from")
        .build()
}

async fn list_batches(
    app: SharedApp,
    call: ApiCall<JobCollector, QueryParameters<BatchListQuery>>,
) -> Result<WithHeaders<BatchList>, Refusal> {
    let (JobCollector(holder), QueryParameters(query)) = (call.caller, call.input);
    let after = query.after.as_deref();
    let after = after.map(|id| parse_id(id).ok_or_else(|| refuse_unknown(id))).transpose()?;
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    let found = app.batches.list_batches(holder.owner.id, after, limit + 1).await;
    let found = found.map_err(Refusal::unavailable)?;
    let has_more = limit < found.len();
    let data: Vec<_> = found.into_iter().take(limit).map(to_wire).collect();
    Ok(WithHeaders::new(BatchList {
        object: ListKind::List,
        first_id: data.first().map(|batch| batch.id.clone()),
        last_id: data.last().map(|batch| batch.id.clone()),
        has_more,
        data,
    }))
}
