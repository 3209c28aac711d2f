//! The proxies that the environment names, as curl reads it.

use http::uri::Scheme;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

/// Which proxy stands before which server.
pub(crate) struct Proxies(Option<Matcher>);

impl Proxies {
    pub(crate) fn none() -> Proxies {
        Proxies(None)
    }

    /// Those of `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in capitals or not.
    pub(crate) fn from_environment() -> Proxies {
        Proxies(Some(Matcher::from_env()))
    }

    #[cfg(test)]
    pub(crate) fn all(url: &str) -> Proxies {
        Proxies(Some(Matcher::builder().all(url).build()))
    }

    pub(crate) fn before(&self, server: &Uri) -> Option<Intercept> {
        self.0.as_ref()?.intercept(server)
    }

    /// What a proxy asks of each request that it reads; those through a tunnel it does not read.
    pub(crate) fn credentials(&self, server: &Uri) -> Option<HeaderValue> {
        let is_read = server.scheme() == Some(&Scheme::HTTP);
        let proxy = self.before(server).filter(|_| is_read)?;
        proxy.basic_auth().cloned()
    }
}
