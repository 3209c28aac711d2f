//! A scripted engine for music and videos.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, Progress, Ticket};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};

/// The engine's output, and its status of submitted jobs.
pub struct StubMaker {
    progress: Mutex<Result<Progress, EngineError>>,
    file: Mutex<Bytes>,
    requests: Mutex<Vec<MediaRequest>>,
    pub submits: AtomicUsize,
    pub takes_addresses: AtomicBool,
}

impl Default for StubMaker {
    fn default() -> StubMaker {
        StubMaker {
            progress: Mutex::new(Ok(Progress::Done)),
            file: Mutex::new(Bytes::new()),
            requests: Mutex::default(),
            submits: AtomicUsize::new(0),
            takes_addresses: AtomicBool::new(true),
        }
    }
}

impl StubMaker {
    /// Sets the status of all jobs.
    pub fn says(&self, progress: Result<Progress, EngineError>) {
        *lock(&self.progress) = progress;
    }

    /// Sets the output. Default: a small sound or a small video.
    pub fn makes(&self, file: impl Into<Bytes>) {
        *lock(&self.file) = file.into();
    }

    /// The last request.
    pub fn last_request(&self) -> MediaRequest {
        lock(&self.requests).last().cloned().expect("something was asked for")
    }
}

impl MediaEngine for StubMaker {
    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
        Box::pin(async move {
            self.submits.fetch_add(1, Ordering::SeqCst);
            lock(&self.requests).push(request.clone());
            let kind = if matches!(request, MediaRequest::Music(_)) { "music" } else { "video" };
            Ok(Ticket(kind.to_owned()))
        })
    }

    fn look<'a>(&'a self, _: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(async move { lock(&self.progress).clone() })
    }

    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let told = lock(&self.file).clone();
            let usual = if ticket.0 == "music" { small_sound() } else { small_video() };
            let file = if told.is_empty() { Bytes::from(usual) } else { told };
            let pieces: Vec<Result<Bytes, EngineError>> =
                file.chunks(100).map(|it| Ok(Bytes::copy_from_slice(it))).collect();
            Ok(MediaFile { bytes: stream::iter(pieces).boxed() })
        })
    }

    fn cancel<'a>(&'a self, _: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async { Ok(true) })
    }

    fn takes_addresses(&self) -> bool {
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
