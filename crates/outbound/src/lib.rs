//! Requests to a server that the operator named.
//!
//! What is the same for every request is prepared once, in a [`Target`]. Redirects are not
//! followed, cookies not kept, bodies not decompressed, and no request is repeated that a server
//! may have seen.

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
