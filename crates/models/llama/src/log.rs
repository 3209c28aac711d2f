//! Forwards the library's log to `tracing`.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use crate::bindings::{
    GGML_LOG_LEVEL_CONT, GGML_LOG_LEVEL_ERROR, GGML_LOG_LEVEL_INFO, GGML_LOG_LEVEL_WARN,
    ggml_log_level,
};

/// Maximum buffered line; longer ones are split. The library sends lines in fragments.
const LINE_BYTES_MAX: usize = 4096;

static LINE: Mutex<LogLine> =
    Mutex::new(LogLine { level: GGML_LOG_LEVEL_INFO, text: String::new() });

struct LogLine {
    level: ggml_log_level,
    text: String,
}

/// Log callback; the library calls it from any thread.
#[expect(unsafe_code, reason = "the library calls it")]
pub(crate) unsafe extern "C" fn on_log(level: ggml_log_level, text: *const c_char, _: *mut c_void) {
    if text.is_null() {
        return;
    }
    // SAFETY: the library's strings are zero-terminated, and this one lives during the call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if level != GGML_LOG_LEVEL_CONT {
        line.emit();
        line.level = level;
    }
    line.text.push_str(&text);
    if line.text.ends_with('\n') || LINE_BYTES_MAX < line.text.len() {
        line.emit();
    }
}

/// Abort callback; the library calls it before it aborts the process.
#[expect(unsafe_code, reason = "the library calls it")]
pub(crate) unsafe extern "C" fn on_abort(text: *const c_char) {
    if !text.is_null() {
        // SAFETY: as in `on_log`.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        tracing::error!(target: "llama_cpp", "{}", text.trim());
    }
}

impl LogLine {
    fn emit(&mut self) {
        let text = self.text.trim();
        if !text.is_empty() {
            match self.level {
                GGML_LOG_LEVEL_ERROR => tracing::error!(target: "llama_cpp", "{text}"),
                GGML_LOG_LEVEL_WARN => tracing::warn!(target: "llama_cpp", "{text}"),
                GGML_LOG_LEVEL_INFO => tracing::info!(target: "llama_cpp", "{text}"),
                _ => tracing::debug!(target: "llama_cpp", "{text}"),
            }
        }
        self.text.clear();
    }
}
