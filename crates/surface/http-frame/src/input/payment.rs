//! The header that carries a signed payment, under any of its three names.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use schemars::SchemaGenerator;
use serde_json::json;

use crate::input::{BodyLimits, HandlerInput, InputRejection};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// The header of x402 version 2, then those of older clients.
static HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("payment-signature"),
    HeaderName::from_static("x-payment"),
    HeaderName::from_static("x-402-payment"),
];

/// The payment header's value, if one was sent.
#[derive(Debug)]
pub struct PaymentHeader(pub Option<Vec<u8>>);

impl PaymentHeader {
    /// Returns an empty value, which is no valid payment, if the header was sent twice.
    pub(crate) fn from_headers(headers: &HeaderMap) -> PaymentHeader {
        let Some(name) = HEADERS.iter().find(|name| headers.contains_key(*name)) else {
            return PaymentHeader(None);
        };
        let mut values = headers.get_all(name).iter();
        PaymentHeader(match (values.next(), values.next()) {
            (Some(value), None) => Some(value.as_bytes().to_vec()),
            _ => Some(Vec::new()),
        })
    }
}

impl HandlerInput for PaymentHeader {
    type Raw = PaymentHeader;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<PaymentHeader, Refusal> {
        Ok(PaymentHeader::from_headers(&parts.headers))
    }

    fn check(raw: PaymentHeader) -> Result<PaymentHeader, InputRejection> {
        Ok(raw)
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        operation.header(
            "PAYMENT-SIGNATURE",
            "Base64 of a signed x402 version 2 payment payload. The older names `X-PAYMENT` and \
             `X-402-Payment` are accepted too.",
            json!({ "type": "string" }),
        );
    }
}
