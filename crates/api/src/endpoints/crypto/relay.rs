//! `POST /crypto/rpc/{network}`: forwards JSON-RPC calls to a chain's nodes.

use domain::limits::tiers::LimitClass;
use rpc::batch::{Batch, BatchRefusal};
use rpc::idempotency::Fingerprint;
use rpc::networks::Network;
use schema_check::{Faults, PathStep};
use wire::crypto::{RpcBody, RpcPath};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::crypto::limits;
use crate::endpoints::crypto::relayed::Relayed;
use crate::endpoints::crypto::work::Work;
use crate::input::{Idempotency, Path, RawJson};
use crate::keyed;
use crate::paid::PaidCall;
use crate::refusal::Refusal;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post(super::PATH, call_rpc)
        .tag("Crypto")
        .summary("Call a chain's nodes by JSON-RPC, one call or a batch of up to 100")
        .limited_by_itself()
        .usually(LimitClass::CryptoRpc)
        .build()
}

type Sent = (Path<RpcPath>, (Idempotency, RawJson<RpcBody>));

async fn call_rpc(app: Shared, call: Call<Customer, Sent>) -> Result<Relayed, Refusal> {
    let (call, (Path(path), (Idempotency(key), RawJson { bytes, .. }))) = PaidCall::of(&app, call);
    limits::admit(&call)?;
    let network = Network::parse(&path.network).ok_or_else(|| unknown_network(&path.network))?;
    let batch = Batch::parse(network, &bytes).map_err(refuse)?;
    let work = Work { call, batch };
    let fingerprint = || Fingerprint::of("POST", &format!("/crypto/rpc/{network}"), &bytes);
    keyed::run(&app, work, key, fingerprint).await.map(Relayed)
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
fn refuse(refusal: BatchRefusal) -> Refusal {
    let BatchRefusal::Malformed(found) = refusal else {
        return Refusal::bad_request("Unsupported RPC method", refusal.to_string());
    };
    let mut faults = Faults::default();
    for fault in found {
        let item = fault.item.map(PathStep::from);
        let path = item.into_iter().chain(fault.field.map(PathStep::from));
        faults.at(path).push(fault.message);
    }
    Refusal::invalid(&faults)
}
