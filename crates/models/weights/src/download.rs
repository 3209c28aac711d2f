//! Downloads one file of known size and hash; resumes an earlier partial download.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::RANGE;
use reqwest::{Client, Response, StatusCode, Url};
use tokio::sync::mpsc;

use crate::digest::{FileFingerprint, FingerprintHasher, hash_file};
use crate::error::SourceError;

/// An interrupted transfer is resumed as long as each attempt makes progress.
const RESUMES_MAX: u32 = 50;
const RESUME_WAIT: Duration = Duration::from_secs(1);
/// Chunks buffered for the disk writer.
const PIECES_MAX: usize = 16;

/// Progress callback, called with the bytes on disk.
pub(crate) type OnProgress = Arc<dyn Fn(u64) + Send + Sync>;

/// A file to download, and its target path.
#[derive(Debug, Clone)]
pub(crate) struct FileDownload {
    pub(crate) url: Url,
    /// Kept if the download fails, so that it can be resumed.
    pub(crate) to: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

pub(crate) async fn download_file(
    client: &Client,
    wanted: &FileDownload,
    tell: &OnProgress,
) -> Result<(), SourceError> {
    let mut resumes = 0;
    let fingerprint = loop {
        let before = file_length(&wanted.to);
        let error = match try_download(client, wanted, before, tell).await {
            Ok(fingerprint) => break fingerprint,
            Err(error) => error,
        };
        let has_grown = before < file_length(&wanted.to);
        let is_last =
            matches!(error, SourceError::Disk { .. }) || !has_grown || RESUMES_MAX <= resumes;
        if is_last {
            return Err(error);
        }
        resumes += 1;
        tracing::debug!(download.resumes = resumes, "a download was interrupted and is resumed");
        tokio::time::sleep(RESUME_WAIT).await;
    };
    if fingerprint.bytes == wanted.bytes && fingerprint.sha256 == wanted.sha256 {
        return Ok(());
    }
    // Deletes a file with a wrong hash so that it is not resumed.
    std::fs::remove_file(&wanted.to).map_err(SourceError::from_disk(&wanted.to))?;
    let name = wanted.url.path_segments().and_then(|mut it| it.next_back()).unwrap_or_default();
    Err(SourceError::Source(format!("{name} from {} has another checksum", host_name(&wanted.url))))
}

/// Sends one request for the missing bytes.
async fn try_download(
    client: &Client,
    wanted: &FileDownload,
    before: u64,
    tell: &OnProgress,
) -> Result<FileFingerprint, SourceError> {
    if before == wanted.bytes {
        return DownloadWriter::append_from(wanted, before)?.finish().await;
    }
    // A file larger than the expected size cannot be a partial download.
    let before = if wanted.bytes < before { 0 } else { before };
    let mut request = client.get(wanted.url.clone());
    if 0 < before {
        request = request.header(RANGE, format!("bytes={before}-"));
    }
    let mut response = request.send().await.map_err(|error| transfer_error(&wanted.url, error))?;
    let start = start_of(&response, before).ok_or_else(|| {
        SourceError::Source(format!("{} answers {}", host_name(&wanted.url), response.status()))
    })?;
    let writer = DownloadWriter::append_from(wanted, start)?;
    let mut received = start;
    let outcome = loop {
        let piece = match response.chunk().await {
            Ok(Some(piece)) => piece,
            Ok(None) if received == wanted.bytes => break Ok(()),
            Ok(None) => break Err(truncation_error(&wanted.url)),
            Err(error) => break Err(transfer_error(&wanted.url, error)),
        };
        received = received.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if wanted.bytes < received {
            break Err(SourceError::Source(format!(
                "{} gives more than it should",
                host_name(&wanted.url)
            )));
        }
        if writer.pieces.send(piece).await.is_err() {
            break Ok(());
        }
        tell(received);
    };
    // Received data is kept in either case.
    let written = writer.finish().await;
    outcome?;
    written
}

/// The file offset at which the response body starts.
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

fn transfer_error(url: &Url, error: reqwest::Error) -> SourceError {
    let is_unreachable = error.is_connect() || error.is_timeout();
    let mut told = error.without_url().to_string();
    if is_unreachable {
        told = "cannot be reached".to_owned();
    }
    let message = format!("{} {told}", host_name(url));
    if is_unreachable { SourceError::Unreachable(message) } else { SourceError::Source(message) }
}

fn truncation_error(url: &Url) -> SourceError {
    SourceError::Source(format!("{} ended before all was there", host_name(url)))
}

/// A URL may contain a password; its host does not.
pub(crate) fn host_name(url: &Url) -> &str {
    url.host_str().unwrap_or("the source")
}

fn file_length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Writes and hashes on a blocking thread.
struct DownloadWriter {
    pieces: mpsc::Sender<Bytes>,
    written: tokio::task::JoinHandle<Result<FileFingerprint, SourceError>>,
}

impl DownloadWriter {
    /// Truncates the file to `start` bytes and appends to it.
    fn append_from(wanted: &FileDownload, start: u64) -> Result<DownloadWriter, SourceError> {
        let to = wanted.to.clone();
        let file = OpenOptions::new().create(true).append(true).open(&to);
        let file = file.map_err(SourceError::from_disk(&to))?;
        file.set_len(start).map_err(SourceError::from_disk(&to))?;
        let (pieces, incoming) = mpsc::channel(PIECES_MAX);
        let written = tokio::task::spawn_blocking(move || write_pieces(file, &to, incoming));
        Ok(DownloadWriter { pieces, written })
    }

    async fn finish(self) -> Result<FileFingerprint, SourceError> {
        drop(self.pieces);
        self.written.await.map_err(SourceError::from_join_error)?
    }
}

fn write_pieces(
    mut file: File,
    path: &Path,
    mut incoming: mpsc::Receiver<Bytes>,
) -> Result<FileFingerprint, SourceError> {
    let mut fingerprinter = FingerprintHasher::default();
    hash_file(path, &mut fingerprinter).map_err(SourceError::from_disk(path))?;
    while let Some(piece) = incoming.blocking_recv() {
        fingerprinter.update(&piece);
        file.write_all(&piece).map_err(SourceError::from_disk(path))?;
    }
    file.sync_all().map_err(SourceError::from_disk(path))?;
    Ok(fingerprinter.finish())
}
