//! An HTTP client for servers that the operator named.
//!
//! Everything that is the same for all requests is prepared once, in a [`RequestTarget`]. The client
//! follows no redirects, keeps no cookies, decompresses no bodies, and never repeats a request that
//! a server may have seen.

mod client;
mod connect;
mod connection;
mod content;
mod error;
mod form;
mod outgoing_request;
mod pieces;
mod pool;
mod proxy;
mod response;
mod socket;
mod stream;
mod target;

pub use client::{
    ConnectSettings, ConnectVia, OutboundClient, TlsSetupError, check_system_certificates,
};
pub use content::RequestContent;
pub use error::OutboundError;
pub use form::FormFile;
pub use pieces::BodyPieces;
pub use response::{BodyReadError, UpstreamResponse};
pub use target::{InvalidTarget, RequestTarget};

#[cfg(test)]
mod tests;
