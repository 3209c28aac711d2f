//! Tests that all data about a caller reach its home.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use access::{CallerCredential, CredentialHolder};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use domain::catalogue::CountryCode;
use domain::limits::tiers::RateLimitTiers;
use ledger_core::OwnerId;
use moment::Timestamp;
use store::owner::{Owner, OwnerKind};
use tower::ServiceExt;
use uuid::Uuid;
use wallet::WalletAddress;

use super::NodeClients;
use super::forwarded_identity::{ForwardedIdentity, ForwardedRequest};
use crate::hosts::HostPolicy;
use crate::input::HostHeader;
use crate::origin::{CallerOrigin, PeerAddress};
use crate::request_id::RequestId;
use crate::settings::{ApiSettings, BrandSettings, StoredResponseSettings};

const PROXY: &str = "10.0.0.1:1";

/// The data of a caller that a node has before it handles the request. All fields are compared: a
/// field that is added here or to [`CallerOrigin`] and is not forwarded fails the test.
#[derive(Debug, PartialEq, Eq)]
struct CallerContext {
    origin: CallerOrigin,
    proved: Option<ForwardedIdentity>,
    request_id: RequestId,
    host: Option<String>,
}

impl CallerContext {
    fn of(parts: &Parts, proved: Option<ForwardedIdentity>) -> CallerContext {
        CallerContext {
            origin: CallerOrigin::from_parts(&settings(), parts),
            proved,
            request_id: RequestId::from_extensions(&parts.extensions),
            host: HostHeader::read_host(&parts.headers, &parts.uri).map(str::to_owned),
        }
    }
}

/// Settings of a node behind a proxy that sends countries.
fn settings() -> ApiSettings {
    ApiSettings {
        public_url: String::new(),
        host_name: String::new(),
        is_trusted_proxy: Arc::new(|address| address.to_string() == "10.0.0.1"),
        country_header: Some("cf-ipcountry".parse().unwrap()),
        tiers: Arc::new(RateLimitTiers::default()),
        blocks_failures: true,
        system_prompt: String::new(),
        hosts: Arc::new(HostPolicy::new(Vec::new(), None)),
        watermark: None,
        brand: BrandSettings::default(),
        takes_wallets: false,
        responses: StoredResponseSettings::default(),
    }
}

fn wallet() -> WalletAddress {
    WalletAddress::parse("0x00000000000000000000000000000000000000aa").unwrap()
}

fn holder() -> CredentialHolder {
    let owner = Owner {
        id: OwnerId(Uuid::nil()),
        kind: OwnerKind::Evm,
        name: wallet().to_string(),
        tier: String::new(),
        created: Timestamp::from_ms(0),
        frozen: None,
    };
    CredentialHolder { proof: CallerCredential::Wallet(wallet()), owner }
}

fn arrived(builder: axum::http::request::Builder, peer: &str) -> Parts {
    let mut request: Request = builder.body(Body::empty()).unwrap();
    let peer: SocketAddr = peer.parse().unwrap();
    request.extensions_mut().insert(PeerAddress(peer));
    request.extensions_mut().insert(RequestId::new("0123456789abcdef".repeat(2)));
    request.into_parts().0
}

/// The context at the first node, and at the home that the request is forwarded to. The home's peer
/// is the first node, which is not a trusted proxy.
async fn at_both_nodes(
    parts: &Parts,
    holder: Option<&CredentialHolder>,
) -> (CallerContext, CallerContext) {
    let nodes = Arc::new(NodeClients::new("secret").unwrap());
    let first = CallerContext::of(parts, holder.map(ForwardedIdentity::from_holder));
    let sent =
        nodes.build_request("http://127.0.0.1:9", parts, first.origin, holder, Body::empty());
    let mut sent = sent.unwrap();
    sent.extensions_mut().insert(PeerAddress("127.0.0.1:5".parse().unwrap()));
    let at_home = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&at_home);
    let routes = Router::new().fallback(move |request: Request| async move {
        let (parts, _) = request.into_parts();
        let proved = parts.extensions.get::<ForwardedRequest>().and_then(|it| it.proved.clone());
        *seen.lock().unwrap() = Some(CallerContext::of(&parts, proved));
    });
    let answer = nodes.guard_router(routes).oneshot(sent).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let at_home = at_home.lock().unwrap().take().unwrap();
    (first, at_home)
}

#[tokio::test]
async fn every_field_of_the_context_is_the_same_at_home() {
    let builder = Request::post("/api/v1/chat/completions")
        .header("host", "api.example.com")
        .header("x-forwarded-for", "6.6.6.6, 1.2.3.4")
        .header("cf-ipcountry", "kp");
    let parts = arrived(builder, PROXY);
    let (first, at_home) = at_both_nodes(&parts, Some(&holder())).await;
    let CallerContext { origin, proved, request_id, host } = &first;
    let CallerOrigin { address, country } = origin;
    assert_eq!(address.to_string(), "1.2.3.4");
    assert_eq!(*country, CountryCode::parse("KP"));
    assert_eq!(*proved, Some(ForwardedIdentity::Wallet(wallet())));
    assert_eq!(request_id.as_str(), "0123456789abcdef".repeat(2));
    assert_eq!(host.as_deref(), Some("api.example.com"));
    assert_eq!(at_home, first);
}

#[tokio::test]
async fn a_caller_over_http_2_keeps_its_host_and_a_stranger_stays_one() {
    let builder = Request::get("https://api.example.com/api/v1/models");
    let parts = arrived(builder, "9.9.9.9:1");
    let (first, at_home) = at_both_nodes(&parts, None).await;
    assert_eq!(first.host.as_deref(), Some("api.example.com"));
    assert_eq!((first.origin.country, &first.proved), (None, &None));
    assert_eq!(at_home, first);
}

/// A caller cannot set its own country by way of another node: only a trusted proxy's header
/// counts.
#[tokio::test]
async fn a_country_that_no_proxy_vouches_for_is_none_at_home_either() {
    let builder = Request::get("/api/v1/models")
        .header("host", "api.example.com")
        .header("x-tollgate-origin", "1.1.1.1 DE")
        .header("cf-ipcountry", "DE");
    let parts = arrived(builder, "9.9.9.9:1");
    let (first, at_home) = at_both_nodes(&parts, None).await;
    assert_eq!(
        (first.origin.address.to_string().as_str(), first.origin.country),
        ("9.9.9.9", None)
    );
    assert_eq!(at_home, first);
}
