//! The console: pages embedded in the binary, and the routes that they call.
//!
//! A page calls the same API as other clients. Its session replaces the key, and only with a header
//! that pages of other origins cannot send, so that the cookie alone is not enough.

mod account;
mod activity;
pub mod assets;
mod operator;
mod pages;
pub mod routes;
mod sign_in;
mod small_body;
mod static_files;
mod top_up;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRef;
use futures_util::future::BoxFuture;
use http_frame::app::SharedApp;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::console::assets::ConsoleAssets;
use crate::console::static_files::StaticFiles;

/// Lifetime of a session.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Concurrent searches of activity; others wait.
const SEARCHES_AT_ONCE: usize = 2;

/// Runs an operator's command, in the format of the control socket.
pub type RunOperation = Arc<
    dyn Fn(OperatorKey, Value) -> BoxFuture<'static, Result<Value, OperateError>> + Send + Sync,
>;

/// The operator key that ran an operation, for the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorKey {
    pub last6: String,
}

/// The reason why an operation failed.
#[derive(Debug)]
pub enum OperateError {
    /// The operation is invalid; the message says what to do instead.
    Refused(String),
    /// The service failed; a retry may succeed.
    Failed(String),
}

/// Pages and operator commands of the console.
pub struct ConsoleState {
    assets: ConsoleAssets,
    static_files: StaticFiles,
    operate: Option<RunOperation>,
    /// Limits concurrent searches.
    searches: Semaphore,
}

impl ConsoleState {
    pub fn new(assets: ConsoleAssets) -> ConsoleState {
        ConsoleState {
            static_files: StaticFiles::new(&assets.pages),
            assets,
            operate: None,
            searches: Semaphore::new(SEARCHES_AT_ONCE),
        }
    }

    pub fn with_operator(mut self, operate: RunOperation) -> ConsoleState {
        self.operate = Some(operate);
        self
    }
}

/// The service with its console: the state of the console's routes.
#[derive(Clone)]
pub struct ConsoleApp {
    pub app: SharedApp,
    pub console: Arc<ConsoleState>,
}

impl FromRef<ConsoleApp> for SharedApp {
    fn from_ref(served: &ConsoleApp) -> SharedApp {
        Arc::clone(&served.app)
    }
}

impl FromRef<ConsoleApp> for Arc<ConsoleState> {
    fn from_ref(served: &ConsoleApp) -> Arc<ConsoleState> {
        Arc::clone(&served.console)
    }
}
