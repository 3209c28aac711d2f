//! Queued music and videos: durable jobs, the workers that run them, and what they make.
//!
//! A job is written together with the hold that pays for it, and ends in the transaction that
//! charges for it or gives the money back. In between a worker holds a lease on it, and every step
//! that the worker writes names the fence of its lease: a worker that was given up for dead changes
//! nothing any more.
//!
//! Where to look:
//! - `rules`, `fair`, `timing`, `content`: what is decided, as functions of values.
//! - `queue`: adding jobs and asking about them. `worker` takes them up, `run` carries one out.
//! - `results`: what was made: read, deleted, swept. `link`: links to it that need no credential.

mod bill;
mod content;
mod failure;
mod fair;
mod link;
mod queue;
mod results;
mod rules;
mod run;
mod timing;
mod worker;

pub use failure::{FailureReason, JobFailure};
pub use link::{LINK_LIFETIME, LinkFault, LinkSecret};
pub use queue::{EngineOf, Jobs, NewJob, NotQueued, Parts, Settings};
pub use results::{MEDIA_BYTES_MAX, Opened, Range};
pub use rules::ATTEMPTS_MAX;

#[cfg(test)]
mod tests;
