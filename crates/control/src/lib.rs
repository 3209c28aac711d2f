//! The operator's operations on a service, running or stopped.
//!
//! A command creates an [`operation::Operation`]. While the service runs, the operation is sent
//! over a Unix socket in the data directory; while it is stopped, the command performs it itself on
//! the database. Both paths end in [`service::Service::perform`], so both return the same reply.

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
