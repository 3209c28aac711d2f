//! Input for models: web pages, searches and documents. Each request has a fixed price.

pub(crate) mod scrape;
pub(crate) mod search;
pub(crate) mod text_parser;

use credits::Want;
use ledger::Charge;
use store::usage::UsageDetails;

use crate::paid::{HeldFunds, PaidCall};
use crate::refusal::Refusal;
use crate::web::WebWork;

/// Holds the price of one piece of work.
fn hold(call: &PaidCall, work: WebWork) -> Result<HeldFunds, Refusal> {
    call.hold_plain(Want::Exactly(call.app.web.prices.cost(work, 1)))
}

fn charge(call: &PaidCall, work: WebWork) -> Charge {
    Charge {
        lines: vec![call.app.web.prices.line(work, 1)],
        model: work.sku().to_owned(),
        details: UsageDetails::default(),
        notes: "API Augment".to_owned(),
    }
}
