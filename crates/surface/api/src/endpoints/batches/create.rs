//! `POST /batches`: queues the lines of a file as calls.

use std::collections::BTreeMap;
use std::time::Duration;

use batches::BatchOrder;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::JsonBody;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use http_frame::stored_caller::StoredCaller;
use schema_check::ValidationFaults;
use store::file::FilePurpose;
use wire::batches::{BatchObject, BatchRequest, CompletionWindow};

use super::{refuse_order, to_wire};
use crate::endpoints::files;

const PAIRS_MAX: usize = 16;
const KEY_CHARS_MAX: usize = 64;
const VALUE_CHARS_MAX: usize = 512;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/batches", create_batch)
        .tag("Batches")
        .summary("Start a batch")
        .refuses(404, "There is no such file")
        .build()
}

async fn create_batch(
    app: SharedApp,
    call: ApiCall<PayingCaller, JsonBody<BatchRequest>>,
) -> Result<WithHeaders<BatchObject>, Refusal> {
    let (PayingCaller(holder), JsonBody(body)) = (call.caller, call.input);
    let CompletionWindow::Day = body.completion_window;
    let metadata = body.metadata.as_ref().map(write_metadata).transpose()?;
    let file = files::find_file(&app, &holder, &body.input_file_id).await?;
    if file.purpose != FilePurpose::Batch {
        let mut faults = ValidationFaults::default();
        faults.at(["input_file_id"]).push("The file must have the purpose `batch`");
        return Err(Refusal::invalid_request(&faults));
    }
    let order = BatchOrder {
        owner: holder.owner.id,
        caller: StoredCaller::new(&holder, call.country).to_text(),
        endpoint: body.endpoint.url().to_owned(),
        input_file: file.id,
        metadata,
        keep_output: body.output_expires_after.map(|it| Duration::from_secs(it.seconds)),
    };
    let batch = app.batches.create_batch(order).await.map_err(refuse_order)?;
    Ok(WithHeaders::new(to_wire(batch)))
}

/// The tags as JSON, if they are within their bounds.
fn write_metadata(metadata: &BTreeMap<String, String>) -> Result<String, Refusal> {
    let mut faults = ValidationFaults::default();
    if PAIRS_MAX < metadata.len() {
        faults.at(["metadata"]).push("Must have at most 16 pairs");
    }
    for (key, value) in metadata.iter().take(PAIRS_MAX) {
        if KEY_CHARS_MAX < key.chars().count() {
            faults.at(["metadata"]).push("A key must have at most 64 characters");
        }
        if VALUE_CHARS_MAX < value.chars().count() {
            faults.at(["metadata"]).push("A value must have at most 512 characters");
        }
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    serde_json::to_string(metadata).map_err(Refusal::internal)
}
