//! `POST /completions`: continues a text, for editors' autocomplete.

mod echo;
mod reply;
mod request;
mod sse_encoder;

use std::sync::Arc;

use domain::catalogue::{ModelSpec, ModelTier, ModelType, ResolvedModel};
use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::event_stream::{EventStreamBody, KEEP_ALIVE, WholeOrStream};
use http_frame::model_headers;
use http_frame::paid_chat::{
    AnswerStart, ChatCandidate, ChatOrder, ExtraCharges, PaidChat, RouteNotes,
};
use http_frame::paid_work::PaidCall;
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::completions::{Completion, CompletionRequest};

use crate::endpoints::completions::echo::PromptEcho;
use crate::endpoints::completions::reply::CompletionHead;
use crate::endpoints::completions::sse_encoder::CompletionSseEncoder;
use crate::endpoints::inference_body::InferenceBody;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/completions", create_completion)
        .tag("Chat")
        .summary("Create a text completion")
        .paid()
        .usual_class(LimitClass::Text(ModelTier::L))
        .build()
}

async fn create_completion(
    app: SharedApp,
    call: ApiCall<PayingCaller, InferenceBody<CompletionRequest>>,
) -> Result<WholeOrStream<Completion>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve_model(&catalogue, &body.model, ModelType::Text)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Text(text) = &model.spec else {
        return Err(Refusal::internal("a model was resolved as a text model and is none"));
    };
    let streams = body.stream == Some(true);
    let asks_usage = body.stream_options.as_ref().and_then(|it| it.include_usage) == Some(true);
    let echo = PromptEcho::from_request(&body);
    let request = request::build_chat_request(body, text)?;
    let engine = app.engines.chat(&model)?;
    let order = ChatOrder {
        prompt_field: "prompt",
        first: ChatCandidate::new(Arc::clone(&model), text, engine, request),
        others: Vec::new(),
        extras: ExtraCharges::default(),
    };
    let work = PaidChat::begin(&call, order)?;
    let request_id = call.request_id.clone();
    let frame =
        CompletionHead { request_id, created: call.now.seconds(), model: model.id.clone(), echo };
    if streams {
        return stream_answer(work, &resolved, CompletionSseEncoder::new(frame, asks_usage)).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let notes = answered.notes.clone();
    let answer = WithHeaders::new(reply::build_completion(&frame, answered));
    let answer = model_headers::write_notes(answer, &notes, None);
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(WholeOrStream::Whole(model_headers::write_model_headers(answer, &resolved)))
}

async fn stream_answer(
    work: PaidChat,
    resolved: &ResolvedModel<'_>,
    sse_encoder: CompletionSseEncoder,
) -> Result<WholeOrStream<Completion>, Refusal> {
    let remaining = work.balance_before();
    let mut flow = work.start_stream();
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let notes = match flow.wait_for_start(KEEP_ALIVE).await? {
        AnswerStart::By(_, notes) => notes,
        AnswerStart::NotYet => RouteNotes::default(),
    };
    let answer = WithHeaders::new(EventStreamBody::new(flow, sse_encoder));
    let answer = model_headers::write_notes(answer, &notes, None);
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(WholeOrStream::Stream(model_headers::write_model_headers(answer, resolved)))
}
