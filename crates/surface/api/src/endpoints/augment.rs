//! Input for models: web pages, searches and documents. Each request has a fixed price.

pub(crate) mod scrape;
pub(crate) mod search;
pub(crate) mod text_parser;

use http_frame::paid_work::{HeldFunds, PaidCall};
use http_frame::refusal::Refusal;
use http_frame::web::WebWork;
use ledger::WorkCharge;
use ledger_core::HoldRange;
use store::usage::UsageDetails;

/// Holds the price of one piece of work.
fn hold_price(call: &PaidCall, work: WebWork) -> Result<HeldFunds, Refusal> {
    call.hold_plain(HoldRange::Exactly(call.app.web.prices.cost(work, 1)))
}

fn build_charge(call: &PaidCall, work: WebWork) -> WorkCharge {
    WorkCharge {
        lines: vec![call.app.web.prices.charge_line(work, 1)],
        model: work.sku().to_owned(),
        details: UsageDetails::default(),
        notes: "API Augment".to_owned(),
    }
}
