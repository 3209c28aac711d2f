//! `POST /augment/scrape`: returns a web page as Markdown.

use std::sync::Arc;

use ::web::{FetchFault, PAGE_BYTES_MAX, ScrapeFault};
use domain::limits::tiers::LimitClass;
use schema_check::Faults;
use wire::augment::{ScrapeFormat, ScrapeRequest, ScrapeResult};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::augment::{charge, hold};
use crate::input::Json;
use crate::paid::{PaidCall, Produced};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;
use crate::web::WebWork;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/augment/scrape", scrape_page)
        .tag("Augment")
        .summary("Turn a web page into Markdown")
        .limit(LimitClass::Augment)
        .refuses(502, "The page could not be reached or built, or answered with an error")
        .experimental()
        .build()
}

async fn scrape_page(
    app: Shared,
    call: Call<Customer, Json<ScrapeRequest>>,
) -> Result<WithHeaders<ScrapeResult>, Refusal> {
    let (call, Json(body)) = PaidCall::of(&app, call);
    let address = app.web.scraper.parse(&body.url).map_err(refuse_address)?;
    call.room.take_more(PAGE_BYTES_MAX)?;
    let funds = hold(&call, WebWork::Scrape)?;
    let (web, charge) = (Arc::clone(&app.web), charge(&call, WebWork::Scrape));
    let caller = call.reads_for();
    let paid = funds.run_or(async move {
        let scraped = web.scraper.scrape(&address, caller).await?;
        Ok(Produced { output: scraped.markdown, tokens: 0, charge })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "url"))?;
    let paid = paid.map_err(refuse)?;
    let remaining = payment::balance_remaining(&paid.receipt);
    let result =
        ScrapeResult { url: body.url, content: paid.output, format: ScrapeFormat::Markdown };
    Ok(WithHeaders::new(result).header(payment::BALANCE_REMAINING, remaining))
}

/// A URL that cannot be fetched is a fault of the field `url`; a site that blocks programs is not.
fn refuse_address(fault: ScrapeFault) -> Refusal {
    match fault {
        ScrapeFault::Fetch(fault) => Refusal::invalid(&Faults::one(["url"], fault.to_string())),
        fault => refuse(fault),
    }
}

/// A wrong URL is the caller's error (400); a failed fetch is not (502).
fn refuse(fault: ScrapeFault) -> Refusal {
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
