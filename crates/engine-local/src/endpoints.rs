//! One file per endpoint.

pub(crate) mod health;
pub(crate) mod models;
pub(crate) mod texts;
