//! A scripted engine for music and videos.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, MediaStatus, MediaTicket};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};

/// The engine's output, and its status of submitted jobs.
pub struct StubMediaEngine {
    progress: Mutex<Result<MediaStatus, EngineError>>,
    file: Mutex<Bytes>,
    requests: Mutex<Vec<MediaRequest>>,
    pub submits: AtomicUsize,
    pub takes_addresses: AtomicBool,
}

impl Default for StubMediaEngine {
    fn default() -> StubMediaEngine {
        StubMediaEngine {
            progress: Mutex::new(Ok(MediaStatus::Done)),
            file: Mutex::new(Bytes::new()),
            requests: Mutex::default(),
            submits: AtomicUsize::new(0),
            takes_addresses: AtomicBool::new(true),
        }
    }
}

impl StubMediaEngine {
    /// Sets the status of all jobs.
    pub fn set_status(&self, progress: Result<MediaStatus, EngineError>) {
        *lock_state(&self.progress) = progress;
    }

    /// Sets the output. Default: a small sound or a small video.
    pub fn set_file(&self, file: impl Into<Bytes>) {
        *lock_state(&self.file) = file.into();
    }

    /// The last request.
    pub fn last_request(&self) -> MediaRequest {
        lock_state(&self.requests).last().cloned().expect("something was asked for")
    }
}

impl MediaEngine for StubMediaEngine {
    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<MediaTicket, EngineError>> {
        Box::pin(async move {
            self.submits.fetch_add(1, Ordering::SeqCst);
            lock_state(&self.requests).push(request.clone());
            let kind = if matches!(request, MediaRequest::Music(_)) { "music" } else { "video" };
            Ok(MediaTicket(kind.to_owned()))
        })
    }

    fn poll_status<'a>(
        &'a self,
        _: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaStatus, EngineError>> {
        Box::pin(async move { lock_state(&self.progress).clone() })
    }

    fn download<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let told = lock_state(&self.file).clone();
            let usual = if ticket.0 == "music" { small_sound() } else { small_video() };
            let file = if told.is_empty() { Bytes::from(usual) } else { told };
            let pieces: Vec<Result<Bytes, EngineError>> =
                file.chunks(100).map(|it| Ok(Bytes::copy_from_slice(it))).collect();
            Ok(MediaFile { bytes: stream::iter(pieces).boxed() })
        })
    }

    fn cancel<'a>(&'a self, _: &'a MediaTicket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async { Ok(true) })
    }

    fn accepts_urls(&self) -> bool {
        self.takes_addresses.load(Ordering::SeqCst)
    }
}

/// Starts with the header of a WAV file.
pub fn small_sound() -> Vec<u8> {
    [b"RIFF\0\0\0\0WAVEfmt ".as_slice(), &[7; 300]].concat()
}

/// Starts with the header of an MP4 file.
pub fn small_video() -> Vec<u8> {
    let counted = (0..1000_u32).map(|it| u8::try_from(it % 256).unwrap_or(0));
    b"\0\0\0\x18ftypisom\0\0\0\0".iter().copied().chain(counted).collect()
}

fn lock_state<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
