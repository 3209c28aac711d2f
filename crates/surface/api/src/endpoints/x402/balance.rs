//! `GET /x402/balance/{walletAddress}`: the balance of a wallet.

use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::SignedInWallet;
use http_frame::discovery::suggested_top_up;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::payment::can_consume;
use http_frame::refusal::x402::WalletReadRefusal;
use http_frame::reply::WithHeaders;
use money::Nano;
use store::owner::OwnerKind;
use wire::wallets::{WalletBalance, WalletBalanceReply, WalletPath};

use super::require_own_wallet;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/x402/balance/{walletAddress}", get_wallet_balance)
        .tag("x402")
        .summary("Show the balance of the wallet that signed in")
        .limit(LimitClass::WalletBalance)
        .build()
}

async fn get_wallet_balance(
    app: SharedApp,
    call: ApiCall<SignedInWallet, PathParameters<WalletPath>>,
) -> Result<WithHeaders<WalletBalanceReply>, WalletReadRefusal> {
    let PathParameters(path) = &call.input;
    let wallet = require_own_wallet(&call.caller, path)?;
    let owner = &call.caller.0.owner;
    let balances = app.ledger.balances(owner.id);
    let total = balances.total();
    let terms = app.wallets.payments.as_ref().map(|payments| payments.terms());
    let is_linked = owner.kind == OwnerKind::Account;
    let data = WalletBalance {
        wallet_address: wallet.to_string(),
        balance_usd: total.as_f64(),
        can_consume: can_consume(total),
        minimum_top_up_usd: terms.map_or(Nano::ZERO, |terms| terms.minimum.worth()).as_f64(),
        suggested_top_up_usd: terms.map_or(Nano::ZERO, suggested_top_up).as_f64(),
        diem_balance_usd: is_linked.then(|| balances.diem.as_f64()),
    };
    Ok(WithHeaders::new(WalletBalanceReply { success: true, data }))
}
