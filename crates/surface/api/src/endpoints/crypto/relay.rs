//! `POST /crypto/rpc/{network}`: forwards JSON-RPC calls to a chain's nodes.

use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{IdempotencyHeader, PathParameters, RawJson};
use http_frame::keyed_work;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use rpc::batch::{BatchRefusal, CallBatch};
use rpc::idempotency::RequestFingerprint;
use rpc::networks::RpcNetwork;
use schema_check::{PathStep, ValidationFaults};
use wire::crypto::{RpcBody, RpcPath};

use crate::endpoints::crypto::limits;
use crate::endpoints::crypto::reply::RpcReply;
use crate::endpoints::crypto::work::RpcWork;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(super::PATH, call_rpc)
        .tag("Crypto")
        .summary("Call a chain's nodes by JSON-RPC, one call or a batch of up to 100")
        .limited_by_handler()
        .usual_class(LimitClass::CryptoRpc)
        .build()
}

type RpcInput = (PathParameters<RpcPath>, (IdempotencyHeader, RawJson<RpcBody>));

async fn call_rpc(
    app: SharedApp,
    call: ApiCall<PayingCaller, RpcInput>,
) -> Result<RpcReply, Refusal> {
    let (call, (PathParameters(path), (IdempotencyHeader(key), RawJson { bytes, .. }))) =
        PaidCall::from_call(&app, call);
    limits::admit_request(&call)?;
    let network = RpcNetwork::parse(&path.network).ok_or_else(|| unknown_network(&path.network))?;
    let batch = CallBatch::parse(network, &bytes).map_err(refuse_batch)?;
    let work = RpcWork { call, batch };
    let fingerprint =
        || RequestFingerprint::of_request("POST", &format!("/crypto/rpc/{network}"), &bytes);
    keyed_work::run_keyed(&app, work, key, fingerprint).await.map(RpcReply)
}

fn unknown_network(slug: &str) -> Refusal {
    let slug: String = slug.chars().take(64).collect();
    let message = format!(
        "Unsupported RPC network: {slug:?}. GET /api/v1/crypto/rpc/networks lists those that are \
         served."
    );
    Refusal::bad_request("Unsupported RPC network", message)
}

/// Every fault of the body with its path, or every unsupported method.
fn refuse_batch(refusal: BatchRefusal) -> Refusal {
    let BatchRefusal::Malformed(found) = refusal else {
        return Refusal::bad_request("Unsupported RPC method", refusal.to_string());
    };
    let mut faults = ValidationFaults::default();
    for fault in found {
        let item = fault.item.map(PathStep::from);
        let path = item.into_iter().chain(fault.field.map(PathStep::from));
        faults.at(path).push(fault.message);
    }
    Refusal::invalid_request(&faults)
}
