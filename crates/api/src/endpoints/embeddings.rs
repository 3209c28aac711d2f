//! `POST /embeddings`: texts in, vectors out.

mod convert;
mod count;
mod job;

use std::sync::Arc;

use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{ModelSpec, ModelType};
use wire::embeddings::{EmbeddingList, EmbeddingRequest, EncodingFormat};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::embeddings::job::Job;
use crate::endpoints::inference_body::InferenceBody;
use crate::endpoints::models::get::refuse_model;
use crate::model_headers;
use crate::outlasting::Outlasting;
use crate::payment;
use crate::purse::{Errand, Purse};
use crate::refusal::Refusal;
use crate::reply::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/embeddings", create_embedding)
        .tag("Embeddings")
        .summary("Turn texts into vectors")
        .limited_by_model()
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "There is no such model; the message names the nearest")
        .refuses(410, "The model was removed and nothing answers in its place")
        .refuses(422, "The content is against the policy of the model's provider")
        .refuses(504, "The model took too long")
        .build()
}

async fn create_embedding(
    app: Shared,
    call: Call<Customer, InferenceBody<EmbeddingRequest>>,
) -> Result<Answer<EmbeddingList>, Refusal> {
    let (Customer(holder), InferenceBody(body)) = (call.caller, call.input);
    let catalogue = app.catalogue.get();
    let resolved = catalogue.resolve(&body.model, ModelType::Embedding, call.now);
    let resolved = resolved.and_then(|it| it.served_in(call.country)).map_err(refuse_model)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Embedding(spec) = &model.spec else {
        return Err(Refusal::internal("an embedding model without its specification"));
    };
    let engine = app.engines.embedding(&model)?;
    let format = body.encoding_format.unwrap_or(EncodingFormat::Float);
    let (request, tokens) = convert::request(body, spec)?;
    let errand = Errand {
        holder: &holder,
        model: &model,
        request_id: &call.request_id,
        standing: &call.standing,
    };
    let most = spec.price.most(tokens.most, 0).capped(AMOUNT_MAX);
    let purse = Purse::open(&app, errand, tokens.estimate, Want::Exactly(most))?;
    let job = Job { purse, model: Arc::clone(&model), price: spec.price.clone(), engine, tokens };
    // The work outlives the connection: a caller who hangs up is charged for what was done.
    let outcome = Outlasting::new(&app.tasks, job.run(request)).await;
    let done = outcome.map_err(|failure| failure.into_refusal(&call.request_id, "input"))?;

    let remaining = payment::balance_remaining(&done.receipt);
    let answer = Answer::new(convert::reply(&model.id, done, format));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(model_headers::write(answer, &resolved))
}
