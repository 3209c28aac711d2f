//! Owners take turns; each owner's jobs go in the order in which they were queued.

use std::collections::HashMap;

use super::fixture::{Script, open_store, world_on};
use crate::Settings;

/// `JOBS=10000 cargo test -p jobs --release owners` for the real thing.
#[expect(clippy::disallowed_methods, reason = "whoever starts the test says how many")]
fn jobs() -> usize {
    std::env::var("JOBS").ok().and_then(|it| it.parse().ok()).unwrap_or(300)
}

#[tokio::test]
async fn owners_take_turns_and_jobs_of_one_owner_stay_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        workers: 4,
        running_per_owner_max: 1,
        open_per_owner_max: usize::MAX,
        look_every: std::time::Duration::from_millis(1),
        ..Settings::default()
    };
    let world = world_on(open_store(&folder), folder, Script::default(), settings).await;
    let mut queued: HashMap<String, u8> = HashMap::new();
    let mut expected: HashMap<u8, Vec<String>> = HashMap::new();
    let per_owner = jobs() / 3;
    // The first owner queues everything before the others come.
    for of_owner in 1..=3 {
        for _ in 0..per_owner {
            let id = world.add(of_owner).await.unwrap().0.to_string();
            queued.insert(id.clone(), of_owner);
            expected.entry(of_owner).or_default().push(id);
        }
    }
    world.to_the_end().await;
    let order = world.engine.order.lock().unwrap().clone();
    for (of_owner, expected) in &expected {
        let done: Vec<&String> = order.iter().filter(|id| queued[*id] == *of_owner).collect();
        assert!(done.iter().copied().eq(expected), "owner {of_owner}");
    }
    let first: Vec<u8> = order[..per_owner].iter().map(|id| queued[id]).collect();
    for of_owner in 1..=3 {
        let share = first.iter().filter(|it| **it == of_owner).count();
        let least = per_owner / 3 - per_owner / 10;
        assert!(least < share, "owner {of_owner} had {share} of the first {per_owner}");
    }
    if jobs() <= 1000 {
        world.expect_sound().await;
    }
}

#[tokio::test]
async fn nobody_is_hidden_behind_owners_that_may_not_have_more_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        Settings { workers: 4, running_per_owner_max: 1, owners_at_once: 1, ..Settings::default() };
    let world = world_on(open_store(&folder), folder, Script::default(), settings).await;
    let mut queued = Vec::new();
    for of_owner in [1, 1, 2, 2, 3] {
        queued.push(world.add(of_owner).await.unwrap().0.to_string());
    }
    world.begin().await;
    let under_way: Vec<String> = world
        .open()
        .await
        .into_iter()
        .filter(|job| job.fence == 1)
        .map(|job| job.id.0.to_string())
        .collect();
    assert_eq!(under_way.len(), 3, "one of each owner: {under_way:?} of {queued:?}");
    world.to_the_end().await;
    world.expect_sound().await;
}
