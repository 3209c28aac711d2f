//! Asks the engine how it is, over its socket.

use std::path::Path;
use std::time::Duration;

use reqwest::Client;
use serde::Deserialize;

use crate::status::{Gpu, LoadedModel};

/// An engine that computes on every core may take a while to say that it lives.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// A list of as many models as fit in no machine.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    models: Vec<AnswerModel>,
    #[serde(default)]
    gpus: Vec<Gpu>,
}

#[derive(Deserialize)]
struct AnswerModel {
    id: String,
    state: String,
    #[serde(default)]
    memory_bytes: Option<u64>,
    #[serde(default)]
    gpu_layers: Option<u32>,
    #[serde(default)]
    layers: Option<u32>,
}

pub(crate) fn client(socket: &Path) -> Result<Client, String> {
    // An error means that somebody installed one before us, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // No root certificates: a socket of this machine has no use for them.
    let builder = Client::builder().unix_socket(socket).tls_certs_only([]);
    let built = builder.timeout(ANSWER_TIMEOUT).build();
    built.map_err(|error| format!("cannot make an HTTP client: {error}"))
}

/// What it has loaded, and the GPUs that it computes on.
pub(crate) struct Report {
    pub(crate) models: Vec<LoadedModel>,
    pub(crate) gpus: Vec<Gpu>,
}

/// None if it does not answer.
pub(crate) async fn ask(client: &Client) -> Option<Report> {
    let mut response = client.get("http://engine/health").send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        if ANSWER_BYTES_MAX < body.len() + piece.len() {
            return None;
        }
        body.extend_from_slice(&piece);
    }
    let answer: Answer = serde_json::from_slice(&body).ok()?;
    let loaded = answer.models.into_iter().filter(|model| model.state == "loaded");
    let loaded = loaded.map(|model| LoadedModel {
        gpu_layers: model.gpu_layers.zip(model.layers),
        id: model.id,
        memory_bytes: model.memory_bytes.unwrap_or(0),
    });
    Some(Report { models: loaded.collect(), gpus: answer.gpus })
}

/// What a process has in memory, where the system tells in a file.
pub(crate) fn memory_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
