//! `GET /crypto/rpc/networks`: lists the chains that can be called.

use rpc::networks::Network;
use wire::crypto::NetworkList;

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Anyone;
use crate::endpoint::{Draft, Endpoint};
use crate::input::Nothing;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/crypto/rpc/networks", list_rpc_networks)
        .tag("Crypto")
        .summary("List the networks of the JSON-RPC proxy")
        .build()
}

/// Lists only networks with nodes, so that each can be called.
async fn list_rpc_networks(
    app: Shared,
    _: Call<Anyone, Nothing>,
) -> Result<WithHeaders<NetworkList>, Refusal> {
    let chains = app.proxy.chains.get();
    let networks = chains.nodes.networks().map(Network::slug).collect();
    Ok(WithHeaders::new(NetworkList { networks }))
}
