//! Queued videos.

pub(super) mod complete;
mod frames;
pub(super) mod queue;
pub(super) mod quote;
mod request;
pub(super) mod retrieve;
