//! Tests how long a peer may leave a response unaccepted. [`accept_pieces`] stands in for hyper and
//! asks for pieces as hyper does.

use std::convert::Infallible;
use std::future::pending;

use axum::http::Version;
use futures_util::stream;
use http_body_util::BodyExt;
use tokio::time::{Instant, sleep, timeout};

use super::super::idle::OpenRequests;
use super::*;

const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// A little less than the timeout.
const SLOW: Duration = Duration::from_secs(25);
const HOUR: Duration = Duration::from_secs(3600);

fn begun() -> BegunStream {
    let executor = StreamExecutor::new(SEND_TIMEOUT, ConnectionUnsent::new(None));
    executor.begin(OpenRequests::new().begin_request(Version::HTTP_2).unwrap())
}

/// A streamed body of `count` frames.
fn frames(count: usize, bytes: usize) -> Body {
    let frame = move |_| Ok::<_, Infallible>(Bytes::from(vec![b'x'; bytes]));
    Body::from_stream(stream::iter((0..count).map(frame)))
}

/// Time that a peer takes to accept pieces.
#[derive(Clone, Copy)]
enum Pace {
    /// Per piece, whatever its length.
    Piece(Duration),
    /// Per piece of the maximum length; shorter pieces take proportionally less.
    LongPiece(Duration),
}

/// Reads every piece of a response, each when the piece before is accepted.
async fn accept_pieces(response: Response, pace: Pace) {
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        let piece = frame.unwrap().into_data().unwrap();
        let share = piece.len() as f64 / PIECE_BYTES_MAX as f64;
        sleep(match pace {
            Pace::Piece(time) => time,
            Pace::LongPiece(time) => time.mul_f64(share),
        })
        .await;
    }
}

/// Lifetime of a stream, and whether its response was accepted to the end.
struct StreamEnd {
    after: Duration,
    is_whole: bool,
}

async fn watch(body: Body, pace: Pace) -> StreamEnd {
    let begun = begun();
    let progress = Arc::clone(&begun.progress);
    let response = begun.track_response(Response::new(body));
    let whole = Arc::new(AtomicBool::new(false));
    let is_whole = Arc::clone(&whole);
    let stream = async move {
        accept_pieces(response, pace).await;
        is_whole.store(true, Ordering::Relaxed);
    };
    let started = Instant::now();
    let stream = Box::pin(stream);
    let watched = WatchedStream { stream, progress, send_timeout: SEND_TIMEOUT, behind: None };
    let _ = timeout(HOUR, watched).await;
    StreamEnd { after: started.elapsed(), is_whole: whole.load(Ordering::Relaxed) }
}

#[tokio::test]
async fn a_response_is_handed_over_in_pieces_that_lose_nothing() {
    for length in [0, 1, WHOLE_BYTES_MAX, WHOLE_BYTES_MAX + 1, PIECE_BYTES_MAX + 1, 100_000] {
        let sent: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let mut body = begun().track_response(Response::new(Body::from(sent.clone()))).into_body();
        assert_eq!(body.size_hint().exact(), Some(length as u64));
        let (mut received, mut last) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let piece = frame.unwrap().into_data().unwrap();
            assert!(piece.len() <= PIECE_BYTES_MAX);
            last = piece.len();
            received.extend_from_slice(&piece);
        }
        assert!(body.is_end_stream());
        assert!(last <= WHOLE_BYTES_MAX, "{last} bytes of {length} would stay unobserved");
        assert!(received == sent, "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_accepts_nothing_loses_its_stream_in_time() {
    let end = watch(Body::from(vec![0; 100_000]), Pace::Piece(HOUR * 2)).await;
    assert_eq!((end.after, end.is_whole), (SEND_TIMEOUT, false));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_accepts_a_piece_in_each_timeout_gets_the_whole_response() {
    let end = watch(Body::from(vec![0; 100_000]), Pace::LongPiece(SLOW)).await;
    assert!(end.is_whole, "it was reset after {:?}", end.after);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_accepts_a_few_bytes_at_a_time_loses_its_stream() {
    let end = watch(frames(1_000, 100), Pace::Piece(SLOW)).await;
    assert_eq!((end.after, end.is_whole), (SEND_TIMEOUT, false));
}

#[tokio::test(start_paused = true)]
async fn a_response_that_takes_its_time_is_not_its_peers_fault() {
    let slow = stream::unfold(0, |count| async move {
        sleep(SEND_TIMEOUT * 2).await;
        (count < 5).then(|| (Ok::<_, Infallible>(Bytes::from_static(b"word")), count + 1))
    });
    let end = watch(Body::from_stream(slow), Pace::Piece(Duration::ZERO)).await;
    assert!(end.is_whole, "it was reset after {:?}", end.after);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_worked_on_has_no_deadline_here() {
    let BegunStream { progress, .. } = begun();
    let stream = Box::pin(pending::<()>());
    let watched = WatchedStream { stream, progress, send_timeout: SEND_TIMEOUT, behind: None };
    assert!(timeout(HOUR, watched).await.is_err());
}
