//! The operator's operations on a service, running or stopped.
//!
//! A command creates an [`operation::ControlOperation`]. While the service runs, the operation is sent
//! over a Unix socket in the data directory; while it is stopped, the command performs it itself on
//! the database. Both paths end in [`service::ControlService::perform`], so both return the same reply.

mod accounts;
pub mod actor;
mod audit;
mod backup;
mod characters;
mod debits;
pub mod first_start;
mod jobs;
mod keys;
pub mod ledger_operations;
pub mod node_forwarder;
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
