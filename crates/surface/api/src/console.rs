//! The console: pages embedded in the binary, and the sessions of their users.
//!
//! A page calls the same API as other clients. Its session replaces the key, and only with a header
//! that pages of other origins cannot send, so that the cookie alone is not enough.

mod account;
mod activity;
pub mod assets;
mod operator;
mod pages;
mod recent_errors;
pub mod routes;
pub(crate) mod session;
mod session_cookie;
mod sign_in;
mod small_body;
mod static_files;
mod top_up;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use moment::Timestamp;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::console::assets::ConsoleAssets;
use crate::console::recent_errors::RefusedCalls;
use crate::console::session_cookie::SessionSigner;
use crate::console::static_files::StaticFiles;

/// Lifetime of a session.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Sessions remembered as signed out; beyond this many, the one that expires first is forgotten.
const ENDED_MAX: usize = 16_384;

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

/// Sessions, pages and operator commands of the console.
pub struct ConsoleState {
    sealer: SessionSigner,
    assets: ConsoleAssets,
    static_files: StaticFiles,
    operate: Option<RunOperation>,
    /// Recent errors of callers.
    pub(crate) refused: RefusedCalls,
    /// Limits concurrent searches.
    pub(crate) searches: Semaphore,
    /// Signed-out sessions with the time of their expiry.
    ended: Mutex<HashMap<[u8; 16], Timestamp>>,
}

impl ConsoleState {
    /// `secret` authenticates session cookies (HMAC): the same on every node, with no other use.
    pub fn new(secret: &[u8; 32], assets: ConsoleAssets, now: Timestamp) -> ConsoleState {
        ConsoleState {
            sealer: SessionSigner::new(secret),
            static_files: StaticFiles::new(&assets.pages),
            assets,
            operate: None,
            refused: RefusedCalls::new(now),
            searches: Semaphore::new(SEARCHES_AT_ONCE),
            ended: Mutex::default(),
        }
    }

    pub fn with_operator(mut self, operate: RunOperation) -> ConsoleState {
        self.operate = Some(operate);
        self
    }

    fn end_session(&self, session: [u8; 16], expires: Timestamp, now: Timestamp) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ENDED_MAX <= ended.len() {
            ended.retain(|_, expires| now < *expires);
        }
        if ENDED_MAX <= ended.len() {
            let soonest = ended.iter().min_by_key(|(_, expires)| **expires).map(|(it, _)| *it);
            soonest.map(|it| ended.remove(&it));
        }
        ended.insert(session, expires);
    }

    fn has_ended(&self, session: &[u8; 16]) -> bool {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).contains_key(session)
    }
}
