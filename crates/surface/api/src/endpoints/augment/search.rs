//! `POST /augment/search`: returns the results of a search engine.

use std::sync::Arc;

use ::web::SearchError;
use domain::limits::tiers::LimitClass;
use wire::augment::{SearchRequest, SearchResult, SearchResults};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::PayingCaller;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::endpoints::augment::{build_charge, hold_price};
use crate::input::JsonBody;
use crate::paid_work::{PaidCall, WorkResult};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;
use crate::web::WebWork;

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
        let message = "Web search is not set up on this server.";
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
