//! Random bytes from the operating system.

use domain::entropy::Entropy;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes once it has booted");
    }
}
