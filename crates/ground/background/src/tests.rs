//! Tests of loops that panic, return and are stopped.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use tokio::sync::Notify;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_loop_that_panics_starts_again_and_one_that_returns_does_not() {
    let (runs, stop) = (AtomicUsize::new(0), CancellationToken::new());
    let begun = Instant::now();
    supervise_loop("test", stop, |_| async {
        assert!(3 <= runs.fetch_add(1, Ordering::Relaxed), "too early");
    })
    .await;
    assert_eq!(runs.into_inner(), 4);
    assert_eq!(begun.elapsed().as_secs(), 1 + 2 + 4);
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_the_loop_is_made_is_caught_as_well() {
    let stop = CancellationToken::new();
    let mut runs = 0;
    supervise_loop("test", stop, |_| {
        runs += 1;
        assert!(runs == 2, "the first run");
        std::future::ready(())
    })
    .await;
    assert_eq!(runs, 2);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_for_the_next_start() {
    let (stop, panicked) = (CancellationToken::new(), Arc::new(Notify::new()));
    let (ending, noted) = (stop.clone(), Arc::clone(&panicked));
    let begun = Instant::now();
    let supervised = supervise_loop("test", stop, move |_| {
        let noted = Arc::clone(&noted);
        async move {
            noted.notify_one();
            panic!("always");
        }
    });
    let stopping = async {
        panicked.notified().await;
        ending.cancel();
    };
    tokio::join!(supervised, stopping);
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn the_cause_of_a_panic_is_its_message() {
    assert_eq!(catch_panic("test", async { 7 }).await, Some(7));
    assert_eq!(catch_panic("test", async { panic!("{}", 1 + 1) }).await, None::<()>);
    for (payload, cause) in [
        (Box::new("text") as Box<dyn Any + Send>, "text"),
        (Box::new("owned".to_owned()), "owned"),
        (Box::new(7), "no message"),
    ] {
        assert_eq!(panic_message(payload.as_ref()), cause);
    }
}
