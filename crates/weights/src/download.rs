//! Downloads one file of a known size and hash, going on where an earlier try broke off.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::RANGE;
use reqwest::{Client, Response, StatusCode, Url};
use tokio::sync::mpsc;

use crate::digest::{Fingerprint, Fingerprinter, read_file};
use crate::error::SourceError;

/// A transfer that breaks off goes on as long as each try brings something.
const RESUMES_MAX: u32 = 50;
const RESUME_WAIT: Duration = Duration::from_secs(1);
/// Pieces on their way to the disk.
const PIECES_MAX: usize = 16;

/// Hears how many bytes are there.
pub(crate) type Tell = Arc<dyn Fn(u64) + Send + Sync>;

/// What is to be downloaded, and where to.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) url: Url,
    /// Keeps what is there if the download fails.
    pub(crate) to: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

pub(crate) async fn download(
    client: &Client,
    wanted: &Wanted,
    tell: &Tell,
) -> Result<(), SourceError> {
    let mut resumes = 0;
    let fingerprint = loop {
        let before = length(&wanted.to);
        let error = match attempt(client, wanted, before, tell).await {
            Ok(fingerprint) => break fingerprint,
            Err(error) => error,
        };
        let has_grown = before < length(&wanted.to);
        let is_last =
            matches!(error, SourceError::Disk { .. }) || !has_grown || RESUMES_MAX <= resumes;
        if is_last {
            return Err(error);
        }
        resumes += 1;
        tracing::debug!(download.resumes = resumes, "a download broke off and goes on");
        tokio::time::sleep(RESUME_WAIT).await;
    };
    if fingerprint.bytes == wanted.bytes && fingerprint.sha256 == wanted.sha256 {
        return Ok(());
    }
    // What is wrong must not be gone on with.
    std::fs::remove_file(&wanted.to).map_err(SourceError::disk(&wanted.to))?;
    let name = wanted.url.path_segments().and_then(|mut it| it.next_back()).unwrap_or_default();
    Err(SourceError::Source(format!("{name} from {} has another checksum", host(&wanted.url))))
}

/// One request for what is missing.
async fn attempt(
    client: &Client,
    wanted: &Wanted,
    before: u64,
    tell: &Tell,
) -> Result<Fingerprint, SourceError> {
    if before == wanted.bytes {
        return Writer::append(wanted, before)?.finish().await;
    }
    // More than there can be is no beginning of it.
    let before = if wanted.bytes < before { 0 } else { before };
    let mut request = client.get(wanted.url.clone());
    if 0 < before {
        request = request.header(RANGE, format!("bytes={before}-"));
    }
    let mut response = request.send().await.map_err(|error| broken(&wanted.url, error))?;
    let start = start_of(&response, before).ok_or_else(|| {
        SourceError::Source(format!("{} answers {}", host(&wanted.url), response.status()))
    })?;
    let writer = Writer::append(wanted, start)?;
    let mut received = start;
    let outcome = loop {
        let piece = match response.chunk().await {
            Ok(Some(piece)) => piece,
            Ok(None) if received == wanted.bytes => break Ok(()),
            Ok(None) => break Err(cut_off(&wanted.url)),
            Err(error) => break Err(broken(&wanted.url, error)),
        };
        received = received.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if wanted.bytes < received {
            break Err(SourceError::Source(format!(
                "{} gives more than it should",
                host(&wanted.url)
            )));
        }
        if writer.pieces.send(piece).await.is_err() {
            break Ok(());
        }
        tell(received);
    };
    // What was received is kept in either case.
    let written = writer.finish().await;
    outcome?;
    written
}

/// Where in the file the answer begins.
fn start_of(response: &Response, before: u64) -> Option<u64> {
    match response.status() {
        StatusCode::OK => Some(0),
        StatusCode::PARTIAL_CONTENT => {
            let range = response.headers().get("content-range")?.to_str().ok()?;
            range.starts_with(&format!("bytes {before}-")).then_some(before)
        }
        _ => None,
    }
}

fn broken(url: &Url, error: reqwest::Error) -> SourceError {
    let is_unreachable = error.is_connect() || error.is_timeout();
    let mut told = error.without_url().to_string();
    if is_unreachable {
        told = "cannot be reached".to_owned();
    }
    let message = format!("{} {told}", host(url));
    if is_unreachable { SourceError::Unreachable(message) } else { SourceError::Source(message) }
}

fn cut_off(url: &Url) -> SourceError {
    SourceError::Source(format!("{} ended before all was there", host(url)))
}

/// A URL may carry a password; its host does not.
pub(crate) fn host(url: &Url) -> &str {
    url.host_str().unwrap_or("the source")
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// A thread that writes to disk and hashes, so that neither holds up the runtime.
struct Writer {
    pieces: mpsc::Sender<Bytes>,
    written: tokio::task::JoinHandle<Result<Fingerprint, SourceError>>,
}

impl Writer {
    /// Goes on after the first `start` bytes of what is there.
    fn append(wanted: &Wanted, start: u64) -> Result<Writer, SourceError> {
        let to = wanted.to.clone();
        let file = OpenOptions::new().create(true).append(true).open(&to);
        let file = file.map_err(SourceError::disk(&to))?;
        file.set_len(start).map_err(SourceError::disk(&to))?;
        let (pieces, incoming) = mpsc::channel(PIECES_MAX);
        let written = tokio::task::spawn_blocking(move || write(file, &to, incoming));
        Ok(Writer { pieces, written })
    }

    async fn finish(self) -> Result<Fingerprint, SourceError> {
        drop(self.pieces);
        self.written.await.map_err(SourceError::lost)?
    }
}

fn write(
    mut file: File,
    path: &Path,
    mut incoming: mpsc::Receiver<Bytes>,
) -> Result<Fingerprint, SourceError> {
    let mut fingerprinter = Fingerprinter::default();
    read_file(path, &mut fingerprinter).map_err(SourceError::disk(path))?;
    while let Some(piece) = incoming.blocking_recv() {
        fingerprinter.take(&piece);
        file.write_all(&piece).map_err(SourceError::disk(path))?;
    }
    file.sync_all().map_err(SourceError::disk(path))?;
    Ok(fingerprinter.finish())
}
