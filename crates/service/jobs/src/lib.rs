//! Queued music and videos: durable jobs, the workers that run them, and their results.
//!
//! A job is written together with the hold that pays for it, and ends in the transaction that
//! charges for it or refunds it. In between a worker holds a lease on it, and every write of the
//! worker names the fence of its lease, so that a worker that lost its lease can change nothing.
//!
//! Modules:
//! - `rules`, `owner_turns`, `timing`, `content`: decisions as functions of values.
//! - `queue`: adds and queries jobs. `worker` claims them, `run` processes one.
//! - `results`: reads, deletes and sweeps results. `link`: signed links to results.

mod content;
mod failure;
mod link;
mod owner_turns;
mod queue;
mod results;
mod rules;
mod run;
mod stored_charge;
mod timing;
mod worker;

pub use failure::{FailureReason, JobFailure};
pub use link::{LINK_LIFETIME, LinkFault, LinkSecret};
pub use queue::{EngineLookup, JobQueue, NewJob, QueueDependencies, QueueError, QueueSettings};
pub use results::{ByteRange, MEDIA_BYTES_MAX, ResultDownload};
pub use rules::ATTEMPTS_MAX;

#[cfg(test)]
mod tests;
