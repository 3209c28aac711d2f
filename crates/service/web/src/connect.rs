//! Opens connections, only to addresses that were checked.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use domain::web_address::{AddressScope, WebAddress, is_public};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sandbox::CallerId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::fault::FetchFault;
use crate::resolver::{LookupError, NameResolver};

/// Timeout for one address, including the TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum addresses of a name that are tried.
const ADDRESSES_TRIED_MAX: usize = 4;

/// Replaces the address of a connection in tests, where no server has a public address.
pub type AddressOverride = Arc<dyn Fn(SocketAddr) -> SocketAddr + Send + Sync>;

pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Connects to the host of a URL, with TLS for https.
pub(crate) async fn connect_host(
    address: &WebAddress,
    names: &dyn NameResolver,
    reach: AddressScope,
    caller: Option<CallerId>,
    tls: &Arc<ClientConfig>,
    stand_in: Option<&AddressOverride>,
) -> Result<Box<dyn ByteStream>, FetchFault> {
    let numbers = resolve_host(address, names, reach, caller).await?;
    for number in numbers.into_iter().take(ADDRESSES_TRIED_MAX) {
        let judged = SocketAddr::new(number, address.port());
        let server = stand_in.map_or(judged, |stand_in| stand_in(judged));
        if let Ok(Some(stream)) = timeout(CONNECT_TIMEOUT, open_stream(server, address, tls)).await
        {
            return Ok(stream);
        }
    }
    Err(FetchFault::Unreachable)
}

/// Resolves the host. One private address among several refuses the host: no honest name has both
/// kinds.
async fn resolve_host(
    address: &WebAddress,
    names: &dyn NameResolver,
    reach: AddressScope,
    caller: Option<CallerId>,
) -> Result<Vec<IpAddr>, FetchFault> {
    let found = match address.ip_address() {
        Some(number) => vec![number],
        None => {
            names.resolve_addresses(address.host(), caller).await.map_err(|error| match error {
                LookupError::NotFound => FetchFault::NoHost,
                LookupError::Busy => FetchFault::Busy,
            })?
        }
    };
    if found.is_empty() {
        return Err(FetchFault::NoHost);
    }
    if reach == AddressScope::Public && !found.iter().copied().all(is_public) {
        return Err(FetchFault::Private);
    }
    Ok(found)
}

/// `None` if the server cannot be reached or its certificate is not valid for the host.
async fn open_stream(
    server: SocketAddr,
    address: &WebAddress,
    tls: &Arc<ClientConfig>,
) -> Option<Box<dyn ByteStream>> {
    let tcp = TcpStream::connect(server).await.ok()?;
    tcp.set_nodelay(true).ok()?;
    if !address.is_https() {
        return Some(Box::new(tcp));
    }
    let name = match address.ip_address() {
        Some(number) => ServerName::IpAddress(number.into()),
        None => ServerName::try_from(address.host().to_owned()).ok()?,
    };
    let stream = TlsConnector::from(Arc::clone(tls)).connect(name, tcp).await.ok()?;
    Some(Box::new(stream))
}
