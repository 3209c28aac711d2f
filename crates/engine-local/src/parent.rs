//! Notices that the process that started this one is gone: its end of our standard input closes.

use std::io::Read;

use tokio_util::sync::CancellationToken;

/// A token that is cancelled when standard input ends.
pub(crate) fn gone() -> CancellationToken {
    let gone = CancellationToken::new();
    let noticed = gone.clone();
    // A thread of its own: a pending read of standard input would hold the runtime's shutdown up.
    std::thread::spawn(move || {
        drain(std::io::stdin().lock());
        noticed.cancel();
    });
    gone
}

/// Reads until nothing more can come. What comes means nothing.
fn drain(mut input: impl Read) {
    let mut ignored = [0; 256];
    loop {
        match input.read(&mut ignored) {
            Ok(0) => return,
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}
