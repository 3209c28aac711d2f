//! Tests of the syntax of keys, and of every row of the decision table.

use super::*;

const NOW: Timestamp = Timestamp::from_ms(1_000_000_000_000);

fn print_of(body: &str) -> RequestFingerprint {
    RequestFingerprint::of_request("POST", "/crypto/rpc/base-mainnet", body.as_bytes())
}

/// Checks the decision about a request, `later` after `"a"` was answered.
#[track_caller]
fn check(body: &str, later: Duration, expected: IdempotencyDecision) {
    let stored = StoredFingerprint { fingerprint: print_of("a"), expires_at: NOW.plus(LIFETIME) };
    assert_eq!(decide_replay(Some(stored), print_of(body), NOW.plus(later)), expected);
}

#[test]
fn a_new_key_is_fresh() {
    assert_eq!(decide_replay(None, print_of("a"), NOW), IdempotencyDecision::Fresh);
}

#[test]
fn a_done_request_is_replayed_for_a_day_and_then_fresh() {
    check("a", Duration::ZERO, IdempotencyDecision::Replay);
    check("a", LIFETIME - Duration::from_millis(1), IdempotencyDecision::Replay);
    check("a", LIFETIME, IdempotencyDecision::Fresh);
}

#[test]
fn a_key_stands_for_one_request_only_until_it_expires() {
    check("b", LIFETIME - Duration::from_millis(1), IdempotencyDecision::Clash);
    check("b", LIFETIME, IdempotencyDecision::Fresh);
}

#[test]
fn a_key_is_up_to_255_letters_digits_underscores_and_hyphens() {
    let longest = "a".repeat(255);
    for good in ["a", "A_b-9", "-", longest.as_str()] {
        assert_eq!(IdempotencyKey::parse(good).expect(good).as_str(), good);
    }
    let too_long = "a".repeat(256);
    for bad in ["", " ", "a b", "a.b", "ä", "a\n", too_long.as_str()] {
        assert_eq!(IdempotencyKey::parse(bad), Err(BadIdempotencyKey), "{bad:?}");
    }
}

#[test]
fn a_fingerprint_tells_method_path_and_body_apart() {
    let one = RequestFingerprint::of_request("POST", "/a", b"b");
    assert_eq!(one, RequestFingerprint::from_bytes(*one.as_bytes()));
    for other in [("PUT", "/a", "b"), ("POST", "/ab", ""), ("POST", "/", "ab"), ("POST", "/a", "c")]
    {
        assert_ne!(
            one,
            RequestFingerprint::of_request(other.0, other.1, other.2.as_bytes()),
            "{other:?}"
        );
    }
}
