//! TLS connections to the database, by rustls.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use store::error::StoreError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// The verification of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerTrust {
    /// No encryption.
    Plain,
    /// Encrypted, without checking the certificate: `sslmode=require`, as in other clients.
    Anybody,
    /// The certificate must match the host name, and be from an authority that the system trusts or
    /// that is in a file.
    Named { authorities: Option<std::path::PathBuf> },
}

/// Creates the TLS connector; None for plain connections.
pub(crate) fn create_tls_factory(trust: &ServerTrust) -> Result<Option<TlsFactory>, StoreError> {
    let unusable = |error: String| StoreError::Failed(format!("TLS cannot be used: {error}"));
    let provider = Arc::new(ring::default_provider());
    let builder = || {
        ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))
    };
    let config = match trust {
        ServerTrust::Plain => return Ok(None),
        ServerTrust::Anybody => {
            let believer = Arc::new(AnyCertificateVerifier(Arc::clone(&provider)));
            builder()?.dangerous().with_custom_certificate_verifier(believer).with_no_client_auth()
        }
        ServerTrust::Named { authorities: Some(file) } => {
            builder()?.with_root_certificates(read_authorities(file)?).with_no_client_auth()
        }
        ServerTrust::Named { authorities: None } => builder()?
            .with_platform_verifier()
            .map_err(|error| unusable(error.to_string()))?
            .with_no_client_auth(),
    };
    Ok(Some(TlsFactory(TlsConnector::from(Arc::new(config)))))
}

fn read_authorities(file: &Path) -> Result<RootCertStore, StoreError> {
    let unusable = |error: String| {
        StoreError::Unsuitable(format!(
            "the certificates in {} cannot be used: {error}",
            file.display()
        ))
    };
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| unusable(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    Ok(roots)
}

#[derive(Clone)]
pub(crate) struct TlsFactory(TlsConnector);

impl MakeTlsConnect<Socket> for TlsFactory {
    type Stream = TlsSocket;
    type TlsConnect = TlsHandshake;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<TlsHandshake, Self::Error> {
        let name = ServerName::try_from(domain.to_owned())?;
        Ok(TlsHandshake { connector: self.0.clone(), name })
    }
}

/// A connection that is about to be encrypted.
pub(crate) struct TlsHandshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for TlsHandshake {
    type Stream = TlsSocket;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TlsSocket>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, stream).await.map(TlsSocket) })
    }
}

pub(crate) struct TlsSocket(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for TlsSocket {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for TlsSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for TlsSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// Accepts any certificate, and only checks that the server has its key.
#[derive(Debug)]
struct AnyCertificateVerifier(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificateVerifier {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
