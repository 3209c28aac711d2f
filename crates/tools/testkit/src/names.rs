//! A resolver for tests: all names have public addresses, except those named otherwise.

use std::net::IpAddr;

use sandbox::CallerId;
use web::{LookupError, LookupFuture, NameResolver};

#[derive(Debug)]
pub(crate) struct TestNames;

impl NameResolver for TestNames {
    fn resolve_addresses<'a>(&'a self, name: &'a str, _: Option<CallerId>) -> LookupFuture<'a> {
        let found = match name {
            "inward.example.com" => Ok(vec![IpAddr::from([10, 0, 0, 1])]),
            "busy.example.com" => Err(LookupError::Busy),
            "unknown.example.com" => Err(LookupError::NotFound),
            _ => Ok(vec![IpAddr::from([93, 184, 215, 14])]),
        };
        Box::pin(async { found })
    }
}
