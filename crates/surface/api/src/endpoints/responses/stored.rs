//! Responses that are stored or continue something stored: the turn is expanded to a plain request,
//! which is answered like any other, and what is kept is written before the last event is sent.

pub(in crate::endpoints) mod bounds;
pub(in crate::endpoints) mod event_split;
pub(in crate::endpoints) mod items;
pub(in crate::endpoints) mod read;
pub(in crate::endpoints) mod seal;
pub(in crate::endpoints) mod turn;

use std::sync::Arc;

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_frame::app::SharedApp;
use http_frame::event_stream::{EventStreamBody, WholeOrStream, push_json};
use http_frame::paid_work::PaidCall;
use http_frame::paid_work::call_funds::ChargedCell;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use logging::request::with_current_request_id;
use serde_json::Value;
use store::model_response::ResponseState;
use store::write::WriteGroup;

use self::event_split::{EventSplitter, SplitEvent};
use self::turn::{DialogueTurn, TurnContext};
use super::body::ResponseBody;
use super::reply::ResponseReply;
use super::{answer_request, background};

/// Answers a request that keeps or continues something. Goes on if its caller disconnects before a
/// whole answer: it is paid for, so it is kept.
pub(super) async fn answer_turn(
    app: &SharedApp,
    call: PaidCall,
    body: ResponseBody,
    source: Value,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let owner = call.holder.owner.id;
    let (turn, context) = DialogueTurn::open(app, owner, source, &body.request).await?;
    call.room.take_more(context.bytes)?;
    if turn.fields.background {
        return background::queue_turn(app, call, body, turn, context).await;
    }
    let task = run_turn(Arc::clone(app), call, turn, context, body.is_codex);
    let task = app.tasks.spawn(with_current_request_id(task));
    task.await.map_err(Refusal::internal)?
}

async fn run_turn(
    app: SharedApp,
    call: PaidCall,
    turn: DialogueTurn,
    context: TurnContext,
    is_codex: bool,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let expanded = turn.build_request(context, turn.fields.streams);
    let body = ResponseBody::from_expanded(expanded, is_codex)?;
    let charged = call.terms.charged.clone();
    let kept = KeptTurn { app: Arc::clone(&app), turn: Some(turn), charged };
    match answer_request(&app, &call, body).await? {
        WholeOrStream::Whole(answer) => kept.keep_whole(answer).await,
        WholeOrStream::Stream(answer) => {
            let WithHeaders { body, headers } = answer;
            let body = kept.watch_stream(body.into_body().into_data_stream());
            let body = EventStreamBody::from_body(body);
            Ok(WholeOrStream::Stream(WithHeaders { body, headers }))
        }
    }
}

/// A turn that is kept once its response has ended.
struct KeptTurn {
    app: SharedApp,
    /// None once it was kept.
    turn: Option<DialogueTurn>,
    charged: ChargedCell,
}

/// A stream of events on its way to the caller.
struct WatchedStream {
    kept: KeptTurn,
    source: BodyDataStream,
    splitter: EventSplitter,
}

impl KeptTurn {
    async fn keep_whole(
        mut self,
        answer: WithHeaders<ResponseReply>,
    ) -> Result<WholeOrStream<ResponseReply>, Refusal> {
        let WithHeaders { body, headers } = answer;
        let mut response = serde_json::to_value(&body).map_err(Refusal::internal)?;
        self.keep(&mut response).await;
        let body = ResponseReply::Native(response);
        Ok(WholeOrStream::Whole(WithHeaders { body, headers }))
    }

    /// Stores a response that has ended, and dresses it for its caller. A response that failed is
    /// not kept. One that cannot be stored says so: it was paid for, so it is returned.
    async fn keep(&mut self, response: &mut Value) {
        let Some(turn) = self.turn.take() else { return };
        let mut fields = turn.fields.clone();
        fields.dress_response(turn.id, response);
        let id = turn.id;
        let is_kept = match turn::read_state(response) {
            ResponseState::Completed | ResponseState::Incomplete => {
                self.write(turn, response).await
            }
            _ => false,
        };
        if !is_kept {
            (fields.store, fields.conversation) = (false, None);
            fields.dress_response(id, response);
        }
        fields.trim_response(response);
    }

    async fn write(&self, turn: DialogueTurn, response: &Value) -> bool {
        let id = turn.id;
        let receipt = self.charged.get();
        let writes = match turn.build_writes(&self.app, response, receipt.as_ref()) {
            Ok(writes) => writes,
            Err(refusal) => {
                tracing::error!(response = %id.0, ?refusal, "a response was not stored");
                return false;
            }
        };
        match self.app.store.commit(WriteGroup { writes }).await {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(response = %id.0, %error, "a response was not stored: {error}");
                false
            }
        }
    }

    fn watch_stream(self, source: BodyDataStream) -> Body {
        let watched = WatchedStream { kept: self, source, splitter: EventSplitter::default() };
        Body::from_stream(stream::unfold(watched, async |mut watched| {
            let sent = watched.next_events().await?;
            Some((sent, watched))
        }))
    }

    /// One event for the caller.
    async fn pass_event(&mut self, event: SplitEvent, events: &mut Vec<u8>) {
        let parsed = event.data.as_deref().map(serde_json::from_str::<Value>);
        let Some(Ok(mut data)) = parsed else {
            events.extend_from_slice(&event.raw);
            return;
        };
        let kind = data["type"].as_str().unwrap_or_default().to_owned();
        let is_end = matches!(
            kind.as_str(),
            "response.completed" | "response.incomplete" | "response.failed"
        );
        match &self.turn {
            Some(turn) => match data.get_mut("response") {
                Some(response) if is_end => self.keep(response).await,
                Some(response) => {
                    turn.fields.dress_response(turn.id, response);
                    turn.fields.trim_response(response);
                }
                None => {
                    if let Some(item) = data.get_mut("item") {
                        turn.fields.trim_item(item);
                    } else {
                        events.extend_from_slice(&event.raw);
                        return;
                    }
                }
            },
            None => {
                events.extend_from_slice(&event.raw);
                return;
            }
        }
        events.extend_from_slice(format!("event: {kind}\n").as_bytes());
        push_json(events, &data);
    }
}

impl WatchedStream {
    /// The next events for the caller; None at the end.
    async fn next_events(&mut self) -> Option<Result<Bytes, axum::Error>> {
        loop {
            let bytes = match self.source.next().await? {
                Ok(bytes) => bytes,
                Err(error) => return Some(Err(error)),
            };
            let mut events = Vec::new();
            for event in self.splitter.push(&bytes) {
                self.kept.pass_event(event, &mut events).await;
            }
            if !events.is_empty() {
                return Some(Ok(events.into()));
            }
        }
    }
}
