//! The data of a request without its body.

use std::net::IpAddr;

use axum::http::{HeaderMap, Uri};
use moment::Timestamp;

use crate::input::HostHeader;

/// The data of a request without its body.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    pub headers: &'a HeaderMap,
    pub uri: &'a Uri,
    /// The client's address.
    pub address: IpAddr,
    pub now: Timestamp,
}

impl RequestHead<'_> {
    /// The host that the client called.
    pub fn host(&self) -> Option<&str> {
        HostHeader::read_host(self.headers, self.uri)
    }
}
