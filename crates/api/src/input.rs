//! A caller's input, checked against the schema that is published for it.
//!
//! Input is checked in two steps. `read` checks the transport: content type, size, JSON. `check`
//! checks the schema and reports every fault at once. A missing or invalid credential is refused
//! between the two.

mod body;
mod form;
mod form_or_json;
mod host;
mod idempotency;
mod json;
mod json_values;
mod metered;
mod original;
mod path;
mod payment;
mod query;
mod range;
mod raw;
mod room;

use std::future::Future;

use axum::body::Body;
use axum::http::request::Parts;
use schema_check::Faults;
use schemars::SchemaGenerator;

pub use body::BodyLimits;
pub(crate) use body::read as read_body;
pub use form::{FILE_BYTES_MAX, Form, Upload};
pub use form_or_json::{FileFields, FormOrJson};
pub use host::Host;
pub use idempotency::Idempotency;
pub use json::{Json, QueryOrJson};
pub(crate) use json::{LARGE_BYTES, apart};
pub use original::Original;
pub use path::Path;
pub use payment::PaymentHeader;
pub use query::Query;
pub use range::RangeHeader;
pub use raw::RawJson;
pub use room::Bodies;
pub(crate) use room::{BodyOwner, Room};

use crate::operation::Operation;
use crate::refusal::Refusal;

/// One part of a handler's input, such as the body or the query string.
pub trait Input: Sized + Send + 'static {
    /// The input as read from the connection, before it is checked.
    type Raw: Send + 'static;

    fn read(
        parts: &mut Parts,
        body: Body,
        limits: BodyLimits,
    ) -> impl Future<Output = Result<Self::Raw, Refusal>> + Send;

    fn check(raw: Self::Raw) -> Result<Self, Rejected>;

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator);
}

/// The reason why an input was rejected.
#[derive(Debug)]
pub enum Rejected {
    Faults(Faults),
    /// The schema accepted a value that its type cannot deserialize: our bug, not the caller's.
    SchemaDisagrees(String),
}

impl From<Rejected> for Refusal {
    fn from(rejected: Rejected) -> Refusal {
        match rejected {
            Rejected::Faults(faults) => Refusal::invalid(&faults),
            Rejected::SchemaDisagrees(cause) => Refusal::internal(cause),
        }
    }
}

impl From<schema_check::ParseError> for Rejected {
    fn from(error: schema_check::ParseError) -> Rejected {
        match error {
            schema_check::ParseError::Invalid(faults) => Rejected::Faults(faults),
            schema_check::ParseError::Disagrees(error) => {
                Rejected::SchemaDisagrees(error.to_string())
            }
        }
    }
}

/// No input.
#[derive(Debug)]
pub struct Nothing;

impl Input for Nothing {
    type Raw = ();

    async fn read(_: &mut Parts, _: Body, _: BodyLimits) -> Result<(), Refusal> {
        Ok(())
    }

    fn check((): ()) -> Result<Nothing, Rejected> {
        Ok(Nothing)
    }

    fn describe(_: &mut Operation, _: &mut SchemaGenerator) {}
}

/// Two inputs. The faults of both are reported together.
impl<A: Input, B: Input> Input for (A, B) {
    type Raw = (A::Raw, B::Raw);

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Self::Raw, Refusal> {
        let first = A::read(parts, Body::empty(), limits).await?;
        Ok((first, B::read(parts, body, limits).await?))
    }

    fn check((first, second): Self::Raw) -> Result<(A, B), Rejected> {
        match (A::check(first), B::check(second)) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (Err(Rejected::Faults(mut faults)), Err(Rejected::Faults(more))) => {
                faults.merge(more);
                Err(Rejected::Faults(faults))
            }
            (Err(rejected), _) | (_, Err(rejected)) => Err(rejected),
        }
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        A::describe(operation, generator);
        B::describe(operation, generator);
    }
}
