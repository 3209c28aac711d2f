//! One request to a chain, from the hold to the charge.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use http_frame::app::AppState;
use http_frame::keyed_work::{self, BuildResponseRow, KeyedAnswer, KeyedWork};
use http_frame::paid_work::PaidCall;
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::HEADERS_USUAL;
use http_frame::settings::ApiSettings;
use ledger::{ChargeLine, HoldRefused, LedgerError, WorkCharge};
use ledger_core::{HoldRange, OwnerId};
use moment::Timestamp;
use money::{Price, PriceUnits, UnitRate};
use rpc::batch::CallBatch;
use rpc::billing::{CreditPrice, charged_credits, most_credits};
use rpc::exchange::BatchReply;
use rpc::node::NodeError;
use rpc::window::CapReached;
use store::error::StoreError;
use store::rpc::SentTransaction;
use store::usage::UsageDetails;
use store::write::{StoreWrite, WriteGroup};

use crate::endpoints::crypto::limits;

// Header names, parsed once instead of for each response.
static CREDITS: HeaderName = HeaderName::from_static("x-service-rpc-credits");
static COST_USD: HeaderName = HeaderName::from_static("x-service-rpc-cost-usd");
/// Number of calls answered from the cache; they cost the same.
static CACHED: HeaderName = HeaderName::from_static("x-service-rpc-cached");

/// A valid batch of calls to be paid for.
pub(crate) struct RpcWork {
    pub(super) call: PaidCall,
    pub(super) batch: CallBatch,
}

/// The reason for a failure; nothing was charged. Shared by all callers that wait for the request.
#[derive(Debug, Clone)]
pub(crate) enum RpcFailure {
    /// The owner has the maximum number of requests in progress.
    Crowded,
    Capped(CapReached),
    Unpaid(HoldRefused),
    Node(NodeError),
    /// The transaction was not sent, because it could not be logged first.
    Unlogged(StoreError),
    /// A node answered, but the charge could not be recorded.
    Unrecorded(LedgerError),
}

/// Continues if the caller disconnects: a node may have acted, and is charged for.
impl KeyedWork for RpcWork {
    fn owner(&self) -> OwnerId {
        self.call.holder.owner.id
    }

    async fn run_work(
        self,
        app: &AppState,
        also: BuildResponseRow,
    ) -> Result<Arc<KeyedAnswer>, keyed_work::KeyedFailure> {
        let done = self.run_batch(app, also).await;
        done.map_err(|failed| {
            keyed_work::KeyedFailure::new(move |settings, now| {
                failed.clone().into_refusal(settings, now)
            })
        })
    }
}

impl RpcWork {
    async fn run_batch(
        self,
        app: &AppState,
        also: BuildResponseRow,
    ) -> Result<Arc<KeyedAnswer>, RpcFailure> {
        let chains = app.proxy.chains.get();
        let network = self.batch.network();
        if !chains.nodes.has_network(network) {
            return Err(RpcFailure::Node(NodeError::NotConfigured(network)));
        }
        let most = most_credits(&self.batch);
        let owner = self.owner();
        let _turn = app.proxy.in_flight.acquire_slot(owner).ok_or(RpcFailure::Crowded)?;
        let reserved = app.proxy.caps.reserve(owner, most, app.clock.now());
        let set_aside = reserved.map_err(RpcFailure::Capped)?;
        let want = HoldRange::Exactly(chains.price.cost(most).into());
        let funds = self.call.try_hold_plain(want).map_err(RpcFailure::Unpaid)?;
        self.log_transactions(app).await.map_err(RpcFailure::Unlogged)?;
        let reply = chains.nodes.send_batch(&self.batch).await.map_err(RpcFailure::Node)?;
        let now = app.clock.now();

        let credits = charged_credits(&self.batch, &reply.outcomes);
        let charge = self.build_charge(credits, chains.price);
        let headers = build_headers(credits, chains.price, reply.cached);
        let mut writes = self.build_hash_writes(&reply);
        let body = Bytes::from(reply.body);
        writes.extend(also(&headers, &body));
        let receipt = funds.pay_with(charge, writes).await.map_err(RpcFailure::Unrecorded)?;
        set_aside.settle(credits, now);
        chains.nodes.count_charged(network, credits);
        if 0 < reply.cached {
            metrics::counter!("rpc_cached_total", "network" => network.slug())
                .increment(reply.cached as u64);
        }
        let balance_remaining = Some(payment::balance_remaining(&receipt));
        Ok(Arc::new(KeyedAnswer { body, headers, balance_remaining }))
    }

    /// Logs transactions before they are sent: owner, time and hash, never the payload.
    async fn log_transactions(&self, app: &AppState) -> Result<(), StoreError> {
        let mut hashes = self
            .batch
            .submitted_transactions()
            .map(|(_, hash)| hash.map(|it| it.to_string()))
            .peekable();
        if hashes.peek().is_none() {
            return Ok(());
        }
        let now = app.clock.now();
        let writes = hashes.map(|hash| self.sent_transaction(hash, now)).collect();
        app.store.commit(WriteGroup { writes }).await
    }

    /// Writes the hashes that only a node could tell, for transactions logged without one.
    fn build_hash_writes(&self, reply: &BatchReply) -> Vec<StoreWrite> {
        let unknown = self.batch.submitted_transactions().filter(|(_, hash)| hash.is_none());
        let hash_of = |position: usize| {
            let announced = reply.announced.iter().find(|(at, _)| *at == position);
            announced.map(|(_, hash)| hash.clone())
        };
        let request_id = self.call.request_id.as_str();
        let named = unknown.filter_map(|(position, _)| hash_of(position));
        named
            .map(|hash| StoreWrite::NameTransaction { request_id: request_id.to_owned(), hash })
            .collect()
    }

    fn sent_transaction(&self, hash: Option<String>, at: Timestamp) -> StoreWrite {
        let network = self.batch.network();
        let (owner, request_id) = (self.owner(), self.call.request_id.as_str());
        tracing::info!(
            rpc.tx_hash = hash.as_deref().unwrap_or("unknown"),
            rpc.network = %network,
            http.request_id = request_id,
            owner = %owner.0,
            "a transaction is sent to {network}"
        );
        StoreWrite::AddSentTransaction(SentTransaction {
            hash,
            network: network.slug().to_owned(),
            request_id: request_id.to_owned(),
            owner,
            at,
        })
    }

    fn build_charge(&self, credits: u32, price: CreditPrice) -> WorkCharge {
        let network = self.batch.network();
        let price = Price::from_nanos(price.cost(1).nanos()).unwrap_or(Price::FREE);
        let units = u64::from(credits);
        let rate = UnitRate::at_par(price);
        let line = ChargeLine { sku: network.sku(), units, rate, per: PriceUnits::One };
        WorkCharge {
            lines: vec![line],
            model: network.slug().to_owned(),
            details: UsageDetails::default(),
            notes: "API Crypto RPC".to_owned(),
        }
    }
}

impl RpcFailure {
    fn into_refusal(self, settings: &ApiSettings, now: Timestamp) -> Refusal {
        match self {
            RpcFailure::Crowded => limits::refuse_too_many_in_flight(),
            RpcFailure::Capped(reached) => limits::refuse_credits(reached, now),
            RpcFailure::Unpaid(refused) => payment::refuse_hold(settings, refused),
            RpcFailure::Node(error) => match error {
                NodeError::NotConfigured(_) | NodeError::Unavailable(_) => {
                    Refusal::nodes_unavailable(error.to_string())
                }
                NodeError::TimedOut(_) | NodeError::Unconfirmed(_) => {
                    Refusal::nodes_failed(error.to_string())
                }
            },
            RpcFailure::Unlogged(error) => Refusal::unavailable(error),
            RpcFailure::Unrecorded(error) => Refusal::unavailable(error),
        }
    }
}

fn build_headers(credits: u32, price: CreditPrice, cached: usize) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(HEADERS_USUAL);
    headers.insert(&CREDITS, credits.into());
    // Rounded for display; the ledger keeps the exact cost.
    if let Ok(cost) = HeaderValue::try_from(price.cost(credits).to_fixed(8).to_string()) {
        headers.insert(&COST_USD, cost);
    }
    if 0 < cached {
        headers.insert(&CACHED, cached.into());
    }
    headers
}
