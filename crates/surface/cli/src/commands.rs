//! One file per command: builds an operation, performs it and prints the reply.

pub(crate) mod accounts;
pub(crate) mod agents;
pub(crate) mod backup;
pub(crate) mod characters;
pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod convert;
pub(crate) mod demo;
mod engine_discovery;
pub(crate) mod export_import;
pub(crate) mod image;
pub(crate) mod init;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod ledger;
pub(crate) mod migrate;
pub(crate) mod models;
pub(crate) mod next_steps;
pub(crate) mod operator;
pub(crate) mod payments;
pub(crate) mod secrets;
mod session;
pub(crate) mod speak;
pub(crate) mod transcribe;
