//! Whom we believe to be the host that was named.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;

#[derive(Debug, thiserror::Error)]
#[error("the system's certificates cannot be used: {0}")]
pub struct TlsUnusable(#[from] rustls::Error);

/// Whoever this machine's other programs believe. One request a connection needs no HTTP/2.
pub fn trusting_the_system() -> Result<Arc<ClientConfig>, TlsUnusable> {
    let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(tls))
}
