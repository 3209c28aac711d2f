//! One file per endpoint.

pub(crate) mod health;
