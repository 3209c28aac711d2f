//! Tests that every background loop is restarted after a panic.

use crate::harness::TestHome;

const CONFIG: &str = r#"
[x402]
pay_to_evm = "0x1111111111111111111111111111111111111111"
settle = "direct"
evm_rpc_url = "http://127.0.0.1:9"
evm_relayer_key = "0x0000000000000000000000000000000000000000000000000000000000000001"

[diem]
contract = "0x2222222222222222222222222222222222222222"
rpc_url = "http://127.0.0.1:9"

[store]
keep_usage_days = 30

[limits]
url = "redis://127.0.0.1:9"
"#;

const LOOPS: [&str; 10] = [
    "chain_watch",
    "control_socket",
    "housekeeping",
    "job_results",
    "jobs",
    "metrics",
    "payments",
    "prune_usage",
    "shared_limits",
    "stakes",
];

#[test]
fn every_loop_that_panics_is_logged_counted_and_starts_again() {
    let home = TestHome::with_config(CONFIG).variable("TOLLGATE_TEST_PANIC_LOOPS", "1");
    let running = home.serve();
    let panicked = LOOPS.map(|name| format!("the loop `{name}` panicked: a test asked"));
    let started = LOOPS.map(|name| format!("the loop `{name}` starts again"));
    running.wait_for_all_in_log(panicked.into_iter().chain(started).collect());
    // The control socket answers, and the gauges set by housekeeping exist.
    home.ok(&["accounts", "credit", "default", "1"]);
    let metrics = running.wait_for_metric("ledger_running 1");
    for name in ["housekeeping", "payments"] {
        let counted = format!("background_panics_total{{loop=\"{name}\"}} 1");
        assert!(metrics.contains(&counted), "{metrics}");
    }
    assert!(running.stop().success());
}
