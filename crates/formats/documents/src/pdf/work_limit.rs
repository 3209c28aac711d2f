//! Limits the work for one PDF by counting steps instead of time, so that results are reproducible.

use crate::fault::{self, DocumentReadError};

/// Bytes that are processed, possibly repeatedly, and operations of similar cost. A few seconds at
/// most; real files of 25 MB need a tenth of it.
const STEPS_MAX: u64 = 400_000_000;

pub(super) struct PdfWorkLimit<'a> {
    steps_left: u64,
    unpacked_bytes_left: &'a mut u64,
}

impl<'a> PdfWorkLimit<'a> {
    pub(super) fn new(unpacked_bytes_left: &'a mut u64) -> PdfWorkLimit<'a> {
        PdfWorkLimit { steps_left: STEPS_MAX, unpacked_bytes_left }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), DocumentReadError> {
        let left = u64::try_from(steps).ok().and_then(|steps| self.steps_left.checked_sub(steps));
        self.steps_left = left.ok_or(fault::TOO_MUCH_WORK)?;
        Ok(())
    }

    pub(super) fn spend_unpacked(&mut self, bytes: usize) -> Result<(), DocumentReadError> {
        let left =
            u64::try_from(bytes).ok().and_then(|bytes| self.unpacked_bytes_left.checked_sub(bytes));
        *self.unpacked_bytes_left = left.ok_or(fault::UNPACKS_TOO_LARGE)?;
        self.spend(bytes)
    }
}
