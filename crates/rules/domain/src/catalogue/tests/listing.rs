//! Tests of the listings.

use super::*;

fn stock() -> Catalogue {
    catalogue(vec![
        image("picture").plays("default").plays("highest_quality"),
        text("writer").plays("default").alias("gpt-4o"),
        code("coder").plays("default_code"),
        text("old").plays("fastest").alias("gpt-3").removed_on("2026-06-01", automatic("writer")),
        text("gone")
            .plays("eliza-default")
            .alias("gpt-2")
            .removed_on("2026-06-01", suggested("old")),
        text("leaving").removed_on("2026-12-01", ModelSuccessor::Nobody),
        text("sleepy").offline(),
    ])
}

#[track_caller]
fn check_list(selection: ModelSelection, now: &str, expected: &[&str]) {
    let stock = stock();
    let ids: Vec<&str> = stock.list(selection, day(now)).map(|it| it.id.as_str()).collect();
    assert_eq!(ids, expected);
}

#[test]
fn a_listing_shows_what_exists_in_the_operators_order() {
    let text = ModelSelection::Type(ModelType::Text);
    check_list(text, NOW, &["writer", "coder", "leaving", "sleepy"]);
    check_list(text, "2026-12-01", &["writer", "coder", "sleepy"]);
    check_list(text, "2026-05-31", &["writer", "coder", "old", "gone", "leaving", "sleepy"]);
    check_list(ModelSelection::All, NOW, &["picture", "writer", "coder", "leaving", "sleepy"]);
    check_list(ModelSelection::Code, NOW, &["coder"]);
    check_list(ModelSelection::Type(ModelType::Video), NOW, &[]);
}

#[track_caller]
fn check_traits(selection: ModelSelection, expected: &[(&str, &str)]) {
    let stock = stock();
    let traits = stock.models_by_trait(selection, day(NOW));
    assert_eq!(traits, expected.iter().copied().collect());
}

#[test]
fn traits_name_the_model_that_answers_to_them_now() {
    check_traits(
        ModelSelection::Type(ModelType::Text),
        &[("default", "writer"), ("default_code", "coder"), ("fastest", "writer")],
    );
    check_traits(ModelSelection::Code, &[("default_code", "coder")]);
}

#[test]
fn among_all_types_a_trait_is_the_text_models() {
    check_traits(
        ModelSelection::All,
        &[
            ("default", "writer"),
            ("default_code", "coder"),
            ("fastest", "writer"),
            ("highest_quality", "picture"),
        ],
    );
}

#[test]
fn the_mapping_leaves_out_what_nobody_answers_to() {
    let stock = stock();
    let mapping = stock.models_by_alias(ModelType::Text, day(NOW));
    assert_eq!(mapping, BTreeMap::from([("gpt-3", "writer"), ("gpt-4o", "writer")]));
    assert!(stock.models_by_alias(ModelType::Image, day(NOW)).is_empty());
}
