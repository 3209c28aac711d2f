//! The console: the pages that the binary carries, and the sessions in which people use them.
//!
//! A page calls the same API as everybody else. Its session stands in for the key, and only with
//! a header that pages of other origins cannot send, so that the cookie alone opens nothing.

pub mod assets;
mod operator;
mod own;
mod pages;
mod refused;
pub(crate) mod routes;
mod sealed;
pub(crate) mod session;
mod sign_in;
mod small_body;
mod static_files;
mod top_up;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::entropy::Entropy;
use domain::secret::SecretDigest;
use futures_util::future::BoxFuture;
use moment::Timestamp;
use serde_json::Value;

use crate::console::assets::Assets;
use crate::console::refused::RefusedCalls;
use crate::console::sealed::Sealer;
use crate::console::static_files::StaticFiles;

/// How long somebody stays signed in.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// How long the link of the first start can be used.
const LINK_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// Sessions that were ended before their time; beyond this many, the oldest are forgotten.
const ENDED_MAX: usize = 16_384;

/// Does what an operator asks for, in the form of the control socket.
pub type Operate =
    Arc<dyn Fn(Value) -> BoxFuture<'static, Result<Value, OperateError>> + Send + Sync>;

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
    /// The account whose ADMIN keys see the operator's pages.
    operator_account: String,
    operate: Option<Operate>,
    link: Mutex<Option<Link>>,
    /// What callers were refused of late.
    pub(crate) refused: RefusedCalls,
    /// Ends of sessions, by session, until they would have expired anyway.
    ended: Mutex<HashMap<[u8; 16], Timestamp>>,
}

/// A way in that works once.
struct Link {
    token: String,
    key: SecretDigest,
    until: Timestamp,
}

impl Console {
    /// `secret` seals the sessions: the same on every node, and used for nothing else.
    pub fn new(
        secret: &[u8; 32],
        assets: Assets,
        operator_account: &str,
        now: Timestamp,
    ) -> Console {
        Console {
            sealer: Sealer::new(secret),
            static_files: StaticFiles::new(&assets.pages),
            assets,
            operator_account: operator_account.to_owned(),
            operate: None,
            link: Mutex::default(),
            refused: RefusedCalls::new(now),
            ended: Mutex::default(),
        }
    }

    pub fn with_operator(mut self, operate: Operate) -> Console {
        self.operate = Some(operate);
        self
    }

    /// A link's token that signs in once with a key, within the hour.
    pub fn offer_link(&self, key: SecretDigest, now: Timestamp, entropy: &dyn Entropy) -> String {
        let mut random = [0; 24];
        entropy.fill(&mut random);
        let token = sealed::text(&random);
        let link = Link { token: token.clone(), key, until: now.plus(LINK_LIFETIME) };
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
        token
    }

    /// The key behind a link's token, which is then used up.
    fn take_link(&self, token: &str, now: Timestamp) -> Option<SecretDigest> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.take_if(|link| link.token == token).filter(|link| now < link.until).map(|it| it.key)
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
