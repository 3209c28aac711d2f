//! A response whose model calls tools of MCP servers: streamed, or gathered from the same stream.

use http_frame::event_stream::{EventStreamBody, KEEP_ALIVE, SseEncoder, WholeOrStream};
use http_frame::model_headers;
use http_frame::paid_chat::{AnswerPart, AnswerStart, AnswerStream, PaidChat, RouteNotes};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::responses::Response;

use super::AnswerNotes;
use super::reply::{ResponseHead, ResponseReply};
use super::sse_encoder::ResponseSseEncoder;
use crate::endpoints::mcp_tools::runner::McpRunner;
use crate::endpoints::model_candidates::ModelCandidates;
use crate::endpoints::web_context;

/// The tools of a response, and its form.
pub(super) struct McpAnswer {
    pub(super) runner: McpRunner,
    /// The caller's bound on all turns.
    pub(super) answer_max: Option<u64>,
    pub(super) streams: bool,
}

/// A response that has ended.
struct GatheredResponse {
    response: Response,
    notes: RouteNotes,
    /// None for a response that failed.
    remaining: Option<String>,
}

pub(super) async fn answer_with_tools(
    work: PaidChat,
    candidates: &ModelCandidates<'_>,
    frame: ResponseHead,
    tools: McpAnswer,
    told: AnswerNotes,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let McpAnswer { runner, answer_max, streams } = tools;
    let remaining = work.balance_before();
    let mut flow = work.start_with_tools(Box::new(runner), answer_max);
    if !streams {
        let gathered = gather_response(flow, frame).await?;
        let model = candidates.first.clone();
        let GatheredResponse { response, notes, remaining } = gathered;
        let reply = WithHeaders::new(ResponseReply::Own(Box::new(response)));
        let reply = model_headers::write_notes(reply, &notes, told.left_out.as_deref());
        let reply = match remaining {
            Some(remaining) => reply.header(payment::BALANCE_REMAINING, remaining),
            None => reply,
        };
        let reply = web_context::add_search_header(reply, told.web_note);
        return Ok(WholeOrStream::Whole(model_headers::write_model_headers(reply, &model)));
    }
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let (model, notes) = match flow.wait_for_start(KEEP_ALIVE).await? {
        AnswerStart::By(model, notes) => (candidates.find_answering_model(&model), notes),
        AnswerStart::NotYet => (candidates.first.clone(), RouteNotes::default()),
    };
    let frame = ResponseHead { model: model.model.id.clone(), ..frame };
    let encoder = ResponseSseEncoder::new(frame, false);
    let answer = WithHeaders::new(EventStreamBody::new(flow, encoder));
    let answer = model_headers::write_notes(answer, &notes, told.left_out.as_deref());
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::add_search_header(answer, told.web_note);
    Ok(WholeOrStream::Stream(model_headers::write_model_headers(answer, &model)))
}

/// Waits for the end of a response. A caller that disconnects drops the flow, which ends it after
/// the current step. A failure before any output is a refusal; later it is told in the response.
async fn gather_response(
    mut flow: AnswerStream,
    frame: ResponseHead,
) -> Result<GatheredResponse, Refusal> {
    let mut encoder = ResponseSseEncoder::new(frame, false);
    let mut notes = RouteNotes::default();
    let mut events = Vec::new();
    loop {
        events.clear();
        match flow.next().await {
            AnswerPart::Done(settled) => {
                let remaining = Some(payment::balance_remaining(&settled.receipt));
                let response = encoder.encode_end(&settled, &mut events);
                return Ok(GatheredResponse { response, notes, remaining });
            }
            AnswerPart::Failed(failure) if !encoder.has_output() => {
                return Err(flow.to_refusal(failure));
            }
            AnswerPart::Failed(failure) => {
                let response = encoder.encode_failure(failure, &mut events);
                return Ok(GatheredResponse { response, notes, remaining: None });
            }
            part => {
                if let AnswerPart::Opened(_, told) = &part {
                    notes = told.clone();
                }
                encoder.encode(part, &mut events);
            }
        }
    }
}
