//! The folders of the real models, and the runtime shared by all tests.

use std::path::{Path, PathBuf};

use engine_onnx::OnnxRuntime;

const THREADS: usize = 2;

#[track_caller]
pub(crate) fn runtime() -> OnnxRuntime {
    let library = folder("onnxruntime").join("libonnxruntime.so");
    OnnxRuntime::load(&library, THREADS).unwrap()
}

/// The folder of a model, in the layout of `tollgate models pull`.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "only whoever starts the tests knows the folder")]
pub(crate) fn folder(model: &str) -> PathBuf {
    let models = std::env::var("TOLLGATE_TEST_MODELS").unwrap_or_else(|_| {
        panic!("set TOLLGATE_TEST_MODELS to a folder with the models; scripts/test.sh does")
    });
    let folder = Path::new(&models).join(model);
    assert!(folder.is_dir(), "{} is missing; run `tollgate models pull {model}`", folder.display());
    folder
}
