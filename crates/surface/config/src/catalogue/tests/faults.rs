//! Tests of the faults in an entry and their lines.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::outcome;

#[track_caller]
fn check(text: &str, expected: Expect) {
    let (_, faults) = outcome(text);
    expected.assert_eq(&faults);
}

/// Returns a text model with `lines` appended from line 6 on.
fn text_model(lines: &str) -> String {
    format!(
        "[[model]]\nid = \"llama\"\ntype = \"text\"\nprovider = \"main\"\ncontext_tokens = 8192\n\
         {lines}\n"
    )
}

const PRICE: &str = "price = { input_usd_per_million = \"1\", output_usd_per_million = \"2\" }";

#[track_caller]
fn check_text(lines: &str, expected: Expect) {
    check(&text_model(&format!("{lines}\n{PRICE}")), expected);
}

#[track_caller]
fn check_price(price: &str, expected: Expect) {
    check(&text_model(&format!("price = {price}")), expected);
}

/// Checks a model of another type with `lines` appended from line 5 on.
#[track_caller]
fn check_type(model_type: &str, lines: &str, expected: Expect) {
    let head = format!("[[model]]\nid = \"it\"\ntype = \"{model_type}\"\nprovider = \"main\"\n");
    check(&format!("{head}{lines}\n"), expected);
}

#[test]
fn unknown_keys_are_named_with_the_nearest_one() {
    check_text(
        "contxt_tokens = 1\nvoices = []",
        expect![[r#"
        models.toml:6: unknown key `contxt_tokens` in [[model]] "llama" of type text; did you mean `context_tokens`?
        models.toml:7: unknown key `voices` in [[model]] "llama" of type text
    "#]],
    );
    check_price(
        r#"{ input_usd_per_milion = "1", output_usd_per_million = "2" }"#,
        expect![[r#"
        models.toml:6: unknown key `input_usd_per_milion` in `price` of [[model]] "llama" of type text; did you mean `input_usd_per_million`?
        models.toml:6: `input_usd_per_million` is missing in `price` of [[model]] "llama" of type text
    "#]],
    );
}

#[test]
fn defaults_and_dropped_fields_are_checked_by_name_and_kind() {
    let told = |lines: &str| outcome(&text_model(&format!("{lines}\n{PRICE}"))).1;
    for (lines, expected) in [
        ("defaults = { temperatur = 1 }", "unknown key `temperatur` in `defaults`"),
        ("defaults = { temperature = \"hot\" }", "must be a number from 0 to 2, not \"hot\""),
        ("defaults = { temperature = true }", "must be a number from 0 to 2, not true"),
        ("defaults = { temperature = \"2.1\" }", "must be a number from 0 to 2"),
        ("defaults = { top_k = \"1.5\" }", "must be a whole number from 0 to 4294967295"),
        ("defaults = 1", "must be a table"),
        ("drop = [\"topp\"]", "not \"topp\"; did you mean `top_p`?"),
        ("drop = [\"model\"]", "not \"model\""),
        (
            "default_top_p = 0.5\ndefaults = { top_p = 0.9 }",
            "`default_top_p` and `defaults.top_p` set the same; keep the latter",
        ),
    ] {
        let faults = told(lines);
        assert!(faults.starts_with("models.toml:6: "), "{lines}: {faults}");
        assert!(faults.contains(expected), "{lines}: {faults}");
    }
    for right in ["\"0.7\"", "0.7"] {
        let lines = format!(
            "defaults = {{ temperature = {right}, seed = \"-1\" }}\ndrop = [\"top_p\", \"seed\"]"
        );
        let (models, faults) = outcome(&text_model(&format!("{lines}\n{PRICE}")));
        assert_eq!(faults, "");
        let text = models[0].text_spec().expect("a text model");
        assert_eq!((text.sampling.temperature, text.sampling.seed), (Some(0.7), Some(-1)));
        assert_eq!(text.dropped_fields.len(), 2);
    }
}

#[test]
fn unknown_words_are_named_with_the_nearest_one() {
    check_text(
        "capabilities = [\"tools\", \"visoin\"]\ntier = \"XXL\"",
        expect![[r#"
            models.toml:6: `capabilities` in [[model]] "llama" of type text must be one of "code", "tools", "audio_input", "reasoning", "reasoning_effort", "json_schema", "multiple_images", "vision", "video_input", "documents", "web_search", "logprobs", "tee_attestation", "e2ee", "x_search", not "visoin"; did you mean `vision`?
            models.toml:7: `tier` in [[model]] "llama" of type text must be one of "XS", "S", "M", "L", not "XXL"
        "#]],
    );
    check(
        "[[model]]\nid = \"x\"\ntype = \"txt\"\n",
        expect![[r#"
        models.toml:3: `type` in [[model]] "x" must be one of "asr", "embedding", "image", "music", "text", "tts", "upscale", "inpaint", "video", "rerank", "moderation", not "txt"; did you mean `text`?
    "#]],
    );
}

#[test]
fn everything_that_is_missing_is_named() {
    check(
        "[[model]]\n",
        expect![[r#"
        models.toml:1: `type` is missing in [[model]]
    "#]],
    );
    check(
        "[[model]]\ntype = \"text\"\n",
        expect![[r#"
        models.toml:1: `context_tokens` is missing in [[model]] of type text
        models.toml:1: `price` is missing in [[model]] of type text
        models.toml:1: `id` is missing in [[model]] of type text
        models.toml:1: `provider` is missing in [[model]] of type text
    "#]],
    );
}

#[test]
fn what_is_no_table_of_models_is_refused() {
    check(
        "model = 3\n",
        expect![[r#"
        models.toml:1: `model` must be a list, written [[model]]
    "#]],
    );
    check(
        "model = [3]\n",
        expect![[r#"
        models.toml:1: [[model]] must be a table, not a whole number
    "#]],
    );
}

#[test]
fn prices_are_exact_decimals_in_quotes() {
    check_price(
        r#"{ input_usd_per_million = 0.7, output_usd_per_million = "2" }"#,
        expect![[r#"
        models.toml:6: `input_usd_per_million` in `price` of [[model]] "llama" of type text must be a decimal amount in quotes, such as "0.70", not 0.7
    "#]],
    );
    check_price(
        r#"{ input_usd_per_million = "-1", output_usd_per_million = "2" }"#,
        expect![[r#"
        models.toml:6: `input_usd_per_million` in `price` of [[model]] "llama" of type text: write an amount without a sign, zero or more
    "#]],
    );
    check_price(
        r#"{ input_usd_per_million = "0.0000001", output_usd_per_million = "2" }"#,
        expect![[r#"
        models.toml:6: `input_usd_per_million` in `price` of [[model]] "llama" of type text: write at most 6 digits after the point
    "#]],
    );
    check_price(
        r#"{ input_usd_per_million = { diem = "1" }, output_usd_per_million = "2" }"#,
        expect![[r#"
        models.toml:6: `usd` is missing in `input_usd_per_million` of `price` of [[model]] "llama" of type text
    "#]],
    );
    for one_is_free in [r#"usd = "1", diem = "0""#, r#"usd = "0", diem = "1""#] {
        check_price(
            &format!(
                "{{ input_usd_per_million = {{ {one_is_free} }}, output_usd_per_million = \"2\" }}"
            ),
            expect![[r#"
                models.toml:6: `diem` must be zero where `usd` is, and only there
            "#]],
        );
    }
    check_price(
        r#"{ input_usd_per_million = { usd = "1", eur = "1" }, output_usd_per_million = "2" }"#,
        expect![[r#"
        models.toml:6: unknown key `eur` in `input_usd_per_million` of `price` of [[model]] "llama" of type text
    "#]],
    );
    check_price(
        r#""0.70""#,
        expect![[r#"
        models.toml:6: `price` in [[model]] "llama" of type text must be a table, not "0.70"
    "#]],
    );
}

#[test]
fn a_text_model_without_a_price_for_its_answers_is_a_fault() {
    check_price(
        r#"{ input_usd_per_million = "1" }"#,
        expect![[r#"
            models.toml:6: `output_usd_per_million` is missing in the price of a text model: answers would be free; write "0" if they shall be, or `free = true` instead of a price
        "#]],
    );
    check(
        &text_model("free = false"),
        expect![[r#"
            models.toml:1: `price` is missing in [[model]] "llama" of type text
        "#]],
    );
    check_text(
        "free = true",
        expect![[r#"
            models.toml:6: `free = true` and `price` contradict each other; leave one of them out
        "#]],
    );
}

#[test]
fn providers_must_exist() {
    let routes =
        "also = [{ provider = \"spair\" }, { upstream_id = \"x\" }, { provider = \"spare\" }]";
    check_text(
        routes,
        expect![[r#"
        models.toml:6: there is no [[provider]] with the id `spair`; did you mean `spare`?
        models.toml:6: `provider` is missing in `also` of [[model]] "llama" of type text
    "#]],
    );
}

#[test]
fn limits_must_fit_together() {
    check_text(
        "max_completion_tokens = 9000",
        expect![[r#"
        models.toml:6: `max_completion_tokens` is 9000, but only 8192 tokens fit in the context
    "#]],
    );
    check_text(
        "reasoning_efforts = [\"low\"]",
        expect![[r#"
        models.toml:6: `reasoning_efforts` needs "reasoning_effort" among the `capabilities`
    "#]],
    );
    let lines = "capabilities = [\"reasoning_effort\"]\nreasoning_efforts = [\"low\"]\n\
                 default_reasoning_effort = \"high\"";
    check_text(
        lines,
        expect![[r#"
        models.toml:8: `default_reasoning_effort` is "high", which is not in `reasoning_efforts`
    "#]],
    );
    check_text(
        "default_temperature = 3",
        expect![[r#"
        models.toml:6: `default_temperature` in [[model]] "llama" of type text must be a number from 0 to 2, not 3
    "#]],
    );
}

#[test]
fn a_deprecation_that_maps_needs_a_replacement() {
    check_text(
        "deprecation = { date = \"2026-01-01\", auto_remap = true }",
        expect![[r#"
        models.toml:6: `auto_remap` needs a `replacement` to map to
    "#]],
    );
    check_text(
        "deprecation = { date = \"soon\" }",
        expect![[r#"
        models.toml:6: `date` in `deprecation` of [[model]] "llama" of type text must be a date such as 2026-11-15 or a moment such as 2026-11-15T03:00:00Z, not "soon"
    "#]],
    );
    let lines = "deprecation = { date = \"2026-01-01\", replacement = \"lama\" }";
    check_text(
        lines,
        expect![[r#"
        models.toml:6: the replacement `lama` is not the id of a model
    "#]],
    );
}

#[test]
fn faults_of_the_whole_catalogue_have_the_line_of_the_later_entry() {
    let again = text_model(PRICE) + &text_model(&format!("traits = [\"default\"]\n{PRICE}"));
    check(
        &again,
        expect![[r#"
        models.toml:8: the id `llama` is already the id of a model
    "#]],
    );
}

#[test]
fn an_image_has_one_kind_of_price() {
    check_type(
        "image",
        "price = {}",
        expect![[r#"
        models.toml:5: give either `per_image_usd` or `resolutions`
    "#]],
    );
    let both = "resolutions = [\"1K\"]\nprice = { per_image_usd = \"1\", resolutions = { \"1K\" = \"1\" } }";
    check_type(
        "image",
        both,
        expect![[r#"
        models.toml:6: give either `per_image_usd` or `resolutions`
    "#]],
    );
    let wrong = "resolutions = [\"1K\"]\nprice = { resolutions = { \"1K\" = 1, \"2K\" = \"x\" } }";
    check_type(
        "image",
        wrong,
        expect![[r#"
        models.toml:6: `usd` in `resolutions.1K` must be a decimal amount in quotes, such as "0.70", not 1
        models.toml:6: `usd` in `resolutions.2K`: write the amount as a plain decimal, such as 10 or 10.50
        models.toml:6: the resolution `1K` has no price
    "#]],
    );
    check_type(
        "upscale",
        "price = { resolutions = { \"1K\" = \"1\" } }",
        expect![[r#"
        models.toml:5: an upscale model has one price, not one per resolution
    "#]],
    );
}

#[test]
fn image_limits_must_fit_together() {
    let lines = "default_steps = 30\nmax_steps = 20\nstyle_reference_strength = true\n\
                 aspect_ratios = [\"1:1\", \"16:9\"]\ndefault_aspect_ratio = \"16:8\"\n\
                 price = { per_image_usd = \"1\" }";
    check_type(
        "image",
        lines,
        expect![[r#"
        models.toml:6: `default_steps` is 30, above `max_steps` 20
        models.toml:7: `style_reference_strength` needs `max_style_references` above 0
        models.toml:9: `default_aspect_ratio` is "16:8", which is not in `aspect_ratios`; did you mean `16:9`?
    "#]],
    );
}

#[test]
fn input_images_are_priced_whole_or_not_at_all() {
    check_type(
        "inpaint",
        "price = { per_edit_usd = \"1\", included_images = 1 }",
        expect![[r#"
        models.toml:5: `included_images` and `additional_image_usd` belong together
    "#]],
    );
}

#[test]
fn music_has_exactly_one_kind_of_price() {
    check_type(
        "music",
        "price = {}",
        expect![[r#"
        models.toml:5: give exactly one of `per_generation_usd`, `durations`, `usd_per_second`, `usd_per_thousand_characters`
    "#]],
    );
    let two = "price = { per_generation_usd = \"1\", usd_per_second = \"1\" }";
    check_type(
        "music",
        two,
        expect![[r#"
        models.toml:5: give exactly one of `per_generation_usd`, `durations`, `usd_per_second`, `usd_per_thousand_characters`
    "#]],
    );
}

#[test]
fn music_options_belong_together() {
    let lines = "lyrics_required = true\nmin_speed = 1\nmin_duration = 5\n\
                 price = { per_generation_usd = \"1\" }";
    check_type(
        "music",
        lines,
        expect![[r#"
        models.toml:5: `lyrics_required` needs `supports_lyrics = true`
        models.toml:6: give all of `min_speed`, `default_speed` and `max_speed`, or none
        models.toml:7: give all of `min_duration`, `default_duration` and `max_duration`, or none
    "#]],
    );
    let lines = "min_speed = 1\ndefault_speed = 3\nmax_speed = 2\nmin_duration = 9\n\
                 duration_options = [5, 10]\ndefault_duration = 6\n\
                 price = { per_generation_usd = \"1\" }";
    check_type(
        "music",
        lines,
        expect![[r#"
        models.toml:6: `default_speed` must lie from `min_speed` to `max_speed`
        models.toml:8: `min_duration` is for models without `duration_options`
        models.toml:10: `default_duration` is not in `duration_options`
    "#]],
    );
}

#[test]
fn a_video_needs_prices_that_cover_it() {
    let lines = "starts_from = \"text-to-video\"\ndurations = [\"5s\", \"1s\"]\n\
                 audio_configurable = true\nprice = { usd_per_second_with_audio = \"1\" }";
    check_type(
        "video",
        lines,
        expect![[r#"
        models.toml:6: `durations` in [[model]] "it" of type video must be one of "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "10s", "11s", "12s", "13s", "14s", "15s", "16s", "18s", "20s", "25s", "30s", "1 gen", "Auto", not "1s"; did you mean `2s`?
        models.toml:7: `audio_configurable` needs `audio = true`
        models.toml:8: `usd_per_second_with_audio` needs `usd_per_second`
        models.toml:8: a video needs a price per generation or per second
    "#]],
    );
    let lines = "starts_from = \"text-to-video\"\ndurations = [\"Auto\"]\n\
                 price = { usd_per_second = \"1\" }";
    check_type(
        "video",
        lines,
        expect![[r#"
        models.toml:7: the duration `Auto` needs `per_generation_usd`
    "#]],
    );
}

proptest! {
    #[test]
    fn no_value_of_any_key_panics(
        key in "id|type|price|traits|also|deprecation|context_tokens|capabilities|created|weight",
        value in r#"-?[0-9]{1,19}|"[a-z]{0,9}"|\[\]|\[1, "a"\]|\{\}|\{ a = \{\} \}|true|1\.5|2026-01-01"#,
        model_type in "asr|embedding|image|music|text|tts|upscale|inpaint|video",
    ) {
        outcome(&format!("[[model]]\ntype = \"{model_type}\"\n{key} = {value}\n"));
        outcome(&format!("[[model]]\ntype = \"{model_type}\"\nprice = {{ {key} = {value} }}\n"));
    }
}
