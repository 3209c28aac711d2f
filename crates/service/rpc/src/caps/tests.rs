//! Tests of counting several callers, releasing credits, and dropping windows.

use std::time::Duration;

use super::*;

const NOW: Timestamp = Timestamp::from_ms(1_000_000_000_000);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn caps(charged: &[(u32, Timestamp, u64)]) -> Arc<CreditCaps<u32>> {
    Arc::new(CreditCaps::rebuild(charged.iter().copied(), 100, NOW))
}

#[track_caller]
fn check(caps: &Arc<CreditCaps<u32>>, owner: u32, remaining: u64) {
    let refused = caps.reserve(owner, 1_000, NOW).err().expect("far too much");
    assert_eq!(refused.remaining, remaining);
}

#[test]
fn each_caller_has_a_cap_of_its_own() {
    let caps = caps(&[(1, NOW, 30), (1, NOW.minus(Duration::from_secs(3600)), 20), (2, NOW, 5)]);
    check(&caps, 1, 50);
    check(&caps, 2, 95);
    check(&caps, 3, 100);
}

#[test]
fn what_is_set_aside_counts_until_it_is_settled_or_dropped() {
    let caps = caps(&[]);
    let first = caps.reserve(1, 60, NOW).expect("room");
    let second = caps.reserve(1, 40, NOW).expect("room");
    check(&caps, 1, 0);
    drop(second);
    check(&caps, 1, 40);
    first.settle(5, NOW);
    check(&caps, 1, 95);
}

#[test]
fn windows_with_nothing_in_them_are_forgotten() {
    let caps = caps(&[]);
    for owner in 0..WINDOWS_SWEPT_MIN as u32 {
        caps.reserve(owner, 1, NOW).expect("room").settle(u32::from(owner == 7), NOW);
    }
    let _kept = caps.reserve(5_000, 1, NOW).expect("room");
    assert_eq!(caps.lock().by_owner.len(), 2, "the one that spent and the new one");
    let later = NOW.plus(DAY);
    caps.lock().swept_at = 0;
    let _new = caps.reserve(6_000, 1, later).expect("room");
    assert_eq!(caps.lock().by_owner.len(), 2, "the one that waits and the new one");
}
