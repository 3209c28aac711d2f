//! What a model may want to know: pages, searches and documents. One price for each request.

pub(crate) mod scrape;
pub(crate) mod search;
pub(crate) mod text_parser;

use credits::Want;
use ledger::Charge;
use store::usage::UsageDetails;

use crate::paid::{HeldFunds, PaidCall};
use crate::refusal::Refusal;
use crate::web::WebWork;

/// Sets the price of one piece of work aside.
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
