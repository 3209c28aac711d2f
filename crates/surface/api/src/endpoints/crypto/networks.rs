//! `GET /crypto/rpc/networks`: lists the chains that can be called.

use rpc::networks::RpcNetwork;
use wire::crypto::NetworkList;

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::AnyCaller;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::input::NoInput;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/crypto/rpc/networks", list_rpc_networks)
        .tag("Crypto")
        .summary("List the networks of the JSON-RPC proxy")
        .build()
}

/// Lists only networks with nodes, so that each can be called.
async fn list_rpc_networks(
    app: SharedApp,
    _: ApiCall<AnyCaller, NoInput>,
) -> Result<WithHeaders<NetworkList>, Refusal> {
    let chains = app.proxy.chains.get();
    let networks = chains.nodes.networks().map(RpcNetwork::slug).collect();
    Ok(WithHeaders::new(NetworkList { networks }))
}
