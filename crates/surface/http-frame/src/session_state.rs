//! The state of console sessions: the secret that signs them, and those that have ended.

pub mod session_cookie;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use moment::Timestamp;

use crate::session_state::session_cookie::SessionSigner;

/// Sessions remembered as signed out; beyond this many, the one that expires first is forgotten.
const ENDED_MAX: usize = 16_384;

/// Signs and verifies sessions, and knows those that were signed out.
pub struct SessionState {
    pub signer: SessionSigner,
    /// Signed-out sessions with the time of their expiry.
    ended: Mutex<HashMap<[u8; 16], Timestamp>>,
}

impl SessionState {
    /// `secret` authenticates session cookies and thinking blocks (HMAC, each with its own purpose):
    /// the same on every node, with no other use.
    pub fn new(secret: &[u8; 32]) -> SessionState {
        SessionState { signer: SessionSigner::new(secret), ended: Mutex::default() }
    }

    pub fn end_session(&self, session: [u8; 16], expires: Timestamp, now: Timestamp) {
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

    pub(crate) fn has_ended(&self, session: &[u8; 16]) -> bool {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).contains_key(session)
    }
}
