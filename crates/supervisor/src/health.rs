//! Asks the engine how it is, over its socket.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use outbound::{Client, ConnectVia, Reach, Target};
use serde::Deserialize;
use tokio::time::timeout;
use url::Url;

use crate::status::{Gpu, LoadedModel};

/// An engine that computes on every core may take a while to say that it lives.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// A list of as many models as fit in no machine.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Longer than the time between two questions, so that one connection does.
const IDLE_MAX: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct HealthReport {
    #[serde(default)]
    models: Vec<ReportedModel>,
    #[serde(default)]
    gpus: Vec<Gpu>,
}

#[derive(Deserialize)]
struct ReportedModel {
    id: String,
    state: String,
    #[serde(default)]
    memory_bytes: Option<u64>,
    #[serde(default)]
    gpu_layers: Option<u32>,
    #[serde(default)]
    layers: Option<u32>,
}

/// The engine's `/health`.
pub(crate) struct Health {
    client: Client,
    target: Target,
}

/// What it has loaded, and the GPUs that it computes on.
pub(crate) struct Report {
    pub(crate) models: Vec<LoadedModel>,
    pub(crate) gpus: Vec<Gpu>,
}

impl Health {
    pub(crate) fn at(socket: &Path) -> Result<Health, String> {
        let way = ConnectVia::Socket(socket.to_owned());
        let reach = Reach { way, connect_timeout: ANSWER_TIMEOUT, idle_max: IDLE_MAX };
        let client = Client::new(reach).map_err(|error| error.to_string())?;
        // The host means nothing over a socket.
        let url = Url::parse("http://engine/health").map_err(|error| error.to_string())?;
        let target = Target::new(&client, &url, HeaderMap::new());
        Ok(Health { target: target.map_err(|error| error.to_string())?, client })
    }

    /// None if it does not answer.
    pub(crate) async fn ask(&self) -> Option<Report> {
        let body = timeout(ANSWER_TIMEOUT, self.answer()).await.ok()??;
        let answer: HealthReport = serde_json::from_slice(&body).ok()?;
        let loaded = answer.models.into_iter().filter(|model| model.state == "loaded");
        let loaded = loaded.map(|model| LoadedModel {
            gpu_layers: model.gpu_layers.zip(model.layers),
            id: model.id,
            memory_bytes: model.memory_bytes.unwrap_or(0),
        });
        Some(Report { models: loaded.collect(), gpus: answer.gpus })
    }

    async fn answer(&self) -> Option<Bytes> {
        let answer = self.client.get(&self.target, "").await.ok()?;
        if !(200..300).contains(&answer.status()) {
            return None;
        }
        answer.whole(ANSWER_BYTES_MAX).await.ok()
    }
}

/// What a process has in memory, where the system tells in a file.
pub(crate) fn memory_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
