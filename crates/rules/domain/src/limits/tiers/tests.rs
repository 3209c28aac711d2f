//! Tests of the tiers and of the operator's changes to them.

use super::*;

const LARGE: LimitClass = LimitClass::Text(ModelTier::L);

#[test]
fn a_tier_changes_what_it_names_and_keeps_the_rest_of_the_one_it_is_like() {
    let allowed = MinuteLimits { requests: 7, tokens: Some(70) };
    let gold = BuiltInTier::Partner.with_name("gold").with_limits(LARGE, allowed);
    assert_eq!(gold.limits_for(LARGE), allowed);
    assert_eq!(
        gold.limits_for(LimitClass::Image),
        BuiltInTier::Partner.to_tier().limits_for(LimitClass::Image)
    );
}

#[test]
fn a_tier_called_default_is_everybodys() {
    let mut tiers = RateLimitTiers::default();
    let allowed = MinuteLimits { requests: 7, tokens: Some(70) };
    tiers.set(BuiltInTier::Default.to_tier().with_limits(LARGE, allowed));
    assert_eq!(tiers.find_or_default("default").limits_for(LARGE), allowed);
    assert_eq!(tiers.find_or_default("a tier that was taken away").limits_for(LARGE), allowed);
}

#[test]
fn the_names_of_the_built_in_tiers_are_their_own() {
    let names: Vec<&str> = BuiltInTier::ALL.into_iter().map(BuiltInTier::name).collect();
    assert_eq!(names, BuiltInTier::NAMES);
}
