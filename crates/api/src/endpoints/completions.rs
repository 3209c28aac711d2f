//! `POST /completions`: a text goes in, and what comes after it out, for editors' autocomplete.

mod echo;
mod reply;
mod request;
mod teller;

use std::sync::Arc;

use domain::catalogue::{ModelSpec, ModelType, Resolved};
use wire::completions::{Completion, CompletionRequest};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::completions::echo::Echo;
use crate::endpoints::completions::reply::Frame;
use crate::endpoints::completions::teller::CompletionTeller;
use crate::endpoints::inference_body::InferenceBody;
use crate::endpoints::models::get::refuse_model;
use crate::model_headers;
use crate::paid_chat::{Candidate, Order, Work};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::Answer;
use crate::reply::sse::{Events, KEEP_ALIVE, Told};

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/completions", create_completion)
        .tag("Chat")
        .summary("Continue a text")
        .limited_by_model()
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "There is no such model; the message names the nearest")
        .refuses(410, "The model was removed and nothing answers in its place")
        .refuses(422, "The content is against the policy of the model's provider")
        .refuses(504, "The answer took too long")
        .build()
}

async fn create_completion(
    app: Shared,
    call: Call<Customer, InferenceBody<CompletionRequest>>,
) -> Result<Told<Completion>, Refusal> {
    let (Customer(holder), InferenceBody(body)) = (call.caller, call.input);
    let catalogue = app.catalogue.get();
    let resolved = catalogue.resolve(&body.model, ModelType::Text, call.now);
    let resolved = resolved.and_then(|it| it.served_in(call.country)).map_err(refuse_model)?;
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
        holder,
        request_id: call.request_id.clone(),
        prompt_field: "prompt",
        first: Candidate::new(Arc::clone(&model), text, engine, request),
        others: Vec::new(),
    };
    let work = Work::begin(&app, order, &call.standing)?;
    let request_id = call.request_id.clone();
    let frame = Frame { request_id, created: call.now.seconds(), model: model.id.clone(), echo };
    if streams {
        return stream(work, &resolved, CompletionTeller::new(frame, asks_usage)).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let answer = Answer::new(reply::whole(&frame, answered));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Told::Whole(model_headers::write(answer, &resolved)))
}

async fn stream(
    work: Work,
    resolved: &Resolved<'_>,
    teller: CompletionTeller,
) -> Result<Told<Completion>, Refusal> {
    let remaining = work.balance_after_hold();
    let mut flow = work.stream();
    // The status can still tell of a failure until the first keep-alive is due.
    flow.opened(KEEP_ALIVE).await?;
    let answer = Answer::new(Events::of(flow, teller));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Told::Stream(model_headers::write(answer, resolved)))
}
