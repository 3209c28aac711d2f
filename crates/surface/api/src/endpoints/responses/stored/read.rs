//! Reads, lists and deletes stored responses.

use axum::body::Body;
use axum::http::request::Parts;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::event_stream::WholeOrStream;
use http_frame::input::{
    BodyLimits, HandlerInput, InputRejection, PathParameters, QueryParameters,
};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::OwnerId;
use schemars::SchemaGenerator;
use serde_json::Value;
use store::model_response::{
    ResponseFilter, ResponseRecord, ResponseState, ResponseWrite, SealedResponse,
};
use store::write::WriteGroup;
use wire::conversations::{ItemListQuery, StoredItemList};
use wire::responses::{
    ConversationName, ResponseCharge, ResponseDeleted, ResponseList, ResponseListQuery,
    ResponsePath, ResponseQuery, ResponseStatus, ResponseSummary,
};

use super::items;
use super::seal::ContentKey;
use super::turn::StoredInput;
use crate::endpoints::conversations::names::{
    conversation_name, parse_response_id, refuse_unknown_response, response_name,
};
use crate::endpoints::responses::background::event_reader;
use crate::endpoints::responses::reply::ResponseReply;

const ONE: &str = "/responses/{response_id}";
const PAGE_DEFAULT: u32 = 20;

pub(in crate::endpoints) fn get_endpoint() -> ApiEndpoint {
    EndpointBuilder::get(ONE, get_response)
        .tag("Chat")
        .summary("Get a stored response")
        .refuses(404, "There is no such response")
        .build()
}

pub(in crate::endpoints) fn delete_endpoint() -> ApiEndpoint {
    EndpointBuilder::delete(ONE, delete_response)
        .tag("Chat")
        .summary("Delete a stored response")
        .refuses(404, "There is no such response")
        .build()
}

pub(in crate::endpoints) fn input_items_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/responses/{response_id}/input_items", list_response_input_items)
        .tag("Chat")
        .summary("List the input of a stored response")
        .refuses(404, "There is no such response")
        .build()
}

pub(in crate::endpoints) fn list_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/responses", list_responses)
        .tag("Chat")
        .summary("List the stored responses of the account")
        .refuses(404, "There is no such response")
        .build()
}

async fn get_response(
    app: SharedApp,
    call: ApiCall<JobCollector, (PathParameters<ResponsePath>, QueryParameters<ResponseQuery>)>,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let (PathParameters(path), QueryParameters(query)) = call.input;
    let JobCollector(holder) = call.caller;
    let found = find_response(&app, holder.owner.id, &path.response_id).await?;
    if query.stream == Some(true) {
        if !found.record.is_streamed {
            return Err(Refusal::bad_request(
                "Response has no stream",
                "Only a response created with `background` and `stream` can be streamed.",
            ));
        }
        let events = event_reader::stream_events(&app, &found.record, query.starting_after);
        return Ok(WholeOrStream::Stream(WithHeaders::new(events)));
    }
    let response = open_response(&found)?;
    Ok(WholeOrStream::Whole(WithHeaders::new(ResponseReply::Native(response))))
}

async fn delete_response(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<ResponsePath>>,
) -> Result<WithHeaders<ResponseDeleted>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let owner = holder.owner.id;
    let found = find_response(&app, owner, &path.response_id).await?;
    let id = found.record.id;
    let write = ResponseWrite::Delete { owner, id };
    let deleted = app.store.commit(WriteGroup::from_write(write.into())).await;
    deleted.map_err(Refusal::unavailable)?;
    // One that runs ends, and what it produced is charged.
    app.background.cancel(id);
    app.background.wake();
    let id = response_name(id);
    Ok(WithHeaders::new(ResponseDeleted { id, object: "response", deleted: true }))
}

async fn list_response_input_items(
    app: SharedApp,
    call: ApiCall<JobCollector, (PathParameters<ResponsePath>, QueryParameters<ItemListQuery>)>,
) -> Result<WithHeaders<StoredItemList>, Refusal> {
    let (PathParameters(path), QueryParameters(query)) = call.input;
    let JobCollector(holder) = call.caller;
    let found = find_response(&app, holder.owner.id, &path.response_id).await?;
    let StoredInput { items, .. } = open_input(&found)?;
    let page = items::page_items(items, &query).ok_or_else(|| {
        Refusal::not_found("Item not found", "`after` names no input item of this response.")
    })?;
    Ok(WithHeaders::new(page))
}

/// Refuses requests for a WebSocket: clients that try one on this path take 426 as a request to use
/// HTTP.
#[derive(Debug)]
struct NoWebSocket;

impl HandlerInput for NoWebSocket {
    type Raw = ();

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<(), Refusal> {
        if Refusal::asks_for_web_socket(&parts.headers) {
            return Err(Refusal::no_web_socket());
        }
        Ok(())
    }

    fn check((): ()) -> Result<NoWebSocket, InputRejection> {
        Ok(NoWebSocket)
    }

    fn describe(_: &mut OpenApiOperation, _: &mut SchemaGenerator) {}
}

async fn list_responses(
    app: SharedApp,
    call: ApiCall<JobCollector, (NoWebSocket, QueryParameters<ResponseListQuery>)>,
) -> Result<WithHeaders<ResponseList>, Refusal> {
    let (NoWebSocket, QueryParameters(query)) = call.input;
    let JobCollector(holder) = call.caller;
    let limit = usize::try_from(query.limit.unwrap_or(PAGE_DEFAULT)).unwrap_or_default();
    let before = query.after.as_deref().map(parse_response_id).transpose()?;
    let owner = holder.owner.id;
    let filter = ResponseFilter { owner, before, now: call.now, limit: limit + 1 };
    let mut found = app.store.list_responses(filter).await.map_err(Refusal::unavailable)?;
    let has_more = limit < found.len();
    found.truncate(limit);
    let data: Vec<ResponseSummary> = found.iter().map(summarise_response).collect();
    let (first_id, last_id) =
        (data.first().map(|it| it.id.clone()), data.last().map(|it| it.id.clone()));
    Ok(WithHeaders::new(ResponseList { object: "list", data, first_id, last_id, has_more }))
}

fn summarise_response(record: &ResponseRecord) -> ResponseSummary {
    ResponseSummary {
        id: response_name(record.id),
        object: "response",
        created_at: record.created.seconds(),
        completed_at: record.ended.map(|at| at.seconds()),
        expires_at: record.expires.seconds(),
        model: record.model.clone(),
        status: to_status(record.state),
        background: record.is_background,
        previous_response_id: record.previous.map(response_name),
        conversation: record.conversation.map(|id| ConversationName { id: conversation_name(id) }),
        cost: ResponseCharge { usd: record.cost.usd.as_f64(), diem: record.cost.diem.as_f64() },
    }
}

fn to_status(state: ResponseState) -> ResponseStatus {
    match state {
        ResponseState::Queued => ResponseStatus::Queued,
        ResponseState::InProgress => ResponseStatus::InProgress,
        ResponseState::Completed => ResponseStatus::Completed,
        ResponseState::Incomplete => ResponseStatus::Incomplete,
        ResponseState::Failed => ResponseStatus::Failed,
        ResponseState::Cancelled => ResponseStatus::Cancelled,
    }
}

/// The stored response of an owner; the refusal is the same for unknown, deleted, expired and
/// foreign ones.
pub(in crate::endpoints::responses) async fn find_response(
    app: &AppState,
    owner: OwnerId,
    name: &str,
) -> Result<SealedResponse, Refusal> {
    let id = parse_response_id(name)?;
    let found = app.store.find_response(owner, id).await.map_err(Refusal::unavailable)?;
    let now = app.clock.now();
    let found = found.filter(|it| it.record.state.is_open() || now < it.record.expires);
    found.ok_or_else(|| refuse_unknown_response(name))
}

pub(in crate::endpoints::responses) fn open_input(
    found: &SealedResponse,
) -> Result<StoredInput, Refusal> {
    let record = &found.record;
    let key = record.key.ok_or_else(|| refuse_unknown_response(&response_name(record.id)))?;
    ContentKey(key).open(record.id.0, &found.input)
}

/// The response as its caller sees it: the stored one, or the draft of one that has not ended.
pub(in crate::endpoints::responses) fn open_response(
    found: &SealedResponse,
) -> Result<Value, Refusal> {
    let record = &found.record;
    let input = open_input(found)?;
    let key = record.key.ok_or_else(|| refuse_unknown_response(&response_name(record.id)))?;
    let mut response = match (&found.output, &input.run) {
        (Some(output), _) => ContentKey(key).open(record.id.0, output)?,
        (None, Some(run)) => {
            let mut draft = run.draft.clone();
            let status = serde_json::to_value(to_status(record.state));
            draft["status"] = status.map_err(Refusal::internal)?;
            draft
        }
        (None, None) => return Err(Refusal::internal("a stored response has no output")),
    };
    input.fields.dress_response(record.id, &mut response);
    input.fields.trim_response(&mut response);
    Ok(response)
}
