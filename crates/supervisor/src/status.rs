//! The state of the engine: written by the supervisor, read by everything else.

use std::sync::{Arc, PoisonError, RwLock};

/// How the engine is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub state: ProcessState,
    /// How often it had to be started again.
    pub restarts: u64,
    pub models: Vec<LoadedModel>,
    /// Those that it computes on, as far as it has looked.
    pub gpus: Vec<Gpu>,
    /// What its process has in memory, if the system tells.
    pub memory_bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    Starting,
    Up,
    /// It ended, and will be started again.
    Down {
        reason: String,
    },
}

/// A model that the engine has in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedModel {
    pub id: String,
    /// Of the machine's own memory.
    pub memory_bytes: u64,
    /// How many of its layers are computed on GPUs, of how many; none on the processor alone.
    pub gpu_layers: Option<(u32, u32)>,
}

/// A GPU that the engine computes on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Gpu {
    /// The engine's name for it, such as `CUDA0`.
    pub name: String,
    /// The maker's name for it.
    pub model: String,
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// The current status, shared.
#[derive(Debug, Clone)]
pub struct StatusCell(Arc<RwLock<Status>>);

impl Default for StatusCell {
    fn default() -> StatusCell {
        StatusCell(Arc::new(RwLock::new(Status {
            state: ProcessState::Starting,
            restarts: 0,
            models: Vec::new(),
            gpus: Vec::new(),
            memory_bytes: None,
        })))
    }
}

impl StatusCell {
    pub fn get(&self) -> Status {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn is_up(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).state == ProcessState::Up
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Status)) {
        let mut status = self.0.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut status);
        let is_up = status.state == ProcessState::Up;
        metrics::gauge!("engine_up").set(f64::from(u8::from(is_up)));
        metrics::counter!("engine_restarts_total").absolute(status.restarts);
        metrics::gauge!("engine_loaded_models").set(status.models.len() as f64);
        metrics::gauge!("engine_memory_bytes").set(status.memory_bytes.unwrap_or(0) as f64);
        for gpu in &status.gpus {
            let used = gpu.total_bytes.saturating_sub(gpu.free_bytes);
            metrics::gauge!("engine_gpu_used_bytes", "gpu" => gpu.name.clone()).set(used as f64);
            metrics::gauge!("engine_gpu_total_bytes", "gpu" => gpu.name.clone())
                .set(gpu.total_bytes as f64);
        }
    }
}
