//! Properties that hold for any bytes of a provider or a browser. The fuzzer checks them on generated
//! inputs, and a plain test on every committed seed. Each returns true if the input was accepted.

mod callback;
mod document;
mod id_token;

pub(crate) use callback::sign_in_callback;
pub(crate) use document::provider_document;
pub(crate) use id_token::id_token;
