//! Tests of lookup, eviction, and results that are too large.

use super::*;

fn question(params: &str) -> ResultKey {
    ResultKey { network: "base-mainnet", method: "eth_getBlockByHash", params: params.to_owned() }
}

#[test]
fn a_result_is_found_by_network_method_and_parameters() {
    let cache = ResultCache::default();
    cache.put(question("[1]"), "\"one\"");
    assert_eq!(cache.get(&question("[1]")).as_deref(), Some("\"one\""));
    assert_eq!(cache.get(&question("[2]")), None);
    assert_eq!(cache.get(&ResultKey { network: "bsc-mainnet", ..question("[1]") }), None);
    assert_eq!(cache.get(&ResultKey { method: "eth_getHeaderByHash", ..question("[1]") }), None);
}

#[test]
fn what_is_used_stays_and_what_is_not_is_forgotten() {
    let cache = ResultCache::default();
    cache.put(question("used"), "1");
    cache.put(question("unused"), "1");
    let large = "x".repeat(RESULT_BYTES_MAX - 100);
    for number in 0..80 {
        cache.put(question(&number.to_string()), &large);
        assert!(cache.get(&question("used")).is_some(), "after {number}");
    }
    assert_eq!(cache.get(&question("unused")), None);
    let generations = cache.generations.lock().unwrap();
    assert!(generations.young_bytes <= GENERATION_BYTES_MAX);
}

#[test]
fn a_very_large_result_is_not_kept() {
    let cache = ResultCache::default();
    cache.put(question("[1]"), &"x".repeat(RESULT_BYTES_MAX));
    assert_eq!(cache.get(&question("[1]")), None);
}
