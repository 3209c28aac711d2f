//! Tests of the tiers and of the operator's changes to them.

use super::*;

const LARGE: LimitClass = LimitClass::Text(ModelTier::L);

#[test]
fn a_tier_changes_what_it_names_and_keeps_the_rest_of_the_one_it_is_like() {
    let allowed = Allowed { requests: 7, tokens: Some(70) };
    let gold = BuiltIn::Partner.named("gold").with(LARGE, allowed);
    assert_eq!(gold.allowed(LARGE), allowed);
    assert_eq!(gold.allowed(LimitClass::Image), BuiltIn::Partner.tier().allowed(LimitClass::Image));
}

#[test]
fn a_tier_called_default_is_everybodys() {
    let mut tiers = Tiers::default();
    let allowed = Allowed { requests: 7, tokens: Some(70) };
    tiers.set(BuiltIn::Default.tier().with(LARGE, allowed));
    assert_eq!(tiers.named_or_ordinary("default").allowed(LARGE), allowed);
    assert_eq!(tiers.named_or_ordinary("a tier that was taken away").allowed(LARGE), allowed);
}

#[test]
fn the_names_of_the_built_in_tiers_are_their_own() {
    let names: Vec<&str> = BuiltIn::ALL.into_iter().map(BuiltIn::name).collect();
    assert_eq!(names, BuiltIn::NAMES);
}
