//! Reasons why a request got no response.

use std::error::Error;

use hyper_util::client::legacy;

/// An unreached server never saw the request; after other errors it may have. The message lists all
/// causes in one line, because the outermost alone says little; none contains a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    #[error("{0}")]
    Unreached(String),
    #[error("{0}")]
    Broken(String),
}

impl OutboundError {
    pub(crate) fn of_request(error: &legacy::Error) -> OutboundError {
        let causes = join_causes(error);
        if error.is_connect() {
            OutboundError::Unreached(causes)
        } else {
            OutboundError::Broken(causes)
        }
    }

    pub(crate) fn of_connecting(error: &(dyn Error + 'static)) -> OutboundError {
        OutboundError::Unreached(format!("client error (Connect): {}", join_causes(error)))
    }

    /// No head of a response arrived.
    pub(crate) fn of_sending(error: &(dyn Error + 'static)) -> OutboundError {
        OutboundError::Broken(format!("client error (SendRequest): {}", join_causes(error)))
    }

    /// The body ended too early.
    pub(crate) fn of_reading(error: &(dyn Error + 'static)) -> OutboundError {
        OutboundError::Broken(format!(
            "error reading a body from connection: {}",
            join_causes(error)
        ))
    }

    pub(crate) fn of_body(error: &hyper::Error) -> OutboundError {
        OutboundError::Broken(join_causes(error))
    }
}

fn join_causes(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        told = format!("{told}: {inner}");
        cause = inner.source();
    }
    told
}
