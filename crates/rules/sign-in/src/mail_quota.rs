//! The number of mails that anyone can have sent to a mailbox.

use std::time::Duration;

use moment::Timestamp;

/// Links for one mailbox in an hour. Beyond that no mail is sent, and the answer is the same.
pub const MAILS_PER_HOUR_MAX: usize = 3;

/// True if another link may be sent to a mailbox, given the times of the last ones.
pub fn decide_mail(sent: &[Timestamp], now: Timestamp) -> bool {
    let hour_ago = now.minus(Duration::from_secs(3600));
    sent.iter().filter(|at| hour_ago < **at).count() < MAILS_PER_HOUR_MAX
}
