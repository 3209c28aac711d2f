//! `POST /embeddings`: turns texts into vectors.

mod convert;
mod count;

use std::sync::Arc;

use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{ModelSpec, ModelType};
use domain::limits::tiers::LimitClass;
use engine::Usage;
use wire::embeddings::{EmbeddingList, EmbeddingRequest, EncodingFormat};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::inference_body::InferenceBody;
use crate::model_headers;
use crate::paid::{PaidCall, Produced};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/embeddings", create_embedding)
        .tag("Embeddings")
        .summary("Turn texts into vectors")
        .paid()
        .usually(LimitClass::Embedding)
        .build()
}

async fn create_embedding(
    app: Shared,
    call: Call<Customer, InferenceBody<EmbeddingRequest>>,
) -> Result<WithHeaders<EmbeddingList>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve(&catalogue, &body.model, ModelType::Embedding)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Embedding(spec) = &model.spec else {
        return Err(Refusal::internal("an embedding model without its specification"));
    };
    let engine = app.engines.embedding(&model)?;
    let format = body.encoding_format.unwrap_or(EncodingFormat::Float);
    let (request, tokens) = convert::request(body, spec)?;
    let most = spec.price.most(tokens.most, 0).capped(AMOUNT_MAX);
    let funds = call.hold(&model, tokens.estimate, Want::Exactly(most))?;
    let (charged, price) = (Arc::clone(&model), spec.price.clone());
    let paid = funds.run(async move {
        let answer = engine.embed(request).await?;
        let usage = Usage::of(tokens.billed(answer.usage), 0);
        let charge = payment::token_charge(&charged, &price, usage);
        Ok(Produced { output: (answer.vectors, usage), tokens: usage.total(), charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "input"))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let answer = WithHeaders::new(convert::reply(&model.id, paid, format));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(model_headers::write(answer, &resolved))
}
