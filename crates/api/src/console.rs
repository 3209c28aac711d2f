//! The console: the pages that the binary carries, and the sessions in which people use them.
//!
//! A page calls the same API as everybody else. Its session stands in for the key, and only with
//! a header that pages of other origins cannot send, so that the cookie alone opens nothing.

mod activity;
pub mod assets;
mod operator;
mod own;
mod pages;
mod refused;
pub mod routes;
mod sealed;
pub(crate) mod session;
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

use crate::console::assets::Assets;
use crate::console::refused::RefusedCalls;
use crate::console::sealed::Sealer;
use crate::console::static_files::StaticFiles;

/// How long somebody stays signed in.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Sessions that were ended before their time; beyond this many, the oldest are forgotten.
const ENDED_MAX: usize = 16_384;

/// Searches of activity that read the store at the same time; others wait.
const SEARCHES_AT_ONCE: usize = 2;

/// Does what an operator asks for, in the form of the control socket.
pub type Operate = Arc<
    dyn Fn(OperatorKey, Value) -> BoxFuture<'static, Result<Value, OperateError>> + Send + Sync,
>;

/// The operator key behind an operation, as the audit trail names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorKey {
    pub last6: String,
}

/// Why an operation was not done.
#[derive(Debug)]
pub enum OperateError {
    /// It cannot be done as asked; the message says what to ask instead.
    Refused(String),
    /// The service could not do it now.
    Failed(String),
}

/// Who signs in here, and what they may do beyond the API.
pub struct Console {
    sealer: Sealer,
    assets: Assets,
    static_files: StaticFiles,
    operate: Option<Operate>,
    /// What callers were refused of late.
    pub(crate) refused: RefusedCalls,
    /// Bounds the searches that run at once.
    pub(crate) searches: Semaphore,
    /// Ends of sessions, by session, until they would have expired anyway.
    ended: Mutex<HashMap<[u8; 16], Timestamp>>,
}

impl Console {
    /// `secret` seals the sessions: the same on every node, and used for nothing else.
    pub fn new(secret: &[u8; 32], assets: Assets, now: Timestamp) -> Console {
        Console {
            sealer: Sealer::new(secret),
            static_files: StaticFiles::new(&assets.pages),
            assets,
            operate: None,
            refused: RefusedCalls::new(now),
            searches: Semaphore::new(SEARCHES_AT_ONCE),
            ended: Mutex::default(),
        }
    }

    pub fn with_operator(mut self, operate: Operate) -> Console {
        self.operate = Some(operate);
        self
    }

    fn end(&self, session: [u8; 16], expires: Timestamp, now: Timestamp) {
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
