//! Bounds the memory for bodies and for files fetched for them, in total and per caller.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::body::Body;
use axum::http::HeaderMap;

use crate::input::metered_body::{BodyError, BodyPace, MeteredBody};
use crate::principal::Principal;
use crate::refusal::Refusal;

/// Bodies up to this size are not counted: one for each connection fits in memory anyway.
const UNCOUNTED_BYTES: usize = 16 * 1024;
/// Divisor for one caller's share of the memory: a half.
const SHARE_OF_ONE: usize = 2;
/// Divisor for the share of all callers without a balance together: a quarter.
const SHARE_OF_UNPAID: usize = 4;

/// The memory held by the bodies of all requests in progress.
#[derive(Debug)]
pub struct BodyMemory {
    bytes_max: usize,
    /// Never held across an await.
    held: Mutex<BodyMemoryInUse>,
}

#[derive(Debug, Default)]
struct BodyMemoryInUse {
    all: usize,
    /// Part of `all` held by callers without a balance.
    unpaid: usize,
    by_caller: HashMap<Principal, usize>,
}

/// The caller that a body counts for, and its address: keys are free, so both are counted.
#[derive(Debug, Clone, Copy)]
pub struct BodyOwner {
    caller: Principal,
    /// None if the caller is known by its address alone.
    address: Option<Principal>,
    has_balance: bool,
}

impl BodyOwner {
    pub fn new(caller: Principal, address: IpAddr, has_balance: bool) -> BodyOwner {
        let address = Some(Principal::Address(address)).filter(|address| *address != caller);
        BodyOwner { caller, address, has_balance }
    }

    /// For a caller without a credential.
    pub fn anonymous(address: IpAddr) -> BodyOwner {
        BodyOwner::new(Principal::Address(address), address, false)
    }

    fn principals(self) -> impl Iterator<Item = Principal> {
        std::iter::once(self.caller).chain(self.address)
    }
}

impl BodyMemory {
    pub fn new(bytes_max: usize) -> BodyMemory {
        BodyMemory { bytes_max, held: Mutex::default() }
    }

    /// A reservation for one request's body, returned on drop.
    pub fn open_reservation(self: &Arc<BodyMemory>, owner: BodyOwner) -> Arc<BodyReservation> {
        let (bodies, fault) = (Arc::clone(self), OnceLock::new());
        let (bytes, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let digest = AtomicU64::new(0);
        Arc::new(BodyReservation { bodies, owner, bytes, taken, digest, fault })
    }

    fn try_reserve(&self, owner: BodyOwner, more: usize) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let share = self.bytes_max / SHARE_OF_ONE;
        let own = |caller| held.by_caller.get(&caller).copied().unwrap_or(0);
        let is_over = owner.principals().any(|caller| share < own(caller) + more);
        if is_over || self.bytes_max < held.all + more {
            return false;
        }
        if !owner.has_balance {
            if self.bytes_max / SHARE_OF_UNPAID < held.unpaid + more {
                return false;
            }
            held.unpaid += more;
        }
        held.all += more;
        owner.principals().for_each(|caller| *held.by_caller.entry(caller).or_default() += more);
        true
    }

    fn release_bytes(&self, owner: BodyOwner, bytes: usize) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all = held.all.saturating_sub(bytes);
        if !owner.has_balance {
            held.unpaid = held.unpaid.saturating_sub(bytes);
        }
        for caller in owner.principals() {
            let Some(own) = held.by_caller.get_mut(&caller) else { continue };
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                held.by_caller.remove(&caller);
            }
        }
    }
}

/// The memory reserved for one request's body.
#[derive(Debug)]
pub struct BodyReservation {
    bodies: Arc<BodyMemory>,
    owner: BodyOwner,
    /// Bytes of the body read so far.
    bytes: AtomicUsize,
    taken: AtomicUsize,
    /// Digest of the bytes read so far.
    digest: AtomicU64,
    fault: OnceLock<BodyError>,
}

impl BodyReservation {
    pub fn meter_body(
        self: &Arc<BodyReservation>,
        body: Body,
        headers: &HeaderMap,
        pace: BodyPace,
    ) -> Body {
        Body::new(MeteredBody::new(body, headers, Arc::clone(self), pace))
    }

    /// The same for a body that is not kept in memory.
    pub fn meter_stream(self: &Arc<BodyReservation>, body: Body, headers: &HeaderMap) -> Body {
        let metered = MeteredBody::new(body, headers, Arc::clone(self), BodyPace::STREAMED);
        Body::new(metered.without_memory())
    }

    /// Bytes of the body read so far.
    pub(crate) fn bytes_read(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn set_digest(&self, digest: u64) {
        self.digest.store(digest, Ordering::Relaxed);
    }

    /// The digest of the body; None without one.
    pub(crate) fn body_digest(&self) -> Option<u64> {
        (0 < self.bytes_read()).then(|| self.digest.load(Ordering::Relaxed))
    }

    /// Reserves `weight` bytes of memory for a body of `bytes` so far. Returns false if there is no
    /// room. Called only by the task that reads the body.
    pub(super) fn grow_to(&self, bytes: usize, weight: usize) -> bool {
        self.bytes.store(bytes, Ordering::Relaxed);
        let taken = self.taken.load(Ordering::Relaxed);
        if weight <= UNCOUNTED_BYTES.max(taken) {
            return true;
        }
        if !self.bodies.try_reserve(self.owner, weight - taken) {
            return false;
        }
        self.taken.store(weight, Ordering::Relaxed);
        true
    }

    /// Reserves memory for a file fetched for the caller, until the request ends.
    pub fn take_more(&self, bytes: usize) -> Result<(), Refusal> {
        if !self.bodies.try_reserve(self.owner, bytes) {
            return Err(Refusal::no_room());
        }
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Returns reserved memory that was not needed.
    pub fn release_bytes(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        self.bodies.release_bytes(self.owner, bytes);
    }

    pub(super) fn record_fault(&self, fault: BodyError) {
        let _ = self.fault.set(fault);
    }

    /// Replaces the result of reading by the refusal for the recorded fault, which would otherwise
    /// look like a body that was cut short.
    pub fn replace_by_fault<T>(&self, read: Result<T, Refusal>) -> Result<T, Refusal> {
        match self.fault.get() {
            None | Some(BodyError::Broken) => read,
            Some(BodyError::TooSlow) => Err(Refusal::too_slow()),
            Some(BodyError::TooManyValues) => Err(Refusal::too_many_values()),
            Some(BodyError::NoRoom) => Err(Refusal::no_room()),
        }
    }
}

impl Drop for BodyReservation {
    fn drop(&mut self) {
        let taken = self.taken.load(Ordering::Relaxed);
        if 0 < taken {
            self.bodies.release_bytes(self.owner, taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use ledger_core::KeyId;
    use uuid::Uuid;

    use super::*;

    /// A room for a key with a balance. Keys whose numbers end in the same digit share an address.
    fn room(bodies: &Arc<BodyMemory>, number: u8) -> Arc<BodyReservation> {
        bodies.open_reservation(owner(number, true))
    }

    fn owner(number: u8, has_balance: bool) -> BodyOwner {
        let key = Principal::Key(KeyId(Uuid::from_u128(number.into())));
        BodyOwner::new(key, IpAddr::V4(Ipv4Addr::new(9, 9, 9, number % 10)), has_balance)
    }

    #[test]
    fn bodies_share_a_bound_and_nobody_has_all_of_it() {
        let bodies = Arc::new(BodyMemory::new(1_000_000));
        let first = room(&bodies, 1);
        assert!(first.grow_to(400_000, 400_000));
        let second = room(&bodies, 11);
        assert!(!second.grow_to(200_000, 200_000), "more than half of the whole");
        let third = room(&bodies, 2);
        assert!(third.grow_to(500_000, 500_000));
        let fourth = room(&bodies, 3);
        assert!(!fourth.grow_to(200_000, 200_000), "more than there is");
        assert!(fourth.grow_to(100, UNCOUNTED_BYTES), "small ones always fit");
        drop(first);
        assert!(second.grow_to(200_000, 200_000));
        assert!(fourth.take_more(200_000).is_ok());
        assert!(third.take_more(100_001).is_err(), "what is fetched counts too");
        fourth.release_bytes(150_000);
        assert!(fourth.take_more(150_000).is_ok());
        drop((second, third, fourth));
        let held = bodies.held.lock().unwrap();
        assert_eq!((held.all, held.by_caller.len()), (0, 0));
    }

    #[test]
    fn callers_without_a_balance_leave_most_of_the_room_to_those_with_one() {
        let bodies = Arc::new(BodyMemory::new(1_000_000));
        let mut unpaid = Vec::new();
        for number in 0..9 {
            let room = bodies.open_reservation(owner(number, false));
            room.grow_to(60_000, 60_000);
            unpaid.push(room);
        }
        let taken = bodies.held.lock().unwrap().all;
        assert_eq!(taken, 240_000, "a quarter of the whole");
        assert!(room(&bodies, 19).grow_to(500_000, 500_000), "a payer is not held up");
        drop(unpaid);
        let held = bodies.held.lock().unwrap();
        assert_eq!((held.all, held.unpaid), (0, 0));
    }
}
