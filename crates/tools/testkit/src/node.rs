//! A scripted chain node on the loopback.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use http_frame::proxy::{CurrentChains, RpcChains, RpcProxy};
use moment::Clock;
use rpc::billing::CreditPrice;
use rpc::networks::RpcNetwork;
use rpc::node::{ChainNodes, NodeLimits};
use serde_json::{Value, json};
use store::Store;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Longer than any request of a test needs to arrive.
const ARRIVAL_MAX: Duration = Duration::from_secs(30);

/// Maps the calls of a request to a status and a body.
pub type NodeScript = Box<dyn Fn(&Value) -> (u16, Value) + Send + Sync>;

/// A running node, which stops on drop.
pub struct StubNode {
    pub url: String,
    shared: Arc<NodeState>,
    _serving: AbortOnDropHandle<()>,
}

struct NodeState {
    script: Mutex<Arc<NodeScript>>,
    seen: Mutex<Vec<Value>>,
    /// Each response waits for a permit.
    gate: Semaphore,
}

impl StubNode {
    /// Starts a node that answers every call with its method as the result.
    pub async fn start() -> StubNode {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let script: NodeScript = Box::new(|calls| (200, answer_each_call(calls, build_result)));
        let shared = Arc::new(NodeState {
            script: Mutex::new(Arc::new(script)),
            seen: Mutex::default(),
            gate: Semaphore::new(Semaphore::MAX_PERMITS >> 1),
        });
        let router = Router::new().fallback(answer_request).with_state(Arc::clone(&shared));
        let serving = async move { axum::serve(listener, router).await.unwrap() };
        let serving = AbortOnDropHandle::new(TaskTracker::new().spawn(serving));
        StubNode { url, shared, _serving: serving }
    }

    pub fn set_script(&self, script: impl Fn(&Value) -> (u16, Value) + Send + Sync + 'static) {
        *self.shared.script.lock().unwrap() = Arc::new(Box::new(script));
    }

    /// Received requests, oldest first.
    pub fn received_requests(&self) -> Vec<Value> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Holds back every response until [`StubNode::release_responses`].
    pub fn hold_responses(&self) {
        self.shared.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub fn release_responses(&self) {
        self.shared.gate.add_permits(Semaphore::MAX_PERMITS >> 1);
    }

    /// Waits until this many requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) {
        let all = async {
            while self.received_requests().len() < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(ARRIVAL_MAX, all).await.expect("the requests should have arrived");
    }
}

/// The response to each call of a request, single or batch.
pub fn answer_each_call(calls: &Value, answer: impl Fn(&Value) -> Value) -> Value {
    match calls {
        Value::Array(calls) => Value::Array(calls.iter().map(answer).collect()),
        call => answer(call),
    }
}

/// A response with the method as its result.
pub fn build_result(call: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": call["id"], "result": call["method"]})
}

pub fn build_error(call: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": call["id"], "error": {"code": code, "message": message}})
}

/// The networks of these nodes, at the usual price. A node finds its network in the path.
pub fn build_chains(networks: &[(&str, &[&str])], clock: Arc<dyn Clock>) -> RpcChains {
    let networks = networks.iter().map(|(slug, urls)| {
        let urls = urls.iter().map(|url| format!("{url}{slug}")).collect();
        (RpcNetwork::parse(slug).unwrap(), urls)
    });
    let nodes = ChainNodes::new(networks, NodeLimits::default(), clock).unwrap();
    RpcChains { nodes, price: CreditPrice::DEFAULT }
}

/// A proxy with one node for all networks.
pub(crate) async fn build_proxy(
    node: &StubNode,
    store: &dyn Store,
    clock: Arc<dyn Clock>,
) -> RpcProxy {
    let slugs = ["base-mainnet", "ethereum-mainnet", "starknet-mainnet", "zksync-mainnet"];
    let urls = [node.url.as_str()];
    let networks = slugs.map(|slug| (slug, urls.as_slice()));
    let now = clock.now();
    let chains = Arc::new(CurrentChains::new(build_chains(&networks, clock)));
    RpcProxy::open(chains, store, now).await.unwrap()
}

/// Answers the initial check of the chain id from the path, without recording it.
async fn answer_request(
    State(shared): State<Arc<NodeState>>,
    uri: Uri,
    body: String,
) -> (StatusCode, String) {
    let calls: Value = serde_json::from_str(&body).unwrap();
    if calls["id"] == 0 {
        let network = RpcNetwork::parse(uri.path().trim_start_matches('/')).unwrap();
        let told = json!({"id": 0, "result": format!("{:#x}", network.chain_id())});
        return (StatusCode::OK, told.to_string());
    }
    shared.seen.lock().unwrap().push(calls.clone());
    shared.gate.acquire().await.unwrap().forget();
    let script = Arc::clone(&shared.script.lock().unwrap());
    let (status, body) = script(&calls);
    (StatusCode::from_u16(status).unwrap(), body.to_string())
}
