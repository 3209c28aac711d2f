//! The built-in engine while the service runs: its process is kept up, its models are fetched.

use std::sync::Arc;
use std::time::Duration;

use api::admin::EngineReport;
use background::spawn_loop;
use config::sections::log::Log;
use control::service::Service;
use domain::catalogue::{Model, Selection};
use supervisor::{LogLines, Teller, fetch_all, supervise};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::logging;
use crate::bar::Bars;
use crate::local::Local;

/// The engine has a few seconds of its own to end before it is made to.
const STOP_WAIT: Duration = Duration::from_secs(10);

pub(crate) struct LocalChild {
    local: Local,
    tasks: TaskTracker,
    /// Not the service's own: the engine must outlive the answers that are under way.
    stop: CancellationToken,
}

impl LocalChild {
    pub(crate) fn start(local: Local, service: &Service, log: &Log) -> LocalChild {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let entropy = Arc::clone(&service.entropy);
        let (plan, status) = (local.plan.clone(), local.status.clone());
        spawn_loop(&tasks, &stop, "engine", move |stop| {
            let entropy = Arc::clone(&entropy);
            let dice = Box::new(move || {
                let mut bytes = [0; 8];
                entropy.fill(&mut bytes);
                u64::from_le_bytes(bytes)
            });
            supervise(plan.clone(), status.clone(), dice, stop)
        });
        let catalogue = service.catalogue.get();
        let offered = catalogue.list(Selection::All, service.clock.now());
        let offered: Vec<Model> = offered.map(|model| Model::clone(model)).collect();
        let wanted = local.wanted(&offered);
        let teller: Box<dyn Teller> =
            if logging::is_watched(log) { Box::new(Bars::default()) } else { Box::new(LogLines) };
        tasks.spawn(fetch_all(Arc::clone(&local.puller), wanted, teller, stop.clone()));
        LocalChild { local, tasks, stop }
    }

    pub(crate) fn report(&self) -> EngineReport {
        let local = self.local.clone();
        Arc::new(move || Some(local.report()))
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(STOP_WAIT, self.tasks.wait()).await.is_err() {
            tracing::warn!("the engine had not ended after {} s", STOP_WAIT.as_secs());
        }
    }
}
