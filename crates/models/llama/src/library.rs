//! Loads the library's functions, and checks that they match the bindings.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::bindings::{self, Functions};
use crate::{elf, interface, log};

/// The version whose headers the bindings were made from.
pub const VERSION: &str = "0.5.0";

/// A library cannot be unloaded safely, and a second one would share its symbols.
static LOADED: Mutex<Option<&'static LlamaLibrary>> = Mutex::new(None);

/// The initialised library with its devices.
pub struct LlamaLibrary {
    pub(crate) functions: Functions,
    path: PathBuf,
    version: String,
    devices: Vec<String>,
}

/// Errors of loading a library. The message names the file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error("the llama.cpp library {} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} is damaged: {cause}; delete it, and it is downloaded again", path.display())]
    Broken { path: PathBuf, cause: String },
    #[error("cannot load the llama.cpp library {}: {cause}", path.display())]
    Unloadable { path: PathBuf, cause: String },
    #[error(
        "{} is not a llama.cpp library that this program can use (it was made for version \
         {VERSION}): {cause}",
        path.display()
    )]
    Interface { path: PathBuf, cause: String },
    #[error(
        "there is no library for this processor beside {}: llama.cpp looks for libggml-cpu-*.so \
         there", .0.display()
    )]
    NoProcessor(PathBuf),
    #[error("the llama.cpp library {} is loaded already, and a process takes one", .0.display())]
    Another(PathBuf),
}

impl std::fmt::Debug for LlamaLibrary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Library").field("path", &self.path).finish_non_exhaustive()
    }
}

impl LlamaLibrary {
    /// Loads the library, or returns the one that this process has already loaded. Fails if that
    /// one has another path.
    pub fn load(path: &Path) -> Result<&'static LlamaLibrary, LibraryError> {
        // Ignores poisoning: the value is written last.
        let mut loaded = LOADED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(library) = *loaded {
            let is_same = library.path == path;
            return if is_same {
                Ok(library)
            } else {
                Err(LibraryError::Another(library.path.clone()))
            };
        }
        let library: &'static LlamaLibrary = Box::leak(Box::new(LlamaLibrary::open(path)?));
        *loaded = Some(library);
        Ok(library)
    }

    /// The library that this process has loaded, if any.
    pub fn loaded_library() -> Option<&'static LlamaLibrary> {
        *LOADED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The version that the library reports.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The library's devices, such as `CPU`.
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    fn open(path: &Path) -> Result<LlamaLibrary, LibraryError> {
        if !path.is_file() {
            return Err(LibraryError::Missing(path.to_owned()));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        elf::check_whole(path, folder)
            .map_err(|(path, cause)| LibraryError::Broken { path, cause })?;
        let functions = load_functions(path)?;
        let interface = |cause| LibraryError::Interface { path: path.to_owned(), cause };
        let version = read_version(&functions);
        interface::check_layout(&functions).map_err(|cause| {
            interface(format!("it says that it is version {version}, and {cause}"))
        })?;
        // Builds between two releases have a suffix after a dash.
        if version.split('-').next() != Some(VERSION) {
            tracing::warn!(
                "{} is llama.cpp {version}; this program was made for {VERSION}",
                path.display()
            );
        }
        initialise_backends(&functions, folder).map_err(interface)?;
        let devices = list_devices(&functions);
        if !has_processor(&functions) {
            return Err(LibraryError::NoProcessor(path.to_owned()));
        }
        let on = devices.join(", ");
        tracing::info!("loaded llama.cpp {version} from {}: computes on {on}", path.display());
        Ok(LlamaLibrary { functions, path: path.to_owned(), version, devices })
    }
}

#[expect(unsafe_code, reason = "a library is code, and the operator chose it")]
fn load_functions(path: &Path) -> Result<Functions, LibraryError> {
    let unloadable = |error: libloading::Error| LibraryError::Unloadable {
        path: path.to_owned(),
        cause: error_chain(&error),
    };
    // SAFETY: loading runs the library's own constructors. The file's hash was checked, or it is
    // the operator's own, who also controls this program.
    let library = unsafe { libloading::Library::new(path) }.map_err(unloadable)?;
    set_abort_callback(&library);
    // SAFETY: the symbols have the types of the headers if the library is of their version, which
    // `interface::check_layout` verifies before any of them gets more than plain values.
    let functions = unsafe { Functions::from_library(library) };
    functions.map_err(|error| LibraryError::Interface {
        path: path.to_owned(),
        cause: error_chain(&error),
    })
}

/// Sets the abort callback. Without it, an aborting library first starts a debugger on its own
/// process, which takes minutes. Older versions lack the function, and do so only if they find a
/// debugger.
#[expect(unsafe_code, reason = "calls into the library")]
fn set_abort_callback(library: &libloading::Library) {
    type Callback = unsafe extern "C" fn(*const std::ffi::c_char);
    type SetCallback = unsafe extern "C" fn(Option<Callback>) -> Option<Callback>;
    // SAFETY: the function has had this type since it was added, and the callback is a static
    // function.
    unsafe {
        if let Ok(set) = library.get::<SetCallback>(b"ggml_set_abort_callback\0") {
            set(Some(log::on_abort));
        }
    }
}

/// An error with its sources: the system's message names the symbol or the file.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", error_chain(source)),
        None => error.to_string(),
    }
}

#[expect(unsafe_code, reason = "calls into the library")]
fn read_version(functions: &Functions) -> String {
    // SAFETY: takes no arguments and returns a string that lives as long as the library.
    let text = unsafe { functions.llama_version() };
    text_of(text).unwrap_or_default()
}

/// Initialises the library and loads the backends in its directory, of which it selects the best
/// for this CPU.
#[expect(unsafe_code, reason = "calls into the library")]
fn initialise_backends(functions: &Functions, folder: &Path) -> Result<(), String> {
    let folder = folder.to_str().and_then(|it| CString::new(it).ok());
    let folder = folder.ok_or("its folder has a name that is not text")?;
    // SAFETY: the callback is a static function and expects no data; the folder's name is copied.
    unsafe {
        functions.llama_log_set(Some(log::on_log), std::ptr::null_mut());
        functions.ggml_backend_load_all_from_path(folder.as_ptr());
        functions.llama_backend_init();
    }
    Ok(())
}

#[expect(unsafe_code, reason = "calls into the library")]
fn has_processor(functions: &Functions) -> bool {
    // SAFETY: takes a plain number.
    let device =
        unsafe { functions.ggml_backend_dev_by_type(bindings::GGML_BACKEND_DEVICE_TYPE_CPU) };
    !device.is_null()
}

#[expect(unsafe_code, reason = "calls into the library")]
fn list_devices(functions: &Functions) -> Vec<String> {
    // SAFETY: the indices are below the count that the library returned, and the devices and their
    // strings live as long as it does.
    let describe = |index| unsafe {
        let device = functions.ggml_backend_dev_get(index);
        let name = text_of(functions.ggml_backend_dev_name(device)).unwrap_or_default();
        let text = text_of(functions.ggml_backend_dev_description(device)).unwrap_or_default();
        if text.is_empty() || text == name { name } else { format!("{name} ({text})") }
    };
    // SAFETY: takes no arguments.
    let count = unsafe { functions.ggml_backend_dev_count() };
    (0..count).map(describe).collect()
}

/// Copies a string of the library.
#[expect(unsafe_code, reason = "reads the library's memory")]
pub(crate) fn text_of(text: *const std::ffi::c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the library's strings are zero-terminated, and this one is copied before the next
    // call.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
