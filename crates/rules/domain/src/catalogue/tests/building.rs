//! Tests of the entries that make a catalogue, and of every fault.

use expect_test::{Expect, expect};

use super::*;

/// Prints the faults as `position key: message`, one per line.
#[track_caller]
fn check(models: Vec<CatalogueModel>, expected: Expect) {
    let faults = Catalogue::check_entries(&models);
    let lines: Vec<String> =
        faults.iter().map(|it| format!("{} {}: {it}\n", it.position, it.key)).collect();
    expected.assert_eq(&lines.concat());
    assert_eq!(Catalogue::build(models).err().unwrap_or_default(), faults);
}

#[test]
fn an_empty_catalogue_is_one() {
    check(Vec::new(), expect![""]);
}

#[test]
fn every_fault_is_reported_at_once() {
    let mut lost = text("lost").alias("bad name").plays("default");
    lost.routes.clear();
    lost.region_restrictions.push("Germany".to_owned());
    check(
        vec![text("found").plays("default"), lost, text("found")],
        expect![[r#"
            1 provider: model `lost` has no provider
            1 region_restrictions: `Germany` is no country code; write two capital letters
            1 aliases: `bad name` is no name; use letters, digits and the characters - . _ : / @ +
            1 traits: the trait `default` is already a trait of `found`
            2 id: the id `found` is already the id of a model
        "#]],
    );
}

#[test]
fn two_ids_may_not_differ_by_spelling_alone() {
    check(
        vec![text("llama-3.3-70b"), image("Llama-3-3_70B")],
        expect![[r#"
            1 id: the id `Llama-3-3_70B` differs from the id `llama-3.3-70b` by its spelling alone
        "#]],
    );
}

#[test]
fn an_alias_may_not_take_the_id_of_a_model_of_any_type() {
    check(
        vec![text("one").alias("two"), image("two")],
        expect![[r#"
            0 aliases: the alias `two` is already the id of a model
        "#]],
    );
}

#[test]
fn an_alias_may_spell_its_own_models_id_another_way_but_not_the_same() {
    check(vec![text("llama-3.3").alias("llama-3-3")], expect![""]);
    check(
        vec![text("llama-3.3").alias("llama-3.3")],
        expect![[r#"
            0 aliases: the alias `llama-3.3` is already the id of a model
        "#]],
    );
}

#[test]
fn models_of_different_types_may_share_aliases_and_traits() {
    let shared = |model: CatalogueModel| model.alias("gpt").plays("default");
    check(vec![shared(text("one")), shared(image("two"))], expect![""]);
    check(
        vec![shared(text("one")), shared(text("two"))],
        expect![[r#"
            1 aliases: the alias `gpt` is already an alias of `one`
            1 traits: the trait `default` is already a trait of `one`
        "#]],
    );
}

#[test]
fn a_trait_may_not_look_like_an_id_or_an_alias() {
    check(
        vec![text("fastest"), text("two").plays("fastest")],
        expect![[r#"
            1 traits: the trait `fastest` is already the id of a model
        "#]],
    );
    check(
        vec![text("one").alias("fastest"), text("two").plays("fastest")],
        expect![[r#"
            1 traits: the trait `fastest` is already an alias of `one`
        "#]],
    );
}

#[test]
fn names_have_a_form_and_a_length() {
    let long = "x".repeat(MODEL_NAME_BYTES_MAX + 1);
    check(
        vec![text(""), text("a=b"), text("a b"), text("é"), text(&long)],
        expect![[r#"
            0 id: a name has 1 to 128 characters
            1 id: `a=b` is no name; use letters, digits and the characters - . _ : / @ +
            2 id: `a b` is no name; use letters, digits and the characters - . _ : / @ +
            3 id: `é` is no name; use letters, digits and the characters - . _ : / @ +
            4 id: a name has 1 to 128 characters
        "#]],
    );
    check(vec![text(&long[1..]), text("meta/llama:8b@q4+v2_1.0-x")], expect![""]);
}

#[test]
fn a_replacement_must_be_a_model_of_the_same_type() {
    let models = vec![
        text("one").removed_on(NOW, automatic("tow")),
        text("two").removed_on(NOW, suggested("picture")),
        image("picture"),
    ];
    check(
        models,
        expect![[r#"
            0 deprecation: the replacement `tow` is not the id of a model
            1 deprecation: the replacement `picture` is of type image, but `two` is of type text
        "#]],
    );
}

#[test]
fn replacements_may_not_go_round_in_circles() {
    let models = vec![
        text("one").removed_on(NOW, automatic("two")),
        text("two").removed_on(NOW, automatic("three")),
        text("three").removed_on(NOW, automatic("two")),
        text("four").removed_on(NOW, automatic("four")),
    ];
    check(
        models,
        expect![[r#"
            1 deprecation: the replacements of `two` lead back to it
            2 deprecation: the replacements of `three` lead back to it
            3 deprecation: the replacements of `four` lead back to it
        "#]],
    );
}

#[test]
fn a_suggestion_may_point_back_because_nobody_follows_it() {
    let models = vec![
        text("one").removed_on(NOW, automatic("two")),
        text("two").removed_on(NOW, suggested("one")),
    ];
    check(models, expect![""]);
}

#[test]
fn the_dates_of_a_deprecation_must_be_in_order() {
    let mut late = text("late").removed_on("2026-12-01", ModelSuccessor::Nobody);
    late.deprecation.as_mut().unwrap().starts_at = Some(day("2026-12-02"));
    let mut early = text("early").removed_on("2026-12-01", ModelSuccessor::Nobody);
    early.deprecation.as_mut().unwrap().date = day("2026-12-02");
    check(
        vec![late, early],
        expect![[r#"
            0 deprecation: a deprecation starts, then has its date, then removes the model; `starts_at`, `date` and `removes_at` must be in this order
            1 deprecation: a deprecation starts, then has its date, then removes the model; `starts_at`, `date` and `removes_at` must be in this order
        "#]],
    );
}
