//! GPUs: the library's backends for them, and their memory.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use libloading::os::unix;

use crate::bindings::{
    GGML_BACKEND_DEVICE_TYPE_GPU, GGML_BACKEND_DEVICE_TYPE_IGPU, ggml_backend_dev_t,
    ggml_backend_dev_type,
};
use crate::elf;
use crate::library::{LlamaLibrary, error_chain, text_of};

/// Symbols of loaded libraries are visible to those loaded later.
const SHARED: std::ffi::c_int = unix::RTLD_NOW | unix::RTLD_GLOBAL;

/// A backend of the library for one kind of GPU, such as `libggml-cuda.so`.
#[derive(Debug, Clone)]
pub struct GpuBackend {
    pub file: PathBuf,
    /// Dependencies that the system's loader may not find, in order of dependency.
    pub needs: Vec<PathBuf>,
}

/// A GPU that the library can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuDevice {
    /// The library's device name, such as `CUDA0`.
    pub name: String,
    /// The vendor's model name.
    pub model: String,
    pub free_bytes: u64,
    pub total_bytes: u64,
}

impl LlamaLibrary {
    /// Loads a GPU backend. A failed load changes nothing; the message says what is missing.
    #[expect(unsafe_code, reason = "a library is code, and its digest was checked")]
    pub fn load_gpu_backend(&self, part: &GpuBackend) -> Result<(), String> {
        let folder = part.file.parent().unwrap_or(Path::new("."));
        elf::check_whole(&part.file, folder)
            .map_err(|(path, cause)| format!("{} is not whole: {cause}", path.display()))?;
        for file in part.needs.iter().chain([&part.file]) {
            // SAFETY: loading runs the library's own constructors. The backend is loaded here
            // before the library does so itself, because the library would not report the reason of
            // a failure.
            let loaded = unsafe { unix::Library::open(Some(file), SHARED) };
            let loaded = loaded.map_err(|error| error_chain(&error))?;
            // Never unloaded: the library holds pointers into it from now on.
            std::mem::forget(loaded);
        }
        let path = part.file.to_str().and_then(|it| CString::new(it).ok());
        let path = path.ok_or("its path is not text")?;
        // SAFETY: the path is zero-terminated and lives through the call.
        let registered = unsafe { self.functions.ggml_backend_load(path.as_ptr()) };
        if registered.is_null() {
            return Err(format!("llama.cpp refuses {}; the log says why", part.file.display()));
        }
        Ok(())
    }

    /// The GPUs that models run on, with their free memory. Integrated GPUs count only if there are
    /// no others, as in the library.
    pub fn list_gpus(&self) -> Vec<GpuDevice> {
        let separate = self.gpus_of(GGML_BACKEND_DEVICE_TYPE_GPU);
        if separate.is_empty() { self.gpus_of(GGML_BACKEND_DEVICE_TYPE_IGPU) } else { separate }
    }

    #[expect(unsafe_code, reason = "calls into the library")]
    fn gpus_of(&self, wanted: ggml_backend_dev_type) -> Vec<GpuDevice> {
        // SAFETY: takes no arguments.
        let count = unsafe { self.functions.ggml_backend_dev_count() };
        // SAFETY: the indices are below the count that the library returned.
        let devices = (0..count).map(|at| unsafe { self.functions.ggml_backend_dev_get(at) });
        // SAFETY: the devices are the library's own.
        let is_wanted = |device: &ggml_backend_dev_t| unsafe {
            self.functions.ggml_backend_dev_type(*device) == wanted
        };
        devices.filter(is_wanted).map(|device| self.describe_gpu(device)).collect()
    }

    #[expect(unsafe_code, reason = "calls into the library")]
    fn describe_gpu(&self, device: ggml_backend_dev_t) -> GpuDevice {
        let (mut free, mut total) = (0_usize, 0_usize);
        let functions = &self.functions;
        // SAFETY: the device and its strings belong to the library; the two numbers live through
        // the call.
        let (name, model) = unsafe {
            functions.ggml_backend_dev_memory(device, &raw mut free, &raw mut total);
            (
                text_of(functions.ggml_backend_dev_name(device)),
                text_of(functions.ggml_backend_dev_description(device)),
            )
        };
        GpuDevice {
            name: name.unwrap_or_default(),
            model: model.unwrap_or_default(),
            free_bytes: u64::try_from(free).unwrap_or(u64::MAX),
            total_bytes: u64::try_from(total).unwrap_or(u64::MAX),
        }
    }
}
