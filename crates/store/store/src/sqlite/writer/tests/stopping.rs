//! The process stops if the tables refuse a charge that was acknowledged, so that it is not lost.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use super::*;

const SIGABRT: i32 = 6;

/// Runs in a child process that must die, on a database in its working directory; started by the
/// test below.
#[tokio::test]
#[ignore = "ends its process: the test beside it starts it as one of its own"]
async fn spend_what_somebody_took_away() {
    let options = SqliteOptions::scratch(database_in(Path::new(".")));
    drop(furnished(&options));
    let store = patient(&options);
    store.commit(settled(1, 1, 10)).await.unwrap();
    let other = Connection::open(&options.path).unwrap();
    other.execute("UPDATE account SET credits = 9 WHERE owner IS NOT NULL", []).unwrap();
    let _ = store.read_journal(0, 1).await;
}

#[test]
fn charges_that_cannot_be_posted_stop_the_process_and_stay_in_the_log() {
    let directory = directory();
    let child = "sqlite::writer::tests::stopping::spend_what_somebody_took_away";
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", child, "--ignored"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(ended.status.signal(), Some(SIGABRT), "{ended:?}");
    assert_eq!(rows_in_log(directory.path()), 1);
    let error = SqliteStore::open(&options(&directory)).unwrap_err();
    assert!(error.to_string().contains("cannot be posted"), "{error}");
}
