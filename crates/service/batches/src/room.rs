//! Bounds the number and size of an owner's files, with those that are being received.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ledger_core::OwnerId;
use store::file::FileTotals;

/// The files that are being received, by owner.
#[derive(Debug, Default, Clone)]
pub(crate) struct FileRoom {
    receiving: Arc<Mutex<HashMap<OwnerId, FileTotals>>>,
}

/// The bounds of an owner, and what it has stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoomTerms {
    pub(crate) stored: FileTotals,
    pub(crate) most: FileTotals,
}

/// The share of one file that is being received, returned on drop.
#[derive(Debug)]
pub(crate) struct FileReservation {
    room: FileRoom,
    owner: OwnerId,
    terms: RoomTerms,
    bytes: u64,
}

/// The bound that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoomFault {
    Files { most: u64 },
    Bytes { most: u64 },
}

impl FileRoom {
    pub(crate) fn reserve(
        &self,
        owner: OwnerId,
        terms: RoomTerms,
    ) -> Result<FileReservation, RoomFault> {
        let mut receiving = self.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        let own = receiving.entry(owner).or_default();
        if terms.most.files <= terms.stored.files + own.files {
            if own.files == 0 {
                receiving.remove(&owner);
            }
            return Err(RoomFault::Files { most: terms.most.files });
        }
        own.files += 1;
        drop(receiving);
        Ok(FileReservation { room: self.clone(), owner, terms, bytes: 0 })
    }
}

impl FileReservation {
    /// Reserves more bytes for the file.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), RoomFault> {
        let mut receiving = self.room.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        let own = receiving.entry(self.owner).or_default();
        if self.terms.most.bytes < self.terms.stored.bytes + own.bytes + bytes {
            return Err(RoomFault::Bytes { most: self.terms.most.bytes });
        }
        own.bytes += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for FileReservation {
    fn drop(&mut self) {
        let mut receiving = self.room.receiving.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = receiving.get_mut(&self.owner) else { return };
        own.files = own.files.saturating_sub(1);
        own.bytes = own.bytes.saturating_sub(self.bytes);
        if own.files == 0 {
            receiving.remove(&self.owner);
        }
    }
}
