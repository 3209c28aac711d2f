//! Detects the death of the parent process by the end of standard input.

use std::io::Read;

use tokio_util::sync::CancellationToken;

/// Returns a token that is cancelled when standard input ends.
pub(crate) fn watch_parent() -> CancellationToken {
    let gone = CancellationToken::new();
    let noticed = gone.clone();
    // A separate thread, because a pending read of standard input would block the runtime's
    // shutdown.
    std::thread::spawn(move || {
        drain_input(std::io::stdin().lock());
        noticed.cancel();
    });
    gone
}

/// Reads and discards input until its end.
fn drain_input(mut input: impl Read) {
    let mut ignored = [0; 256];
    loop {
        match input.read(&mut ignored) {
            Ok(0) => return,
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}
