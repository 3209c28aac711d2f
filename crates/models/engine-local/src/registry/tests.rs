//! Tests of models whose threads end.

use std::sync::mpsc;
use std::thread;

use super::*;
use crate::TextDevice;

fn registry(folder: &Path) -> Arc<ModelRegistry> {
    Arc::new(ModelRegistry::new(&LocalEngineOptions {
        socket: folder.join("engine.sock"),
        models_dir: folder.to_owned(),
        llama_library: None,
        device: TextDevice::Cpu,
        gpu_layers: None,
        cuda_dir: None,
        threads: Some(1),
        idle_unload: None,
        memory_bytes_max: Some(1),
    }))
}

#[test]
fn a_model_whose_thread_has_panicked_is_loaded_again_at_the_next_request() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let (end, ended) = mpsc::channel::<()>();
    let working = thread::spawn(move || ended.recv().unwrap());
    let model = ModelRuntime::Thread(Arc::new(working));
    let cell = registry.touch("m", ModelKind::Text);
    cell.set(ModelHandle { model, memory_bytes: 1 }).unwrap();
    let again = registry.touch("m", ModelKind::Text);
    assert!(Arc::ptr_eq(&cell, &again), "a model that works stays loaded");

    // The thread panics because nobody can end it in order.
    drop(end);
    while !cell.get().unwrap().is_stopped() {
        thread::yield_now();
    }
    let fresh = registry.touch("m", ModelKind::Text);
    assert!(fresh.get().is_none(), "the next request loads it");
    assert!(!Arc::ptr_eq(&cell, &fresh));
    let loading = registry.touch("m", ModelKind::Text);
    assert!(Arc::ptr_eq(&fresh, &loading), "concurrent requests share the load");
}
