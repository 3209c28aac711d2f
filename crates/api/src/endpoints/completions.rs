//! `POST /completions`: continues a text, for editors' autocomplete.

mod echo;
mod reply;
mod request;
mod sse_encoder;

use std::sync::Arc;

use domain::catalogue::{ModelSpec, ModelType, Resolved, Tier};
use domain::limits::tiers::LimitClass;
use wire::completions::{Completion, CompletionRequest};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::completions::echo::Echo;
use crate::endpoints::completions::reply::Frame;
use crate::endpoints::completions::sse_encoder::CompletionSseEncoder;
use crate::endpoints::inference_body::InferenceBody;
use crate::model_headers;
use crate::paid::PaidCall;
use crate::paid_chat::{Candidate, Extras, Opened, Order, RouteNotes, Work};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;
use crate::reply::sse::{Events, KEEP_ALIVE, WholeOrStream};

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/completions", create_completion)
        .tag("Chat")
        .summary("Continue a text")
        .paid()
        .usually(LimitClass::Text(Tier::L))
        .build()
}

async fn create_completion(
    app: Shared,
    call: Call<Customer, InferenceBody<CompletionRequest>>,
) -> Result<WholeOrStream<Completion>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve(&catalogue, &body.model, ModelType::Text)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Text(text) = &model.spec else {
        return Err(Refusal::internal("a model was resolved as a text model and is none"));
    };
    let streams = body.stream == Some(true);
    let asks_usage = body.stream_options.as_ref().and_then(|it| it.include_usage) == Some(true);
    let echo = Echo::of(&body);
    let request = request::of(body, text)?;
    let engine = app.engines.chat(&model)?;
    let order = Order {
        prompt_field: "prompt",
        first: Candidate::new(Arc::clone(&model), text, engine, request),
        others: Vec::new(),
        extras: Extras::default(),
    };
    let work = Work::begin(&call, order)?;
    let request_id = call.request_id.clone();
    let frame = Frame { request_id, created: call.now.seconds(), model: model.id.clone(), echo };
    if streams {
        return stream(work, &resolved, CompletionSseEncoder::new(frame, asks_usage)).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let notes = answered.notes.clone();
    let answer = WithHeaders::new(reply::whole(&frame, answered));
    let answer = model_headers::write_notes(answer, &notes, None);
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(WholeOrStream::Whole(model_headers::write(answer, &resolved)))
}

async fn stream(
    work: Work,
    resolved: &Resolved<'_>,
    sse_encoder: CompletionSseEncoder,
) -> Result<WholeOrStream<Completion>, Refusal> {
    let remaining = work.balance_before();
    let mut flow = work.stream();
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let notes = match flow.opened(KEEP_ALIVE).await? {
        Opened::By(_, notes) => notes,
        Opened::NotYet => RouteNotes::default(),
    };
    let answer = WithHeaders::new(Events::of(flow, sse_encoder));
    let answer = model_headers::write_notes(answer, &notes, None);
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(WholeOrStream::Stream(model_headers::write(answer, resolved)))
}
