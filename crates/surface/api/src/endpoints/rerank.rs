//! `POST /rerank`: orders documents by their relevance to a query.

mod convert;

use std::sync::Arc;

use domain::catalogue::{CatalogueModel, ModelSpec, ModelType};
use domain::limits::tiers::LimitClass;
use domain::pricing::RerankPrice;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger::{ChargeLine, WorkCharge};
use ledger_core::{AMOUNT_MAX, HoldRange};
use money::PriceUnits;
use store::usage::UsageDetails;
use wire::rerank::{RerankList, RerankRequest};

use self::convert::{RankedDocuments, ReplyHead, ReplyOptions};
use crate::endpoints::inference_body::InferenceBody;

/// The path of the endpoint, below both prefixes of the API.
const PATH: &str = "/rerank";
/// The whole path that Cohere's clients use besides.
pub(crate) const COHERE_PATH: &str = "/v2/rerank";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(PATH, create_rerank)
        .tag("Rerank")
        .summary("Rank documents by their relevance to a query")
        .paid()
        .usual_class(LimitClass::Embedding)
        .build()
}

async fn create_rerank(
    app: SharedApp,
    call: ApiCall<PayingCaller, InferenceBody<RerankRequest>>,
) -> Result<WithHeaders<RerankList>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let resolved = call.resolve_model(&catalogue, &body.model, ModelType::Rerank)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Rerank(spec) = &model.spec else {
        return Err(Refusal::internal("a rerank model without its specification"));
    };
    let engine = app.engines.rerank(&model)?;
    let options = ReplyOptions::from_body(&body);
    let order = convert::build_order(body, spec)?;
    let price = spec.price;
    let most = price.max_cost(order.tokens.most, order.documents).capped(AMOUNT_MAX);
    let funds = call.hold(&model, order.tokens.estimate, HoldRange::Exactly(most))?;
    let (charged, request) = (Arc::clone(&model), Arc::clone(&order.request));
    let (tokens, documents) = (order.tokens, order.documents);
    let paid = funds.run(async move {
        let answer = engine.rerank(request).await?;
        let tokens = tokens.billed_tokens(answer.usage);
        let charge = RerankUnits { tokens, documents }.build_charge(&charged, price);
        Ok(WorkResult { output: RankedDocuments { scores: answer.scores, tokens }, tokens, charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "documents"))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let id = call.request_id.as_str().to_owned();
    let head = ReplyHead { id, model: model.id.clone() };
    let answer = WithHeaders::new(convert::build_reply(head, &order, paid, options));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(model_headers::write_model_headers(answer, &resolved))
}

/// The units of a request that may have a price.
#[derive(Debug, Clone, Copy)]
struct RerankUnits {
    tokens: u64,
    documents: u64,
}

impl RerankUnits {
    fn build_charge(self, model: &CatalogueModel, price: RerankPrice) -> WorkCharge {
        let mut lines = Vec::new();
        if price.counts_tokens() {
            lines.push(ChargeLine {
                sku: format!("{}-rerank-input-mtoken", model.id),
                units: self.tokens,
                rate: price.input,
                per: PriceUnits::Million,
            });
        }
        if price.counts_documents() {
            lines.push(ChargeLine {
                sku: format!("{}-rerank-kdocument", model.id),
                units: self.documents,
                rate: price.document,
                per: PriceUnits::Thousand,
            });
        }
        let details = UsageDetails {
            prompt_tokens: Some(self.tokens),
            completion_tokens: Some(0),
            ..UsageDetails::default()
        };
        WorkCharge { details, ..payment::lines_charge(model, lines) }
    }
}
