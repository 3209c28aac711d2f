//! GPUs: the parts of the library that compute on them, and the memory that they have.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use libloading::os::unix;

use crate::bindings::{
    GGML_BACKEND_DEVICE_TYPE_GPU, GGML_BACKEND_DEVICE_TYPE_IGPU, ggml_backend_dev_t,
    ggml_backend_dev_type,
};
use crate::elf;
use crate::library::{Library, in_full, text_of};

/// What is loaded serves whatever is loaded after it.
const SHARED: std::ffi::c_int = unix::RTLD_NOW | unix::RTLD_GLOBAL;

/// A part of the library that computes on GPUs of one kind, such as `libggml-cuda.so`.
#[derive(Debug, Clone)]
pub struct GpuPart {
    pub file: PathBuf,
    /// The libraries that it needs and the system's loader may not find, in the order in which they
    /// need each other.
    pub needs: Vec<PathBuf>,
}

/// A GPU that the library can compute on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// The library's name for it, such as `CUDA0`.
    pub name: String,
    /// The maker's name for it.
    pub model: String,
    pub free_bytes: u64,
    pub total_bytes: u64,
}

impl Library {
    /// Loads a part that computes on GPUs. A part that cannot be loaded changes nothing; the message
    /// says what is missing.
    #[expect(unsafe_code, reason = "a library is code, and its digest was checked")]
    pub fn add(&self, part: &GpuPart) -> Result<(), String> {
        let folder = part.file.parent().unwrap_or(Path::new("."));
        elf::check_whole(&part.file, folder)
            .map_err(|(path, cause)| format!("{} is not whole: {cause}", path.display()))?;
        for file in part.needs.iter().chain([&part.file]) {
            // SAFETY: what runs at loading are the library's own constructors. The part is loaded
            // here before the library does so itself, which would not tell why it cannot.
            let loaded = unsafe { unix::Library::open(Some(file), SHARED) };
            let loaded = loaded.map_err(|error| in_full(&error))?;
            // It stays: the library has pointers into it from now on.
            std::mem::forget(loaded);
        }
        let path = part.file.to_str().and_then(|it| CString::new(it).ok());
        let path = path.ok_or("its path is not text")?;
        // SAFETY: the path ends with a zero and lives through the call.
        let registered = unsafe { self.functions.ggml_backend_load(path.as_ptr()) };
        if registered.is_null() {
            return Err(format!("llama.cpp refuses {}; the log says why", part.file.display()));
        }
        Ok(())
    }

    /// The GPUs that models are computed on, with what is free on them now. Those on the processor's
    /// chip count only where there are no others, as they do for the library.
    pub fn gpus(&self) -> Vec<Gpu> {
        let separate = self.gpus_of(GGML_BACKEND_DEVICE_TYPE_GPU);
        if separate.is_empty() { self.gpus_of(GGML_BACKEND_DEVICE_TYPE_IGPU) } else { separate }
    }

    #[expect(unsafe_code, reason = "calls into the library")]
    fn gpus_of(&self, wanted: ggml_backend_dev_type) -> Vec<Gpu> {
        // SAFETY: takes nothing.
        let count = unsafe { self.functions.ggml_backend_dev_count() };
        // SAFETY: the indices are below the number that the library told.
        let devices = (0..count).map(|at| unsafe { self.functions.ggml_backend_dev_get(at) });
        // SAFETY: the devices are the library's own.
        let is_wanted = |device: &ggml_backend_dev_t| unsafe {
            self.functions.ggml_backend_dev_type(*device) == wanted
        };
        devices.filter(is_wanted).map(|device| self.gpu(device)).collect()
    }

    #[expect(unsafe_code, reason = "calls into the library")]
    fn gpu(&self, device: ggml_backend_dev_t) -> Gpu {
        let (mut free, mut total) = (0_usize, 0_usize);
        let functions = &self.functions;
        // SAFETY: the device is the library's own and so are its texts; the two numbers live through
        // the call.
        let (name, model) = unsafe {
            functions.ggml_backend_dev_memory(device, &raw mut free, &raw mut total);
            (
                text_of(functions.ggml_backend_dev_name(device)),
                text_of(functions.ggml_backend_dev_description(device)),
            )
        };
        Gpu {
            name: name.unwrap_or_default(),
            model: model.unwrap_or_default(),
            free_bytes: u64::try_from(free).unwrap_or(u64::MAX),
            total_bytes: u64::try_from(total).unwrap_or(u64::MAX),
        }
    }
}
