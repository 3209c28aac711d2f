//! The behaviour that every store must have, as checks that an implementation runs on an empty
//! store.
//!
//! A check panics if the store is wrong. Its name is a sentence.

use std::pin::Pin;

use crate::Store;

mod batches;
mod characters;
mod claims;
mod debts;
mod evidence;
pub mod fixture;
mod groups;
mod jobs;
mod journal;
mod keys;
mod media;
mod owners;
mod responses;
mod rpc;
mod sessions;
mod usage;
mod wallets;

/// One check, to be run on a store of its own.
pub struct ConformanceCase {
    pub name: &'static str,
    pub run: for<'a> fn(&'a dyn Store) -> CaseFuture<'a>,
}

pub type CaseFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

pub fn list_cases() -> Vec<ConformanceCase> {
    [
        owners::CASES,
        keys::CASES,
        groups::CASES,
        journal::CASES,
        debts::CASES,
        usage::CASES,
        sessions::CASES,
        rpc::CASES,
        characters::CASES,
        claims::CASES,
        evidence::CASES,
        wallets::CASES,
        jobs::CASES,
        media::CASES,
        responses::CASES,
        batches::CASES,
    ]
    .into_iter()
    .flatten()
    .map(|(name, run)| ConformanceCase { name, run: *run })
    .collect()
}

type CaseTable = &'static [(&'static str, for<'a> fn(&'a dyn Store) -> CaseFuture<'a>)];
