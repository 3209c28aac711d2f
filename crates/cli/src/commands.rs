//! One file per command: it makes an operation, has it performed, and prints the reply.

pub(crate) mod accounts;
pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod ledger;
pub(crate) mod models;
mod session;
pub(crate) mod speak;
pub(crate) mod transcribe;
