//! Tests of rate limit tiers defined by the operator.

use domain::catalogue::ModelTier;
use domain::limits::tiers::{LimitClass, MinuteLimits};
use expect_test::expect;

use super::ConfigFixture;

const LARGE: LimitClass = LimitClass::Text(ModelTier::L);

#[test]
fn a_tier_of_the_operators_own_is_read() {
    let scene = ConfigFixture::with_config(
        "[[tier]]\nid = \"gold\"\nlike = \"partner\"\ntext_l_requests = 600\nimage_requests = 0\n",
    );
    let config = scene.config();
    let gold = config.tiers.find("gold").unwrap();
    assert_eq!(gold.limits_for(LARGE), MinuteLimits { requests: 600, tokens: Some(1_000_000) });
    assert_eq!(gold.limits_for(LimitClass::Image), MinuteLimits { requests: 0, tokens: None });
    assert_eq!(gold.limits_for(LimitClass::Audio), MinuteLimits { requests: 120, tokens: None });
}

#[test]
fn queueing_and_retrieving_have_bounds_of_their_own() {
    let text = "[[tier]]\nid = \"gold\"\nqueue_requests = 7\nretrieve_requests = 700\n";
    let config = ConfigFixture::with_config(text).config();
    let gold = config.tiers.find("gold").unwrap();
    for (class, requests) in [
        (LimitClass::VideoQueue, 7),
        (LimitClass::AudioQueue, 7),
        (LimitClass::VideoRetrieve, 700),
        (LimitClass::AudioRetrieve, 700),
    ] {
        assert_eq!(gold.limits_for(class), MinuteLimits { requests, tokens: None }, "{class:?}");
    }
}

#[test]
fn faults_of_tiers_are_told_together() {
    let scene = ConfigFixture::with_config(
        "[[tier]]\nid = \"gold\"\n[[tier]]\nid = \"gold\"\nlike = \"silver\"\n\
         [[tier]]\nid = \"gold\"\n[[tier]]\ntext_l_requests = -1\n",
    );
    scene.check_faults(&expect![[r#"
        tollgate.toml:5: `like` in [[tier]] must be one of "default", "partner", "staff", not "silver"
        tollgate.toml:7: a second [[tier]] has the id `gold`
        tollgate.toml:8: `id` is missing in [[tier]]
        tollgate.toml:9: `text_l_requests` in [[tier]] must be a whole number from 0 to 1000000000000, not -1
    "#]]);
}

#[test]
fn top_ups_a_minute_hold_for_callers_who_are_not_known() {
    let allowed = |text: &str| {
        let config = ConfigFixture::with_config(text).config();
        config.tiers.find_or_default("").limits_for(LimitClass::TopUp).requests
    };
    assert_eq!(allowed(""), 10);
    assert_eq!(allowed("[x402]\ntop_ups_per_minute = 25\n"), 25);
    let tier = "[[tier]]\nid = \"default\"\nimage_requests = 1\n";
    assert_eq!(allowed(&format!("{tier}[x402]\ntop_ups_per_minute = 25\n")), 25);
}
