//! Queries the engine's `/health` endpoint over its Unix socket.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use outbound::{ConnectSettings, ConnectVia, OutboundClient, RequestTarget};
use serde::Deserialize;
use tokio::time::timeout;
use url::Url;

use crate::status::{GpuStatus, LoadedModel};

/// Long, because an engine that computes on all cores may respond late.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Far more than the longest list of models that fit into memory.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Longer than the polling interval, so that one connection is reused.
const IDLE_MAX: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct HealthReport {
    #[serde(default)]
    models: Vec<ReportedModel>,
    #[serde(default)]
    gpus: Vec<GpuStatus>,
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

/// A client of the engine's `/health` endpoint.
pub(crate) struct HealthClient {
    client: OutboundClient,
    target: RequestTarget,
}

/// The loaded models and the GPUs in use.
pub(crate) struct EngineHealth {
    pub(crate) models: Vec<LoadedModel>,
    pub(crate) gpus: Vec<GpuStatus>,
}

impl HealthClient {
    pub(crate) fn for_socket(socket: &Path) -> Result<HealthClient, String> {
        let way = ConnectVia::Socket(socket.to_owned());
        let reach = ConnectSettings { way, connect_timeout: ANSWER_TIMEOUT, idle_max: IDLE_MAX };
        let client = OutboundClient::new(reach).map_err(|error| error.to_string())?;
        // The host name is ignored over a Unix socket.
        let url = Url::parse("http://engine/health").map_err(|error| error.to_string())?;
        let target = RequestTarget::new(&client, &url, HeaderMap::new());
        Ok(HealthClient { target: target.map_err(|error| error.to_string())?, client })
    }

    /// Returns the report, or `None` if the engine does not answer.
    pub(crate) async fn fetch_report(&self) -> Option<EngineHealth> {
        let body = timeout(ANSWER_TIMEOUT, self.fetch_body()).await.ok()??;
        let answer: HealthReport = serde_json::from_slice(&body).ok()?;
        let loaded = answer.models.into_iter().filter(|model| model.state == "loaded");
        let loaded = loaded.map(|model| LoadedModel {
            gpu_layers: model.gpu_layers.zip(model.layers),
            id: model.id,
            memory_bytes: model.memory_bytes.unwrap_or(0),
        });
        Some(EngineHealth { models: loaded.collect(), gpus: answer.gpus })
    }

    async fn fetch_body(&self) -> Option<Bytes> {
        let answer = self.client.get(&self.target, "").await.ok()?;
        if !(200..300).contains(&answer.status()) {
            return None;
        }
        answer.read_whole(ANSWER_BYTES_MAX).await.ok()
    }
}

/// The resident memory of a process, from `/proc`; `None` on systems without it.
pub(crate) fn memory_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
