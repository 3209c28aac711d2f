//! Background responses: queued with the hold that pays for them, run without a connection, and
//! ended in the transaction that charges for them (ADR 62).

pub(in crate::endpoints) mod cancel;
pub(in crate::endpoints) mod event_reader;
mod failure;
mod lease;
mod live_output;
mod run;
mod sealed_events;
pub mod worker;

use http_frame::app::SharedApp;
use http_frame::event_stream::WholeOrStream;
use http_frame::paid_work::PaidCall;
use http_frame::paid_work::call_funds::{CallFunds, QuoteCell};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use http_frame::stored_caller::StoredCaller;
use ledger::{HoldRefused, LedgerError, LedgerJob};
use ledger_core::HoldId;
use serde_json::{Value, json};
use std::time::Duration;
use store::model_response::{ResponseRecord, ResponseState, ResponseWrite, SealedResponse};
use wire::responses::ResponseStatus;

use self::sealed_events::seal_events;
use super::answer_request;
use super::body::ResponseBody;
use super::reply::{ResponseHead, ResponseReply};
use super::stored::seal::ContentKey;
use super::stored::turn::{DialogueTurn, StoredInput, StoredRun, TurnContext};
use super::tool_table::CallNames;
use super::tools::ResponseEcho;

/// Retry delay for a caller with too many unfinished responses.
const FULL_QUEUE_WAIT: Duration = Duration::from_secs(30);

/// Checks a request as if it were answered now, holds its money in the store, and queues it.
pub(super) async fn queue_turn(
    app: &SharedApp,
    mut call: PaidCall,
    body: ResponseBody,
    turn: DialogueTurn,
    context: TurnContext,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let owner = turn.owner;
    refuse_if_queue_full(app, &turn).await?;
    let draft = build_draft(&call, &turn, &body)?;
    let quote = QuoteCell::default();
    call.terms.funds = CallFunds::Quote(quote.clone());
    let expanded = ResponseBody::from_expanded(turn.build_request(context, false), body.is_codex)?;
    let outcome = answer_request(app, &call, expanded).await;
    let Some(want) = quote.take() else {
        return match outcome {
            Err(refusal) => Err(refusal),
            Ok(_) => Err(Refusal::internal("a quote was answered")),
        };
    };
    let (app_parts, streams) = (app.entropy.as_ref(), turn.fields.streams);
    let key = ContentKey::generate(app_parts);
    let record = turn.build_record(app, key, ResponseState::Queued, body.request.model.clone());
    let id = record.id;
    let run = StoredRun {
        caller: StoredCaller::new(&call.holder, call.country).to_text(),
        headers: call.session.headers.to_pairs(),
        body: turn.body.clone(),
        draft,
    };
    let input = StoredInput { items: turn.items, fields: turn.fields, run: Some(run) };
    let first_events = first_events(&input, &record)?;
    let sealed = key.seal(id.0, &input, app_parts)?;
    let record = ResponseRecord { bytes: sealed.bytes, ..record };
    let stored = SealedResponse { record: record.clone(), input: sealed.sealed, output: None };
    let mut writes = vec![ResponseWrite::Add(stored).into()];
    if streams {
        let events = seal_events(key, id, 0, &first_events, app_parts)?;
        writes.push(ResponseWrite::AddEvents { id, fence: 0, events }.into());
    }
    let job = LedgerJob { hold: HoldId(id.0), payer: call.holder.payer() };
    let held = app.ledger.hold_job(job, want, writes).await;
    held.map_err(|error| refuse_queueing(app, error))?;
    app.background.wake();
    if streams {
        let events = event_reader::stream_events(app, &record, None);
        return Ok(WholeOrStream::Stream(WithHeaders::new(events)));
    }
    let found = app.store.find_response(owner, id).await.map_err(Refusal::unavailable)?;
    let found = found.ok_or_else(|| Refusal::internal("a queued response is gone"))?;
    let response = super::stored::read::open_response(&found)?;
    Ok(WholeOrStream::Whole(WithHeaders::new(ResponseReply::Native(response))))
}

async fn refuse_if_queue_full(app: &SharedApp, turn: &DialogueTurn) -> Result<(), Refusal> {
    let most = app.settings.responses.open_per_account_max;
    let open = app.store.open_responses(turn.owner).await.map_err(Refusal::unavailable)?;
    if open < most as u64 {
        return Ok(());
    }
    let message = format!(
        "{most} background responses of this account have not ended, and no more are taken. Wait \
         for some to end, or cancel them."
    );
    Err(Refusal::rate_limited(message, FULL_QUEUE_WAIT))
}

/// The response before it has begun.
fn build_draft(
    call: &PaidCall,
    turn: &DialogueTurn,
    body: &ResponseBody,
) -> Result<Value, Refusal> {
    let request = &body.request;
    let tools = request.tools.as_deref().unwrap_or_default();
    let echo =
        ResponseEcho::build(tools, request.tool_choice.as_ref(), request.parallel_tool_calls);
    let head = ResponseHead {
        request_id: call.request_id.clone(),
        created: turn.created.seconds(),
        mcp_start: Vec::new(),
        model: request.model.clone(),
        echo,
        strips_thoughts: false,
        call_names: CallNames::default(),
        sealer: None,
        streams_summary: false,
        lists_sources: false,
        query: None,
        sources: std::sync::Arc::default(),
    };
    let response = head.build_response(ResponseStatus::Queued, Vec::new());
    serde_json::to_value(response).map_err(Refusal::internal)
}

/// The events that tell a client the id of its response before it runs.
fn first_events(input: &StoredInput, record: &ResponseRecord) -> Result<Vec<Value>, Refusal> {
    let run = input.run.as_ref();
    let mut response =
        run.map(|run| run.draft.clone()).ok_or_else(|| Refusal::internal("nothing to run"))?;
    input.fields.dress_response(record.id, &mut response);
    let event = |kind: &str, number: u64| json!({ "type": kind, "sequence_number": number, "response": response });
    Ok(vec![event("response.created", 0), event("response.queued", 1)])
}

fn refuse_queueing(app: &SharedApp, error: LedgerError) -> Refusal {
    match error {
        LedgerError::Rejected(rejection) => {
            payment::refuse_hold(&app.settings, HoldRefused::Rejected(rejection))
        }
        LedgerError::Unavailable => payment::refuse_hold(&app.settings, HoldRefused::Unavailable),
        error => Refusal::unavailable(error),
    }
}
