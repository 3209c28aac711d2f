//! What an operator can do to a service, running or stopped: one list of operations.
//!
//! A command makes an [`operation::Operation`]. While the service runs, the operation travels over
//! a Unix socket in the data directory; while it does not, the command performs it itself on the
//! database. Both ways end in [`service::Service::perform`], so both give the same reply.

mod accounts;
pub mod actor;
mod audit;
mod backup;
pub mod books;
mod characters;
mod debits;
pub mod elsewhere;
pub mod founding;
mod jobs;
mod keys;
pub mod operation;
mod operators;
pub mod payments;
mod refunds;
pub mod reply;
pub mod secrets;
pub mod service;
pub mod socket;
pub mod stakes;

#[cfg(test)]
mod tests;
