//! The engine's status: written by the supervisor, read by all other parts.

use std::sync::{Arc, PoisonError, RwLock};

/// The engine's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineStatus {
    pub state: ProcessState,
    /// Restarts since this process started.
    pub restarts: u64,
    pub models: Vec<LoadedModel>,
    /// GPUs in use, as last reported by the engine.
    pub gpus: Vec<GpuStatus>,
    /// Resident memory of the engine's process, where the system reports it.
    pub memory_bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    Starting,
    Up,
    /// The process ended and will be restarted.
    Down {
        reason: String,
    },
}

/// A model that the engine has loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedModel {
    pub id: String,
    /// Bytes of main memory, without GPU memory.
    pub memory_bytes: u64,
    /// Layers on GPUs and total layers; `None` if all run on the CPU.
    pub gpu_layers: Option<(u32, u32)>,
}

/// A GPU that the engine uses.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct GpuStatus {
    /// The engine's device name, such as `CUDA0`.
    pub name: String,
    /// The vendor's model name.
    pub model: String,
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// The current status, shared between tasks.
#[derive(Debug, Clone)]
pub struct StatusCell(Arc<RwLock<EngineStatus>>);

impl Default for StatusCell {
    fn default() -> StatusCell {
        StatusCell(Arc::new(RwLock::new(EngineStatus {
            state: ProcessState::Starting,
            restarts: 0,
            models: Vec::new(),
            gpus: Vec::new(),
            memory_bytes: None,
        })))
    }
}

impl StatusCell {
    pub fn get(&self) -> EngineStatus {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn is_up(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).state == ProcessState::Up
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut EngineStatus)) {
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
