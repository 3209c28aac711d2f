//! The two listeners: the API for callers, and health and metrics for the operator.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api::admin::EngineReport;
use api::console::ConsoleApp;
use background::spawn_loop;
use config::sections::server::ServerConfig;
use http_frame::transport::connection_limits::ConnectionLimits;
use http_frame::transport::server::{BoundedListener, serve_listener};
use http_frame::transport::timeouts::ConnectionTimeouts;
use lanes::LanePool;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::housekeeping;
use crate::failure::CommandError;

/// From a cached response to a long generation.
const SECONDS_BUCKETS: &[f64] =
    &[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0];

pub(crate) struct ServiceListeners {
    /// The actual address of the API, if port 0 was configured.
    pub(crate) api_address: SocketAddr,
    api: TcpListener,
    admin: TcpListener,
    /// The number of connections of each address.
    addresses: Arc<ConnectionLimits>,
    timeouts: ConnectionTimeouts,
    /// Time for responses in progress to complete after the stop.
    grace: Duration,
}

impl ServiceListeners {
    pub(crate) async fn bind(server: &ServerConfig) -> Result<ServiceListeners, CommandError> {
        let api = bind_listener("listen", server.listen).await?;
        let admin = bind_listener("admin_listen", server.admin_listen).await?;
        let (grace, proxies) = (server.shutdown_grace, server.trusted_proxies.clone());
        let addresses = ConnectionLimits::new(
            server.connections_per_address,
            Arc::new(move |address| proxies.iter().any(|range| range.contains(address))),
        );
        let timeouts = ConnectionTimeouts {
            header: server.header_timeout,
            idle: server.idle_timeout,
            send: server.send_timeout,
        };
        Ok(ServiceListeners {
            api_address: api.local_addr()?,
            api,
            admin,
            addresses,
            timeouts,
            grace,
        })
    }

    /// Starts serving both listeners until `stop`. The API runs in the lanes; the admin listener
    /// runs beside them, so that it answers however busy the lanes are.
    pub(crate) fn serve(
        self,
        served: ConsoleApp,
        engine: EngineReport,
        lanes: Arc<LanePool>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<(), CommandError> {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS_BUCKETS);
        let metrics = builder.and_then(PrometheusBuilder::install_recorder).map_err(|error| {
            CommandError::Failed(format!("cannot start the metrics recorder: {error}"))
        })?;
        tracing::info!("health and metrics on http://{}", self.admin.local_addr()?);
        let counted = metrics.clone();
        spawn_loop(tasks, stop, "metrics", move |stop| {
            housekeeping::count_metrics(counted.clone(), stop)
        });
        let render = Arc::new(move || {
            metrics.run_upkeep();
            metrics.render()
        });
        let admin = api::admin::build_router(Arc::clone(&served.app), render, engine);
        let listeners = [
            (
                self.admin,
                ConnectionLimits::unbounded(),
                admin,
                Arc::new(LanePool::on_current_runtime()),
            ),
            (self.api, self.addresses, api::build_router(served), lanes),
        ];
        for (listener, addresses, router, lanes) in listeners {
            let listening = BoundedListener { listener, addresses, timeouts: self.timeouts };
            tasks.spawn(serve_listener(
                listening,
                router,
                lanes,
                tasks.clone(),
                stop.clone(),
                self.grace,
            ));
        }
        Ok(())
    }
}

async fn bind_listener(key: &str, address: SocketAddr) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).await.map_err(|error| {
        let flag = key.replace('_', "-");
        CommandError::Failed(format!(
            "cannot listen on {address}: {error}; stop what uses it, or choose another address \
             with --{flag} or `{key}` in [server]"
        ))
    })
}
