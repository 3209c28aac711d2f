//! The host that was called, as the client named it.

use axum::body::Body;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use schemars::SchemaGenerator;

use crate::input::{BodyLimits, HandlerInput, InputRejection};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// Host and port; HTTP/2 has them in the request's URI, HTTP/1.1 in a header.
#[derive(Debug)]
pub struct HostHeader(pub Option<String>);

impl HostHeader {
    pub(crate) fn read_host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
        let header = headers.get(HOST).and_then(|host| host.to_str().ok());
        header.or_else(|| uri.authority().map(|authority| authority.as_str()))
    }
}

impl HandlerInput for HostHeader {
    type Raw = HostHeader;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<HostHeader, Refusal> {
        Ok(HostHeader(HostHeader::read_host(&parts.headers, &parts.uri).map(str::to_owned)))
    }

    fn check(raw: HostHeader) -> Result<HostHeader, InputRejection> {
        Ok(raw)
    }

    fn describe(_: &mut OpenApiOperation, _: &mut SchemaGenerator) {}
}
