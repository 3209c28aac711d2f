//! Random bytes from the operating system.

use std::cell::RefCell;

use domain::entropy::EntropySource;

/// Random bytes fetched at once. Each request uses several ids, and a system call costs more than
/// generating one.
const AHEAD_BYTES: usize = 512;

thread_local! {
    /// Fetched and unused bytes, taken from the end of the vector.
    static AHEAD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemEntropy;

impl EntropySource for SystemEntropy {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        AHEAD.with_borrow_mut(|ahead| {
            if ahead.len() < bytes.len() {
                ahead.resize(AHEAD_BYTES.max(bytes.len()), 0);
                fill_from_system(ahead);
            }
            let unused = ahead.len() - bytes.len();
            bytes.copy_from_slice(&ahead[unused..]);
            // Used bytes are erased, so that they are neither returned twice nor left in memory.
            ahead[unused..].fill(0);
            ahead.truncate(unused);
        });
    }
}

fn fill_from_system(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system gives random bytes once it has booted");
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_bytes_are_given_out_twice() {
        let mut seen = HashSet::new();
        for length in [16, 10, 32, 7, 600].into_iter().cycle().take(500) {
            let mut bytes = vec![0; length];
            SystemEntropy.fill_bytes(&mut bytes);
            // A repetition of six random bytes is expected once in millions of runs.
            for window in bytes.chunks_exact(6) {
                assert!(seen.insert(window.to_vec()), "{window:?} came before");
            }
        }
    }
}
