//! `POST /augment/search`: returns the results of a search engine.

use std::sync::Arc;

use ::web::SearchError;
use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::JsonBody;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use http_frame::web::WebWork;
use wire::augment::{SearchRequest, SearchResult, SearchResults};

use crate::endpoints::augment::{build_charge, hold_price};

const RESULTS_DEFAULT: u8 = 10;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/augment/search", search_web)
        .tag("Augment")
        .summary("Search the web")
        .limit(LimitClass::Augment)
        .experimental()
        .build()
}

async fn search_web(
    app: SharedApp,
    call: ApiCall<PayingCaller, JsonBody<SearchRequest>>,
) -> Result<WithHeaders<SearchResults>, Refusal> {
    let (call, JsonBody(body)) = PaidCall::from_call(&app, call);
    if app.web.searcher.is_none() {
        let message = "Web search is not configured on this service.";
        return Err(Refusal::bad_request("No web search", message));
    }
    let funds = hold_price(&call, WebWork::Search)?;
    let (web, charge) = (Arc::clone(&app.web), build_charge(&call, WebWork::Search));
    let (query, limit) = (body.query.clone(), body.limit.unwrap_or(RESULTS_DEFAULT));
    let paid = funds.run_or(async move {
        let Some(searcher) = &web.searcher else {
            return Err(SearchError::Unreachable("none is set up".to_owned()));
        };
        let found = searcher.search(&query, usize::from(limit)).await?;
        Ok(WorkResult { output: found, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "query"))?;
    let paid = paid.map_err(Refusal::unavailable)?;
    let remaining = payment::balance_remaining(&paid.receipt);
    let results = paid.output.into_iter().map(|found| SearchResult {
        title: found.title,
        url: found.url,
        content: found.content,
        date: found.date,
    });
    let results = SearchResults { query: body.query, results: results.collect() };
    Ok(WithHeaders::new(results).header(payment::BALANCE_REMAINING, remaining))
}
