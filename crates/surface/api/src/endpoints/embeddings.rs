//! `POST /embeddings`: turns texts into vectors.

mod convert;
mod count;

use std::sync::Arc;

use domain::catalogue::{ModelSpec, ModelType};
use domain::limits::tiers::LimitClass;
use engine::EngineUsage;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::{AMOUNT_MAX, HoldRange};
use wire::embeddings::{EmbeddingList, EmbeddingRequest, EncodingFormat};

use crate::endpoints::inference_body::InferenceBody;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/embeddings", create_embedding)
        .tag("Embeddings")
        .summary("Create embeddings")
        .paid()
        .usual_class(LimitClass::Embedding)
        .build()
}

async fn create_embedding(
    app: SharedApp,
    call: ApiCall<PayingCaller, InferenceBody<EmbeddingRequest>>,
) -> Result<WithHeaders<EmbeddingList>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve_model(&catalogue, &body.model, ModelType::Embedding)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Embedding(spec) = &model.spec else {
        return Err(Refusal::internal("an embedding model without its specification"));
    };
    let engine = app.engines.embedding(&model)?;
    let format = body.encoding_format.unwrap_or(EncodingFormat::Float);
    let (request, tokens) = convert::build_request(body, spec)?;
    let most = spec.price.max_cost(tokens.most, 0).capped(AMOUNT_MAX);
    let funds = call.hold(&model, tokens.estimate, HoldRange::Exactly(most))?;
    let (charged, price) = (Arc::clone(&model), spec.price.clone());
    let paid = funds.run(async move {
        let answer = engine.embed(request).await?;
        let usage = EngineUsage::from_counts(tokens.billed_tokens(answer.usage), 0);
        let charge = payment::token_charge(&charged, &price, usage);
        Ok(WorkResult { output: (answer.vectors, usage), tokens: usage.total(), charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "input"))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let answer = WithHeaders::new(convert::build_reply(&model.id, paid, format));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(model_headers::write_model_headers(answer, &resolved))
}
