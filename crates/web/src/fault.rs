//! Why something was not fetched.

use domain::web_address::AddressFault;

/// Each as a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchFault {
    #[error("{0}")]
    Address(AddressFault),
    /// Its own name leads inward, or a redirect does.
    #[error("It leads to an address that is not public.")]
    Private,
    #[error("It redirects to where nothing is fetched from. {0}")]
    Redirect(AddressFault),
    #[error("It redirects too often.")]
    Redirects,
    #[error("Its host could not be found.")]
    NoHost,
    #[error("Its host could not be reached.")]
    Unreachable,
    /// Fetches of other callers take all the room there is.
    #[error("Too much is being fetched at the moment. Please try again shortly.")]
    Busy,
    #[error("It did not answer in time.")]
    TimedOut,
    #[error("It broke off its answer.")]
    Broken,
    #[error("It has more than {0} bytes.")]
    TooLarge(usize),
    #[error("It is packed in a way that cannot be unpacked.")]
    Garbled,
}

impl FetchFault {
    /// Whether the address was wrong, rather than whoever answers there.
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
