//! Images from upstreams: base64 within JSON, or a URL to download.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use engine::{EngineError, ImageFile};
use http::HeaderMap;
use outbound::RequestTarget;
use url::Url;

use crate::transport::{UpstreamEndpoint, bad_answer};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(crate) fn encode_base64(picture: &ImageFile) -> String {
    BASE64_STANDARD.encode(&picture.bytes)
}

pub(crate) fn data_url(picture: &ImageFile) -> String {
    format!("data:{};base64,{}", picture.kind.mime, encode_base64(picture))
}

/// Maps a seed to a non-negative one, because most servers treat negative seeds as "random".
pub(crate) fn normalize_seed(seed: i64) -> i64 {
    seed.rem_euclid(1 << 32)
}

/// Decodes bare base64 or a data URL.
pub(crate) fn decode_base64(text: &str) -> Result<Bytes, EngineError> {
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
pub(crate) async fn download_picture(
    endpoint: &UpstreamEndpoint,
    address: &str,
) -> Result<Bytes, EngineError> {
    if address.starts_with("data:") {
        return decode_base64(address);
    }
    resolve_file_endpoint(endpoint, address)?.get_bytes("").await
}

/// The endpoint of a URL in a response: on the same server, or any HTTPS URL without our
/// credentials.
pub(crate) fn resolve_file_endpoint(
    endpoint: &UpstreamEndpoint,
    address: &str,
) -> Result<UpstreamEndpoint, EngineError> {
    let wrong = || bad_answer("its file lies where we do not go");
    let url = Url::parse(address).map_err(|_| wrong())?;
    let mut at = endpoint.clone();
    at.target = if endpoint.target.is_same_server(&url) {
        let query = url.query().map(|it| format!("?{it}")).unwrap_or_default();
        endpoint.target.with_path(&format!("{}{query}", url.path())).map_err(|_| wrong())?
    } else if url.scheme() == "https" {
        RequestTarget::new(&endpoint.client, &url, HeaderMap::new()).map_err(|_| wrong())?
    } else {
        return Err(wrong());
    };
    Ok(at)
}
