//! Requests to a server that the operator named.
//!
//! Whatever is the same for every request is made ready once, in a [`Target`]. Nothing is done
//! that nobody asked for: no redirect is followed, no cookie kept, nothing unpacked, and no
//! request sent again that a server may have seen.

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
pub use client::{Client, Reach, SetupError, Way};
pub use content::Content;
pub use error::OutboundError;
pub use form::FormFile;
pub use pieces::Pieces;
pub use target::{NoTarget, Target};

#[cfg(test)]
mod tests;
