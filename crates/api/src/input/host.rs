//! The host that was called, as the client named it.

use axum::body::Body;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use schemars::SchemaGenerator;

use crate::input::{BodyLimits, Input, Rejected};
use crate::operation::Operation;
use crate::refusal::Refusal;

/// Host and port; HTTP/2 has them in the request's URI, HTTP/1.1 in a header.
#[derive(Debug)]
pub struct Host(pub Option<String>);

impl Host {
    pub(crate) fn named<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
        let header = headers.get(HOST).and_then(|host| host.to_str().ok());
        header.or_else(|| uri.authority().map(|authority| authority.as_str()))
    }
}

impl Input for Host {
    type Raw = Host;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<Host, Refusal> {
        Ok(Host(Host::named(&parts.headers, &parts.uri).map(str::to_owned)))
    }

    fn check(raw: Host) -> Result<Host, Rejected> {
        Ok(raw)
    }

    fn describe(_: &mut Operation, _: &mut SchemaGenerator) {}
}
