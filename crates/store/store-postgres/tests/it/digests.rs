//! Usage rows that were changed behind the store's back.

use store::conformance::fixture::{
    add_funded_owner, build_charge, build_lot, build_usage_row, record_transfer, today_at,
};
use store::usage_digest::DigestCheck;
use store::write::{StoreWrite, WriteGroup};
use store::{EvidenceStore, Store};

use crate::server::{client, database, store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_request_id_is_found_and_a_row_without_a_digest_is_no_fault() {
    let url = database().await;
    let node = store(&url, "one").await;
    add_funded_owner(&node, 1).await;
    for number in 1..=3 {
        let spent = record_transfer(build_charge(number, build_lot(1), 250));
        let row = StoreWrite::AddUsage(build_usage_row(1, today_at(5), 250));
        node.commit(WriteGroup { writes: vec![spent, row] }).await.unwrap();
    }
    let checks = async || {
        let marks = node.usage_marks(0, 10).await.unwrap();
        marks.iter().map(|mark| mark.digest).collect::<Vec<_>>()
    };
    assert_eq!(checks().await, [DigestCheck::Matching; 3]);
    let raw = client(&url).await;
    let first = "(SELECT min(seq) FROM usage)";
    let changes = format!(
        "UPDATE usage SET request_id = 'another' WHERE seq = {first}; \
         UPDATE usage SET digest = NULL WHERE seq = {first} + 1"
    );
    raw.batch_execute(&changes).await.unwrap();
    let expected = [DigestCheck::Differing, DigestCheck::Absent, DigestCheck::Matching];
    assert_eq!(checks().await, expected);
    node.close().await;
}
