//! Tests of resolving names to models.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// A text model with an id, alias and trait, and models in every stage of deprecation.
fn stock() -> Catalogue {
    let mut announced = text("later").removed_on("2027-01-01", suggested("llama-3.3-70b"));
    announced.deprecation.as_mut().unwrap().starts_at = Some(day("2026-12-01"));
    catalogue(vec![
        image("z-image").plays("default").plays("highest_quality").alias("dall-e-3"),
        text("llama-3.3-70b").plays("default").alias("gpt-4o"),
        text("service-uncensored-1-2").plays("most_uncensored"),
        text("qwen3:4b").plays("fastest").alias("gpt-4o-mini"),
        text("vendor/mixtral"),
        text("sleepy").offline(),
        text("leaving").removed_on("2026-12-01", automatic("llama-3.3-70b")),
        announced,
        text("left").alias("gpt-3").removed_on("2026-06-01", automatic("llama-3.3-70b")),
        text("left-twice").removed_on("2026-06-01", automatic("left")),
        text("dead-end").removed_on("2026-06-01", automatic("buried")),
        text("buried").removed_on("2026-06-02", suggested("qwen3:4b")),
        text("forgotten").removed_on("2026-06-01", ModelSuccessor::Nobody),
        text("to-sleepy").removed_on("2026-06-01", automatic("sleepy")),
    ])
}

#[track_caller]
fn check(asked: &str, wanted: ModelType, expected: Expect) {
    let stock = stock();
    expected.assert_eq(&shown(stock.resolve_model(asked, wanted, day(NOW))));
}

#[track_caller]
fn check_text(asked: &str, expected: Expect) {
    check(asked, ModelType::Text, expected);
}

#[track_caller]
fn check_any(asked: &str, expected: Expect) {
    let stock = stock();
    expected.assert_eq(&shown(stock.find_model(asked, day(NOW))));
}

fn shown(result: Result<ResolvedModel<'_>, ModelResolveError>) -> String {
    match result {
        Ok(ResolvedModel { model, deprecated: None }) => model.id.clone(),
        Ok(ResolvedModel { model, deprecated: Some(it) }) => {
            format!("{} [{} {}]", model.id, it.date(), it.warning())
        }
        Err(unresolved) => {
            let name = format!("{unresolved:?}");
            let variant = name.split([' ', '{']).next().unwrap_or_default();
            format!("{variant}: {unresolved}")
        }
    }
}

#[test]
fn a_model_answers_to_its_id_its_alias_and_its_trait() {
    check_text("llama-3.3-70b", expect!["llama-3.3-70b"]);
    check_text("gpt-4o", expect!["llama-3.3-70b"]);
    check_text("default", expect!["llama-3.3-70b"]);
}

#[test]
fn spelling_is_tolerated() {
    check_text("Llama 3_3.70B", expect!["llama-3.3-70b"]);
    check_text("service-llama-3.3-70b", expect!["llama-3.3-70b"]);
    check_text("uncensored-1.2", expect!["service-uncensored-1-2"]);
    check_text("GPT-4o", expect!["llama-3.3-70b"]);
    check_text("Default", expect!["llama-3.3-70b"]);
}

#[test]
fn a_provider_in_front_is_tolerated_but_not_before_a_trait() {
    check_text("openai/gpt-4o", expect!["llama-3.3-70b"]);
    check_text("vendor/mixtral", expect!["vendor/mixtral"]);
    check_text("openrouter/vendor/Mixtral", expect!["vendor/mixtral"]);
    check_text(
        "openai/default",
        expect!["NotFound: Specified model not found. GET /models lists the models there are."],
    );
}

#[test]
fn each_type_has_its_own_traits() {
    check("default", ModelType::Image, expect!["z-image"]);
    check(
        "default",
        ModelType::Video,
        expect!["NotFound: Specified model not found. GET /models lists the models there are."],
    );
    check_text(
        "highest_quality",
        expect!["NotFound: Specified model not found. GET /models lists the models there are."],
    );
}

#[test]
fn a_model_of_another_type_is_named_as_such() {
    check(
        "llama-3.3-70b",
        ModelType::Image,
        expect![
            "WrongType: Model llama-3.3-70b is of type text; this endpoint takes models of type image"
        ],
    );
    check_text(
        "dall-e-3",
        expect![
            "WrongType: Model z-image is of type image; this endpoint takes models of type text"
        ],
    );
}

#[test]
fn an_unknown_model_is_answered_with_the_nearest_names() {
    check_text(
        "lama-3.3-70b",
        expect!["NotFound: Specified model not found. Did you mean llama-3.3-70b?"],
    );
    check_text(
        "gpt-4o-minni",
        expect!["NotFound: Specified model not found. Did you mean gpt-4o-mini or gpt-4o?"],
    );
    check_text(
        "xyzzy",
        expect!["NotFound: Specified model not found. GET /models lists the models there are."],
    );
    check_text(
        "",
        expect!["NotFound: Specified model not found. GET /models lists the models there are."],
    );
    check(
        "dalle-3",
        ModelType::Image,
        expect!["NotFound: Specified model not found. Did you mean dall-e-3?"],
    );
}

#[test]
fn models_that_are_gone_are_not_suggested() {
    check_text(
        "leftt",
        expect!["NotFound: Specified model not found. GET /models lists the models there are."],
    );
}

#[test]
fn a_model_on_its_way_out_answers_with_a_warning() {
    check_text(
        "leaving",
        expect![
            "leaving [2026-12-01 Model leaving is deprecated and will be removed on 2026-12-01. After that llama-3.3-70b answers in its place.]"
        ],
    );
}

#[test]
fn nobody_is_warned_before_a_deprecation_starts() {
    check_text("later", expect!["later"]);
}

#[test]
fn a_removed_model_is_replaced_wherever_the_replacements_lead() {
    check_text(
        "left",
        expect![
            "llama-3.3-70b [2026-06-01 Model left was removed on 2026-06-01; llama-3.3-70b answers in its place.]"
        ],
    );
    check_text(
        "gpt-3",
        expect![
            "llama-3.3-70b [2026-06-01 Model left was removed on 2026-06-01; llama-3.3-70b answers in its place.]"
        ],
    );
    check_text(
        "left-twice",
        expect![
            "llama-3.3-70b [2026-06-01 Model left-twice was removed on 2026-06-01; llama-3.3-70b answers in its place.]"
        ],
    );
}

#[test]
fn a_removed_model_without_an_automatic_replacement_is_gone() {
    check_text(
        "buried",
        expect!["Gone: Model buried has been removed. Please use qwen3:4b instead."],
    );
    check_text(
        "forgotten",
        expect!["Gone: Model forgotten has been removed. GET /models lists the models there are."],
    );
    check_text(
        "dead-end",
        expect!["Gone: Model dead-end has been removed. Please use qwen3:4b instead."],
    );
}

#[test]
fn an_offline_model_does_not_run_but_can_be_looked_at() {
    check_text(
        "sleepy",
        expect![
            "Offline: The model is temporarily offline. Please try again later or use another model."
        ],
    );
    check_text(
        "to-sleepy",
        expect![
            "Offline: The model is temporarily offline. Please try again later or use another model."
        ],
    );
    check_any("sleepy", expect!["sleepy"]);
}

#[test]
fn looking_at_a_model_takes_every_type_and_text_first() {
    check_any("default", expect!["llama-3.3-70b"]);
    check_any("highest_quality", expect!["z-image"]);
    check_any("dall-e-3", expect!["z-image"]);
    check_any("z-imag", expect!["NotFound: Specified model not found. Did you mean z-image?"]);
    check_any(
        "left",
        expect![
            "llama-3.3-70b [2026-06-01 Model left was removed on 2026-06-01; llama-3.3-70b answers in its place.]"
        ],
    );
    check_any(
        "forgotten",
        expect!["Gone: Model forgotten has been removed. GET /models lists the models there are."],
    );
}

#[test]
fn removal_happens_at_the_moment_and_not_before() {
    let stock = stock();
    let removes_at = day("2026-12-01");
    let before = Timestamp::from_ms(removes_at.ms() - 1);
    let answering =
        |now| stock.resolve_model("leaving", ModelType::Text, now).unwrap().model.id.clone();
    assert_eq!(answering(before), "leaving");
    assert_eq!(answering(removes_at), "llama-3.3-70b");
}

#[test]
fn a_name_that_is_too_long_is_not_even_compared() {
    let long = "llama-3.3-70b".repeat(10_000);
    let unresolved = stock().find_model(&long, day(NOW)).unwrap_err();
    assert_eq!(unresolved, ModelResolveError::NotFound { nearest: Vec::new() });
}

proptest! {
    #[test]
    fn no_name_panics_and_suggestions_are_few_and_real(asked in ".{0,200}") {
        let stock = stock();
        let suffixed = split_suffix(&asked);
        let Err(unresolved) = stock.find_model(suffixed.model, day(NOW)) else { return Ok(()) };
        if let ModelResolveError::NotFound { nearest } = unresolved {
            prop_assert!(nearest.len() <= 3);
            for name in nearest {
                prop_assert!(stock.find_model(&name, day(NOW)).is_ok());
            }
        }
    }

    #[test]
    fn every_name_in_the_traits_and_the_mapping_resolves_to_what_they_say(offset_days in 0..400i64) {
        let stock = stock();
        let now = Timestamp::start_of_day(day("2026-01-01").unix_day() + offset_days);
        for model_type in ModelType::ALL.iter().copied() {
            let mut names = stock.models_by_trait(ModelSelection::Type(model_type), now);
            names.extend(stock.models_by_alias(model_type, now));
            for (name, id) in names {
                match stock.resolve_model(name, model_type, now) {
                    Ok(resolved) => prop_assert_eq!(&resolved.model.id, id),
                    Err(refused) => {
                        let is_offline = matches!(refused, ModelResolveError::Offline { .. });
                        prop_assert!(is_offline, "{} is listed as {}", name, id);
                    }
                }
            }
        }
    }
}
