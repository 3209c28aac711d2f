//! A caller's input, checked against the schema that is published for it.
//!
//! Input is checked in two steps. `read` checks the transport: content type, size, JSON. `check`
//! checks the schema and reports every fault at once. A missing or invalid credential is refused
//! between the two.

mod body;
mod body_digest;
mod body_memory;
mod form;
mod form_or_json;
mod host;
mod idempotency;
mod json;
mod json_values;
mod json_with_bytes;
mod metered_body;
mod path;
mod payment;
mod query;
mod range;
mod raw;
mod streamed_form;

use std::future::Future;

use axum::body::Body;
use axum::http::request::Parts;
use schema_check::ValidationFaults;
use schemars::SchemaGenerator;

pub use body::BodyLimits;
pub use body::read_body;
pub use body_memory::BodyMemory;
pub use body_memory::{BodyOwner, BodyReservation};
pub use form::{FILE_BYTES_MAX, MultipartForm, UploadedFile};
pub use form_or_json::FormOrJson;
pub use host::HostHeader;
pub use idempotency::IdempotencyHeader;
pub use json::{JsonBody, QueryOrJson};
pub use json::{LARGE_BYTES, check_content_type, run_blocking};
pub use json_with_bytes::JsonWithBytes;
pub use metered_body::BodyPace;
pub use path::PathParameters;
pub use payment::PaymentHeader;
pub use query::QueryParameters;
pub use range::RangeHeader;
pub use raw::RawJson;
pub use streamed_form::{FormFault, STREAMED_FILE_BYTES_MAX, StreamedFile, StreamedForm};

use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// One part of a handler's input, such as the body or the query string.
pub trait HandlerInput: Sized + Send + 'static {
    /// The input as read from the connection, before it is checked.
    type Raw: Send + 'static;

    /// True if the handler reads the body as it arrives. Such a body is not kept in memory, and may be
    /// larger than others.
    const IS_STREAMED: bool = false;

    fn read(
        parts: &mut Parts,
        body: Body,
        limits: BodyLimits,
    ) -> impl Future<Output = Result<Self::Raw, Refusal>> + Send;

    fn check(raw: Self::Raw) -> Result<Self, InputRejection>;

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator);
}

/// The reason why an input was rejected.
#[derive(Debug)]
pub enum InputRejection {
    Faults(ValidationFaults),
    /// The schema accepted a value that its type cannot deserialize: our bug, not the caller's.
    SchemaDisagrees(String),
}

impl From<InputRejection> for Refusal {
    fn from(rejected: InputRejection) -> Refusal {
        match rejected {
            InputRejection::Faults(faults) => Refusal::invalid_request(&faults),
            InputRejection::SchemaDisagrees(cause) => Refusal::internal(cause),
        }
    }
}

impl From<schema_check::ParseError> for InputRejection {
    fn from(error: schema_check::ParseError) -> InputRejection {
        match error {
            schema_check::ParseError::Invalid(faults) => InputRejection::Faults(faults),
            schema_check::ParseError::Disagrees(error) => {
                InputRejection::SchemaDisagrees(error.to_string())
            }
        }
    }
}

/// No input.
#[derive(Debug)]
pub struct NoInput;

impl HandlerInput for NoInput {
    type Raw = ();

    async fn read(_: &mut Parts, _: Body, _: BodyLimits) -> Result<(), Refusal> {
        Ok(())
    }

    fn check((): ()) -> Result<NoInput, InputRejection> {
        Ok(NoInput)
    }

    fn describe(_: &mut OpenApiOperation, _: &mut SchemaGenerator) {}
}

/// Two inputs. The faults of both are reported together.
impl<A: HandlerInput, B: HandlerInput> HandlerInput for (A, B) {
    type Raw = (A::Raw, B::Raw);

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Self::Raw, Refusal> {
        let first = A::read(parts, Body::empty(), limits).await?;
        Ok((first, B::read(parts, body, limits).await?))
    }

    fn check((first, second): Self::Raw) -> Result<(A, B), InputRejection> {
        match (A::check(first), B::check(second)) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (Err(InputRejection::Faults(mut faults)), Err(InputRejection::Faults(more))) => {
                faults.merge(more);
                Err(InputRejection::Faults(faults))
            }
            (Err(rejected), _) | (_, Err(rejected)) => Err(rejected),
        }
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        A::describe(operation, generator);
        B::describe(operation, generator);
    }
}
