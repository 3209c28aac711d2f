//! Tests that after a crash just before or just after any write, the next process brings every job
//! to its one correct end.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::{ContentRefusal, EngineError, MediaProgress, MediaStatus};
use store::intercept::{InterceptedStore, StoreInterceptor};
use store::job::JobState;
use store::write::WriteGroup;
use store::{CommitFuture, Store};

use super::fixture::{Script, World, open_store, sound, world_on};
use crate::QueueSettings;

/// Simulates a crash at a write: from then on nothing is written and no call returns.
struct Dying {
    is_armed: AtomicBool,
    at: usize,
    after: bool,
    writes: AtomicUsize,
    is_dead: AtomicBool,
}

impl StoreInterceptor for Dying {
    fn commit(&self, inner: &Arc<dyn Store>, group: WriteGroup) -> CommitFuture {
        if !self.is_armed.load(Ordering::SeqCst) {
            return inner.commit(group);
        }
        if self.is_dead.load(Ordering::SeqCst) {
            return Box::pin(std::future::pending());
        }
        if self.writes.fetch_add(1, Ordering::SeqCst) < self.at {
            return inner.commit(group);
        }
        self.is_dead.store(true, Ordering::SeqCst);
        if self.after {
            let commit = inner.commit(group);
            return Box::pin(async move {
                let _ = commit.await;
                std::future::pending().await
            });
        }
        Box::pin(std::future::pending())
    }
}

fn list<T>(answers: impl IntoIterator<Item = T>) -> Mutex<Vec<T>> {
    Mutex::new(answers.into_iter().collect())
}

/// A scenario of a job, with its name.
type Story = (&'static str, fn() -> Script);

/// All scenarios of a job.
fn scripts() -> Vec<Story> {
    vec![
        ("it succeeds", Script::default),
        ("it takes a while", || Script {
            looks: list([
                Ok(MediaStatus::Running(MediaProgress::default())),
                Ok(MediaStatus::Running(MediaProgress::default())),
                Ok(MediaStatus::Done),
            ]),
            ..Script::default()
        }),
        ("its engine knows names", || Script { knows_names: true, ..Script::default() }),
        ("its provider fails", || Script {
            looks: list([Ok(MediaStatus::Failed { message: "no".into() })]),
            ..Script::default()
        }),
        ("its provider refuses it", || Script {
            looks: list([Ok(MediaStatus::Refused(ContentRefusal::default()))]),
            ..Script::default()
        }),
        ("its provider is away", || Script {
            submits: list([Err(EngineError::Unreachable { cause: String::new() })]),
            ..Script::default()
        }),
        ("its result comes late", || Script {
            fetches: list([Err(EngineError::Unreachable { cause: String::new() }), Ok(sound())]),
            ..Script::default()
        }),
    ]
}

#[tokio::test]
async fn a_process_may_die_at_any_write() {
    for (story, script) in scripts() {
        let mut deaths = 0;
        for at in 0.. {
            let mut has_died = false;
            for after in [false, true] {
                has_died |= die_and_go_on(story, script(), at, after).await;
            }
            if !has_died {
                break;
            }
            deaths += 2;
        }
        assert!(5 < deaths, "{story}: {deaths} deaths");
    }
}

/// Returns true if the process crashed before the job was done.
async fn die_and_go_on(story: &str, script: Script, at: usize, after: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let plain = open_store(&folder);
    let dying = Arc::new(Dying {
        is_armed: AtomicBool::new(false),
        at,
        after,
        writes: AtomicUsize::new(0),
        is_dead: AtomicBool::new(false),
    });
    let store: Arc<dyn Store> = Arc::new(InterceptedStore::new(plain.clone(), dying.clone()));
    let settings =
        QueueSettings { look_every: Duration::from_millis(1), ..QueueSettings::default() };
    let world = world_on(store, folder, script, settings).await;
    dying.is_armed.store(true, Ordering::SeqCst);
    let until_dead = async {
        while !dying.is_dead.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // Flushes the last write to disk.
        plain.commit(WriteGroup::default()).await.unwrap();
    };
    let life = async {
        world.add(1).await.unwrap();
        world.to_the_end().await;
    };
    let has_died = tokio::select! {
        () = life => false,
        () = until_dead => true,
    };
    let world = world.restart(plain).await;
    world.to_the_end().await;
    world.expect_sound().await;
    expect_one_end(&world, &format!("{story}, dead at write {at}, after it: {after}")).await;
    has_died
}

async fn expect_one_end(world: &World, story: &str) {
    let jobs = world.all().await;
    assert!(jobs.len() <= 1, "{story}: {jobs:?}");
    let Some(job) = jobs.first() else { return };
    let taken = world.engine.taken.lock().unwrap().values().sum::<usize>();
    // A job that a provider has is polled and never submitted again, unless the engine deduplicates
    // submissions.
    if job.state == JobState::Completed && !world.engine.knows_names {
        assert_eq!(taken, 1, "{story}: {job:?}");
    }
    assert!(job.attempts <= crate::ATTEMPTS_MAX, "{story}: {job:?}");
}
