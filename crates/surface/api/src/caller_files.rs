//! Downloads files from callers' URLs, from public hosts only and within limits.

use std::time::Duration;

use bytes::Bytes;
use http_frame::app::AppState;
use http_frame::input::{BodyReservation, FILE_BYTES_MAX};
use http_frame::refusal::Refusal;
use sandbox::CallerId;
use web::{FetchFault, FetchRequest};

const FETCH_TIME_MAX: Duration = Duration::from_secs(20);

/// Downloads a file. The inner error is the reason why it failed, for the caller. Memory is
/// reserved before the download, as for uploads. `accepted` is the Accept header.
pub(crate) async fn fetch_caller_file(
    app: &AppState,
    caller: CallerId,
    room: &BodyReservation,
    address: &str,
    accepted: &'static str,
) -> Result<Result<Bytes, String>, Refusal> {
    let fetcher = &app.web.scraper.fetcher;
    let address = match fetcher.parse(address) {
        Ok(address) => address,
        Err(fault) => return Ok(Err(fault.to_string())),
    };
    room.take_more(FILE_BYTES_MAX)?;
    let ask = FetchRequest::get(caller, accepted, FILE_BYTES_MAX, FETCH_TIME_MAX);
    let fetched = fetcher.fetch(&address, &ask).await;
    let bytes = match fetched {
        Ok(fetched) if fetched.is_success() => Ok(fetched.body),
        Ok(fetched) => Err(format!("Its host answered with the status {}.", fetched.status)),
        Err(fault @ FetchFault::Busy) => return Err(Refusal::busy(fault.to_string())),
        Err(fault) => Err(fault.to_string()),
    };
    let kept = bytes.as_ref().map_or(0, Bytes::len);
    room.release_bytes(FILE_BYTES_MAX.saturating_sub(kept));
    Ok(bytes)
}
