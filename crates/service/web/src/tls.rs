//! The TLS configuration for fetches.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

#[derive(Debug, thiserror::Error)]
#[error("the system's certificates cannot be used: {0}")]
pub struct TlsUnusable(#[from] rustls::Error);

/// Trusts the root certificates of this machine. Without any, only plain HTTP pages can be fetched.
/// HTTP/2 is off, because each connection serves one request.
pub fn system_tls_config() -> Result<Arc<ClientConfig>, TlsUnusable> {
    let builder = || {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
    };
    let mut tls = match builder()?.with_platform_verifier() {
        Ok(builder) => builder.with_no_client_auth(),
        Err(error) => {
            tracing::warn!(
                "the system's certificates cannot be used, so no https page can be fetched: {error}"
            );
            builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
        }
    };
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(tls))
}
