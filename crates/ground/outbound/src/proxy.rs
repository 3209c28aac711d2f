//! Proxies from the environment variables, with curl's rules.

use http::uri::Scheme;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

/// Selects the proxy for a server.
pub(crate) struct ProxySelector(Option<Matcher>);

impl ProxySelector {
    pub(crate) fn none() -> ProxySelector {
        ProxySelector(None)
    }

    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper or lower case.
    pub(crate) fn from_environment() -> ProxySelector {
        ProxySelector(Some(Matcher::from_env()))
    }

    #[cfg(test)]
    pub(crate) fn all(url: &str) -> ProxySelector {
        ProxySelector(Some(Matcher::builder().all(url).build()))
    }

    pub(crate) fn find_proxy(&self, server: &Uri) -> Option<Intercept> {
        self.0.as_ref()?.intercept(server)
    }

    /// Credentials for requests that the proxy reads; requests through a tunnel do not need them.
    pub(crate) fn credentials(&self, server: &Uri) -> Option<HeaderValue> {
        let is_read = server.scheme() == Some(&Scheme::HTTP);
        let proxy = self.find_proxy(server).filter(|_| is_read)?;
        proxy.basic_auth().cloned()
    }
}
