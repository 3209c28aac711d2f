//! `POST /augment/scrape`: returns a web page as Markdown.

use std::sync::Arc;

use ::web::{FetchFault, PAGE_BYTES_MAX, ScrapeFault};
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
use schema_check::ValidationFaults;
use wire::augment::{ScrapeFormat, ScrapeRequest, ScrapeResult};

use crate::endpoints::augment::{build_charge, hold_price};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/augment/scrape", scrape_page)
        .tag("Augment")
        .summary("Convert a web page to Markdown")
        .limit(LimitClass::Augment)
        .refuses(502, "The page could not be reached or rendered, or returned an error")
        .experimental()
        .build()
}

async fn scrape_page(
    app: SharedApp,
    call: ApiCall<PayingCaller, JsonBody<ScrapeRequest>>,
) -> Result<WithHeaders<ScrapeResult>, Refusal> {
    let (call, JsonBody(body)) = PaidCall::from_call(&app, call);
    let address = app.web.scraper.parse(&body.url).map_err(refuse_address)?;
    call.room.take_more(PAGE_BYTES_MAX)?;
    let funds = hold_price(&call, WebWork::Scrape)?;
    let (web, charge) = (Arc::clone(&app.web), build_charge(&call, WebWork::Scrape));
    let caller = call.reader_caller_id();
    let paid = funds.run_or(async move {
        let scraped = web.scraper.scrape(&address, caller).await?;
        Ok(WorkResult { output: scraped.markdown, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "url"))?;
    let paid = paid.map_err(refuse_scrape)?;
    let remaining = payment::balance_remaining(&paid.receipt);
    let result =
        ScrapeResult { url: body.url, content: paid.output, format: ScrapeFormat::Markdown };
    Ok(WithHeaders::new(result).header(payment::BALANCE_REMAINING, remaining))
}

/// A URL that cannot be fetched is a fault of the field `url`; a site that blocks programs is not.
fn refuse_address(fault: ScrapeFault) -> Refusal {
    match fault {
        ScrapeFault::Fetch(fault) => {
            Refusal::invalid_request(&ValidationFaults::one(["url"], fault.to_string()))
        }
        fault => refuse_scrape(fault),
    }
}

/// A wrong URL is the caller's error (400); a failed fetch is not (502).
fn refuse_scrape(fault: ScrapeFault) -> Refusal {
    if fault.is_of_address() {
        return Refusal::bad_request("The page cannot be scraped", fault.to_string());
    }
    match fault {
        ScrapeFault::Busy | ScrapeFault::Fetch(FetchFault::Busy) => {
            Refusal::busy(fault.to_string())
        }
        _ => Refusal::page_failed(fault.to_string()),
    }
}
