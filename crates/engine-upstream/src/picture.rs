//! Images from upstreams: base64 within JSON, or a URL to download.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use engine::{EngineError, Picture};
use http::HeaderMap;
use outbound::Target;
use url::Url;

use crate::transport::{Endpoint, bad_answer};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn base64(picture: &Picture) -> String {
    BASE64_STANDARD.encode(&picture.bytes)
}

pub(crate) fn data_url(picture: &Picture) -> String {
    format!("data:{};base64,{}", picture.kind.mime, base64(picture))
}

/// Maps a seed to a non-negative one, because most servers treat negative seeds as "random".
pub(crate) fn seed(seed: i64) -> i64 {
    seed.rem_euclid(1 << 32)
}

/// Decodes bare base64 or a data URL.
pub(crate) fn from_text(text: &str) -> Result<Bytes, EngineError> {
    let base64 = match text.split_once(";base64,") {
        Some((head, data)) if head.starts_with("data:") => data,
        _ => text,
    };
    let bytes = LENIENT.decode(base64.trim_ascii());
    let bytes = bytes.map_err(|_| bad_answer("its picture is not base64"))?;
    if bytes.is_empty() {
        return Err(bad_answer("its picture is empty"));
    }
    Ok(bytes.into())
}

/// Downloads an image from an address in a response: a data URL, a URL of the same server, or any
/// HTTPS URL. Credentials are sent only to the same server.
pub(crate) async fn from_address(endpoint: &Endpoint, address: &str) -> Result<Bytes, EngineError> {
    if address.starts_with("data:") {
        return from_text(address);
    }
    place(endpoint, address)?.fetch("").await
}

/// The endpoint of a URL in a response: on the same server, or any HTTPS URL without our
/// credentials.
pub(crate) fn place(endpoint: &Endpoint, address: &str) -> Result<Endpoint, EngineError> {
    let wrong = || bad_answer("its file lies where we do not go");
    let url = Url::parse(address).map_err(|_| wrong())?;
    let mut at = endpoint.clone();
    at.target = if endpoint.target.is_same_server(&url) {
        let query = url.query().map(|it| format!("?{it}")).unwrap_or_default();
        endpoint.target.elsewhere(&format!("{}{query}", url.path())).map_err(|_| wrong())?
    } else if url.scheme() == "https" {
        Target::new(&endpoint.client, &url, HeaderMap::new()).map_err(|_| wrong())?
    } else {
        return Err(wrong());
    };
    Ok(at)
}
