//! Tests with many jobs: owners take turns, each owner's jobs run in order, and memory does not
//! grow with the queue.

use std::collections::HashMap;
use std::sync::Mutex;

use engine::{MediaProgress, MediaStatus};
use store::job::JobId;

use super::fixture::{Script, World, open_store, owner, world_on};
use crate::QueueSettings;

const WORKERS: usize = 4;
const OWNERS: usize = 3;
/// Maximum growth of the process while the queue runs: the test's own lists, and caches.
const GROWTH_BYTES_MAX: u64 = 64 << 20;

/// `JOBS=100` for a quick run.
#[expect(clippy::disallowed_methods, reason = "whoever starts the test says how many")]
fn jobs() -> usize {
    std::env::var("JOBS").ok().and_then(|it| it.parse().ok()).unwrap_or(10_000)
}

#[tokio::test]
async fn ten_thousand_jobs_are_done_once_in_order_and_in_turns_by_four_workers() {
    let folder = tempfile::tempdir().unwrap();
    let settings = QueueSettings {
        workers: WORKERS,
        running_per_owner_max: 2,
        open_per_owner_max: usize::MAX,
        look_every: std::time::Duration::from_millis(1),
        ..QueueSettings::default()
    };
    let world = world_on(open_store(&folder), folder, Script::default(), settings).await;
    let per_owner = jobs() / OWNERS;
    let (owners, queued) = add_jobs(&world, per_owner).await;

    let before = memory_bytes();
    let most_under_way = world.drain().await;
    let grown = memory_bytes().saturating_sub(before);
    assert_eq!(most_under_way, WORKERS, "as many at once as there are workers, and no more");
    assert!(grown < GROWTH_BYTES_MAX, "the process grew by {grown} bytes");

    let taken = world.engine.taken.lock().unwrap().clone();
    assert_eq!(taken.len(), per_owner * OWNERS);
    assert!(taken.values().all(|times| *times == 1), "each was handed in once");
    let order = world.engine.order.lock().unwrap().clone();
    for (number, queued) in &queued {
        // Two of an owner's jobs may run at the same time and overtake each other.
        let done: Vec<&String> = order.iter().filter(|id| owners[*id] == *number).collect();
        for (place, id) in done.iter().enumerate() {
            let expected = queued[id.as_str()];
            assert!(place.abs_diff(expected) <= 1, "owner {number}: {expected} at {place}");
        }
    }
    expect_fair(&order, &owners, per_owner);
    world.expect_sound().await;
}

/// Queues the jobs. Returns the owner of each job, and the jobs of each owner in order. The first
/// owner queues all its jobs before the others.
async fn add_jobs(
    world: &World,
    per_owner: usize,
) -> (HashMap<String, u8>, HashMap<u8, HashMap<String, usize>>) {
    let (mut owners, mut queued) = (HashMap::new(), HashMap::new());
    for number in 1..=OWNERS as u8 {
        let of_owner: &mut HashMap<String, usize> = queued.entry(number).or_default();
        for place in 0..per_owner {
            let id = world.add(number).await.unwrap().0.to_string();
            owners.insert(id.clone(), number);
            of_owner.insert(id, place);
        }
        assert_eq!(world.store.open_jobs(owner(number)).await.unwrap(), per_owner as u64);
    }
    (owners, queued)
}

/// Asserts that of any 99 consecutive jobs each owner has a third, although one queued first.
fn expect_fair(order: &[String], owners: &HashMap<String, u8>, per_owner: usize) {
    const ROW: usize = 99;
    // Near the end some owners have no jobs left.
    let while_all_have = &order[..(per_owner * OWNERS).saturating_sub(ROW)];
    for row in while_all_have.chunks_exact(ROW) {
        for number in 1..=OWNERS as u8 {
            let share = row.iter().filter(|id| owners[*id] == number).count();
            assert!((28..=38).contains(&share), "owner {number} had {share} of {ROW}");
        }
    }
}

/// Resident memory of the process.
fn memory_bytes() -> u64 {
    const PAGE_BYTES: u64 = 4096;
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = told.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok());
    pages.unwrap_or(0) * PAGE_BYTES
}

#[tokio::test]
async fn nobody_is_hidden_behind_owners_that_may_not_have_more_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let settings = QueueSettings {
        workers: 4,
        running_per_owner_max: 1,
        owners_at_once: 1,
        look_every: std::time::Duration::from_millis(1),
        ..QueueSettings::default()
    };
    let looks = Mutex::new(vec![Ok(MediaStatus::Running(MediaProgress::default()))]);
    let script = Script { looks, ..Script::default() };
    let world = world_on(open_store(&folder), folder, script, settings).await;
    let mut queued = Vec::new();
    for of_owner in [1, 1, 2, 2, 3] {
        queued.push(world.add(of_owner).await.unwrap());
    }
    world.begin().await;
    let open = world.open().await.into_iter();
    let under_way: Vec<JobId> = open.filter(|job| job.fence == 1).map(|job| job.id).collect();
    let firsts = [queued[0], queued[2], queued[4]];
    assert_eq!(under_way.len(), firsts.len(), "one of each owner: {under_way:?} of {queued:?}");
    assert!(firsts.iter().all(|id| under_way.contains(id)), "{under_way:?} of {queued:?}");
    // From now on every polled job is done.
    world.engine.looks.lock().unwrap().clear();
    world.to_the_end().await;
    world.expect_sound().await;
}
