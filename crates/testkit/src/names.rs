//! Names as the tests know them: all are public, but those that say otherwise.

use std::io;
use std::net::IpAddr;

use futures_util::future::BoxFuture;
use web::Names;

#[derive(Debug)]
pub(crate) struct TestNames;

impl Names for TestNames {
    fn addresses<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let found = match name {
            "inward.example.com" => Ok(vec![IpAddr::from([10, 0, 0, 1])]),
            "unknown.example.com" => Err(io::Error::other("no such name")),
            _ => Ok(vec![IpAddr::from([93, 184, 215, 14])]),
        };
        Box::pin(async { found })
    }
}
