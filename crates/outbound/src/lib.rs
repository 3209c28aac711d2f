//! An HTTP client for servers that the operator named.
//!
//! Everything that is the same for all requests is prepared once, in a [`Target`]. The client
//! follows no redirects, keeps no cookies, decompresses no bodies, and never repeats a request that
//! a server may have seen.

mod answer;
mod client;
mod connect;
mod content;
mod error;
mod form;
mod outgoing;
mod pieces;
mod plain;
mod proxy;
mod socket;
mod stream;
mod target;
mod wire;

pub use answer::{Answer, Unread};
pub use client::{Client, ConnectVia, Reach, SetupError};
pub use content::Content;
pub use error::OutboundError;
pub use form::FormFile;
pub use pieces::Pieces;
pub use target::{NoTarget, Target};

#[cfg(test)]
mod tests;
