//! Reasons why a URL was not fetched.

use domain::web_address::AddressFault;

/// Each displays as a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchFault {
    #[error("{0}")]
    Address(AddressFault),
    /// The name of the URL or of a redirect resolves to a private address.
    #[error("Its host has an address that is not public.")]
    Private,
    #[error("It redirects to a URL that is not allowed. {0}")]
    Redirect(AddressFault),
    #[error("It redirects too often.")]
    Redirects,
    #[error("Its host could not be found.")]
    NoHost,
    #[error("Its host could not be reached.")]
    Unreachable,
    /// Other callers use all available fetches.
    #[error("Too many URLs are being fetched at the moment. Please try again shortly.")]
    Busy,
    #[error("It did not answer in time.")]
    TimedOut,
    #[error("The connection was closed before the response was complete.")]
    Broken,
    #[error("It has more than {0} bytes.")]
    TooLarge(usize),
    #[error("Its content encoding is not supported or is damaged.")]
    Garbled,
}

impl FetchFault {
    /// True if the URL is at fault, not the server.
    pub fn is_of_address(&self) -> bool {
        match self {
            FetchFault::Address(_) | FetchFault::Private | FetchFault::Redirect(_) => true,
            FetchFault::Redirects
            | FetchFault::NoHost
            | FetchFault::Unreachable
            | FetchFault::Busy
            | FetchFault::TimedOut
            | FetchFault::Broken
            | FetchFault::TooLarge(_)
            | FetchFault::Garbled => false,
        }
    }
}
