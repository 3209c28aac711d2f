//! `GET /x402/transactions/{walletAddress}`: credits and charges of a wallet.

use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::SignedInWallet;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{PathParameters, QueryParameters};
use http_frame::refusal::Refusal;
use http_frame::refusal::x402::WalletReadRefusal;
use http_frame::reply::WithHeaders;
use store::statement::{StatementKind, StatementLine};
use wire::wallets::{
    WalletPagination, WalletPath, WalletTransaction, WalletTransactionKind, WalletTransactions,
    WalletTransactionsQuery, WalletTransactionsReply,
};

use super::require_own_wallet;

const LIMIT_DEFAULT: usize = 50;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/x402/transactions/{walletAddress}", list_wallet_transactions)
        .tag("x402")
        .summary("List top-ups, charges and refunds of the wallet that signed in")
        .limit(LimitClass::WalletTransactions)
        .build()
}

type Asked = (PathParameters<WalletPath>, QueryParameters<WalletTransactionsQuery>);

async fn list_wallet_transactions(
    app: SharedApp,
    call: ApiCall<SignedInWallet, Asked>,
) -> Result<WithHeaders<WalletTransactionsReply>, WalletReadRefusal> {
    let (PathParameters(path), QueryParameters(query)) = &call.input;
    let wallet = require_own_wallet(&call.caller, path)?;
    let (limit, offset) = (query.limit.unwrap_or(LIMIT_DEFAULT), query.offset.unwrap_or(0));
    let owner = call.caller.0.owner.id;
    let statement =
        app.store.read_statement(owner, offset, limit).await.map_err(Refusal::unavailable)?;
    let data = WalletTransactions {
        wallet_address: wallet.to_string(),
        current_balance: statement.balance.as_f64(),
        transactions: statement.lines.into_iter().map(to_wire_transaction).collect(),
        pagination: WalletPagination { limit, offset, has_more: statement.has_more },
    };
    Ok(WithHeaders::new(WalletTransactionsReply { success: true, data }))
}

fn to_wire_transaction(line: StatementLine) -> WalletTransaction {
    WalletTransaction {
        id: format!("ledger_{}", line.entry.0.simple()),
        amount: line.amount.as_f64(),
        balance_after: line.balance_after.as_f64(),
        kind: match line.kind {
            StatementKind::Credit => WalletTransactionKind::TopUp,
            StatementKind::Charge | StatementKind::Lapse => WalletTransactionKind::Charge,
            StatementKind::Refund => WalletTransactionKind::Refund,
        },
        created_at: line.at.to_string(),
        request_id: line.request_id,
        model_id: line.model,
    }
}
