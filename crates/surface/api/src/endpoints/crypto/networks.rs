//! `GET /crypto/rpc/networks`: lists the chains that can be called.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::NoInput;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use rpc::networks::RpcNetwork;
use wire::crypto::NetworkList;

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
