//! What is known of a request before its body is read.

use std::net::IpAddr;

use axum::http::{HeaderMap, Uri};
use moment::Timestamp;

use crate::input::Host;

/// What a request shows before its body is read.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    pub headers: &'a HeaderMap,
    pub uri: &'a Uri,
    /// Where it came from.
    pub address: IpAddr,
    pub now: Timestamp,
}

impl Arrival<'_> {
    /// The host that was called, as the client named it.
    pub(crate) fn host(&self) -> Option<&str> {
        Host::named(self.headers, self.uri)
    }
}
