//! Bounds on the files of an owner.

use ledger_core::OwnerId;
use store::file::FileTotals;
use uuid::Uuid;

use crate::room::{FileRoom, RoomFault, RoomTerms};

fn terms(files: u64, bytes: u64) -> RoomTerms {
    RoomTerms { stored: FileTotals { files, bytes }, most: FileTotals { files: 3, bytes: 100 } }
}

fn owner(number: u128) -> OwnerId {
    OwnerId(Uuid::from_u128(number))
}

#[test]
fn files_that_arrive_at_once_count_together() {
    let room = FileRoom::default();
    let mut first = room.reserve(owner(1), terms(1, 40)).unwrap();
    let mut second = room.reserve(owner(1), terms(1, 40)).unwrap();
    let third = room.reserve(owner(1), terms(1, 40));
    assert_eq!(third.unwrap_err(), RoomFault::Files { most: 3 });
    first.grow(30).unwrap();
    assert_eq!(second.grow(31), Err(RoomFault::Bytes { most: 100 }));
    second.grow(30).unwrap();
    let mut other = room.reserve(owner(2), terms(0, 0)).unwrap();
    other.grow(100).unwrap();
    drop(first);
    second.grow(30).unwrap();
}

#[test]
fn an_owner_at_its_bound_gets_no_place() {
    let room = FileRoom::default();
    assert_eq!(room.reserve(owner(1), terms(3, 0)).unwrap_err(), RoomFault::Files { most: 3 });
    let mut last = room.reserve(owner(1), terms(2, 100)).unwrap();
    assert_eq!(last.grow(1), Err(RoomFault::Bytes { most: 100 }));
}
