//! `GET /billing/balance`: the account's balances.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::NoInput;
use http_frame::payment::can_consume;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::AllowanceKind;
use wire::billing as wire;

use crate::endpoints::billing::wire_currency;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/billing/balance", get_balance)
        .tag("Billing")
        .summary("Show the balance")
        .experimental()
        .build()
}

async fn get_balance(
    app: SharedApp,
    call: ApiCall<AdminCaller, NoInput>,
) -> Result<WithHeaders<wire::Balance>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let owner = holder.owner.id;
    let balances = app.ledger.balances(owner);
    let currency = app.ledger.next_currency(&holder.payer());
    let body = wire::Balance {
        can_consume: can_consume(balances.total()),
        consumption_currency: currency.map(wire_currency),
        balances: wire::Balances {
            diem: balances.diem.as_f64(),
            usd: balances.usd.as_f64(),
            bundled_credits: balances.bundled.as_f64(),
            earned_credits: 0.0,
            vcu: balances.vcu.as_f64(),
        },
        diem_epoch_allocation: app.ledger.allocation(owner, AllowanceKind::DiemDaily).as_f64(),
    };
    Ok(WithHeaders::new(body))
}
