//! Tests of the values that entries are parsed into.

use domain::catalogue::{
    Catalogue, ChoiceList, ContentPrivacy, ImageQuality, LyricsSupport, ModelRoute, ModelSelection,
    ModelSpec, ModelSuccessor, ModelTier, ModelType, MusicDuration, NamedVariants, TextCapability,
};
use domain::pricing::{ImageRates, MusicPrice, UnitRate};
use moment::Timestamp;
use money::{Price, PriceUnits};

use super::{only_model, outcome};

const SHOWCASE: &str = include_str!("../../../../../tools/testkit/fixtures/catalogue.toml");

/// The types that the catalogue of the tests lacks.
const SCORING_MODELS: &str = r#"
[[model]]
id = "reranker"
type = "rerank"
provider = "main"
traits = ["default"]
price = { per_thousand_documents_usd = "1" }

[[model]]
id = "moderator"
type = "moderation"
provider = "main"
traits = ["default"]
price = { input_usd_per_million = "1" }
"#;

fn rate(usd: &str, diem: &str, per: PriceUnits) -> UnitRate {
    let price = |text| Price::parse(text, per).expect("tests write valid prices");
    UnitRate { usd: price(usd), diem: price(diem) }
}

#[test]
fn a_short_entry_is_complete() {
    let model = only_model(
        r#"
        [[model]]
        id = "llama"
        type = "text"
        provider = "main"
        context_tokens = 8192
        price = { input_usd_per_million = "0.70", output_usd_per_million = "2.80" }
        "#,
    );
    assert_eq!(model.name, "llama");
    assert_eq!(model.owned_by, "service");
    assert_eq!(model.privacy, ContentPrivacy::Anonymized);
    assert_eq!(model.tier(), Some(ModelTier::M));
    assert_eq!(model.deprecation, None);
    let [ModelRoute { provider, upstream_id, weight }] = model.routes.as_slice() else {
        panic!("one route, not {:?}", model.routes);
    };
    assert_eq!((provider.as_str(), upstream_id.as_str(), weight.get()), ("main", "llama", 1));
    let ModelSpec::Text(text) = model.spec else { panic!("a text model") };
    assert_eq!(text.price.base.input, rate("0.70", "0.70", PriceUnits::Million));
    assert_eq!(text.price.base.output, rate("2.80", "2.80", PriceUnits::Million));
    assert_eq!(text.price.extended, None);
}

#[test]
fn the_showcase_has_models_of_every_type_and_makes_a_catalogue() {
    let (models, faults) = outcome(&format!("{SHOWCASE}{SCORING_MODELS}"));
    assert_eq!(faults, "");
    let catalogue = Catalogue::build(models).expect("a catalogue without faults");
    let now = Timestamp::parse("2026-11-15").unwrap();
    for model_type in ModelType::ALL.iter().copied() {
        let count = catalogue.list(ModelSelection::Type(model_type), now).count();
        assert!(0 < count, "there is no {model_type} model");
        assert!(
            catalogue.resolve_model("default", model_type, now).is_ok(),
            "no default {model_type}"
        );
    }
}

/// Returns the spec of one entry of the showcase.
fn showcased(id: &str) -> ModelSpec {
    let (models, _) = outcome(SHOWCASE);
    models.into_iter().find(|it| it.id == id).expect("it is in the showcase").spec
}

#[test]
fn a_text_model_has_capabilities_routes_and_long_context_rates() {
    let ModelSpec::Text(text) = showcased("kimi-k3") else { panic!("a text model") };
    assert!(
        text.has_capability(TextCapability::Code) && text.has_capability(TextCapability::Vision)
    );
    assert!(!text.has_capability(TextCapability::Logprobs));
    assert_eq!(text.reasoning_efforts.default().map(|it| it.name()), Some("medium"));
    let extended = text.price.extended.expect("rates for long contexts");
    assert_eq!(extended.above_context_tokens, 200_000);
    assert_eq!(extended.rates.cache_input, Some(rate("0.52", "0.52", PriceUnits::Million)));
    assert_eq!(extended.rates.cache_write, None);
    let (models, _) = outcome(SHOWCASE);
    let weights: Vec<_> = models[0].routes.iter().map(|it| it.weight.get()).collect();
    assert_eq!(weights, [3, 1]);
}

#[test]
fn an_amount_may_differ_by_currency() {
    let ModelSpec::Text(text) = showcased("qwen3:4b") else { panic!("a text model") };
    assert_eq!(text.price.base.input, rate("0.05", "0.04", PriceUnits::Million));
    let ModelSpec::Image(image) = showcased("banana-pro") else { panic!("an image model") };
    let ImageRates::ByResolution(rates) = image.price.generation else { panic!("by resolution") };
    assert_eq!(rates["2K"], rate("0.24", "0.24", PriceUnits::One));
    assert_eq!(rates["4K"], rate("0.35", "0.30", PriceUnits::One));
    assert_eq!(image.price.quality["1K"].high, rate("0.18", "0.18", PriceUnits::One));
    assert_eq!(image.price.upscale.quadruple, rate("0.08", "0.08", PriceUnits::One));
}

#[test]
fn the_first_of_a_list_is_its_default_unless_another_is_named() {
    let ModelSpec::Image(image) = showcased("banana-pro") else { panic!("an image model") };
    assert_eq!(image.aspect_ratios.default().map(String::as_str), Some("16:9"));
    assert_eq!(image.resolutions.default().map(String::as_str), Some("1K"));
    let ModelSpec::Image(image) = showcased("z-image-turbo") else { panic!("an image model") };
    assert_eq!(image.resolutions, ChoiceList::empty());
}

#[test]
fn the_default_quality_is_high_where_it_is_listed() {
    let default = |keys: &str| {
        let entry = r#"
            [[model]]
            id = "painter"
            type = "image"
            provider = "main"
            price = { per_image_usd = "0.01" }
        "#;
        let model = only_model(&format!("{entry}\n{keys}"));
        let ModelSpec::Image(image) = model.spec else { panic!("an image model") };
        image.qualities.default().copied()
    };
    assert_eq!(default(r#"qualities = ["low", "medium", "high"]"#), Some(ImageQuality::High));
    assert_eq!(default(r#"qualities = ["low", "medium"]"#), Some(ImageQuality::Low));
    let named = "qualities = [\"low\", \"high\"]\ndefault_quality = \"low\"";
    assert_eq!(default(named), Some(ImageQuality::Low));
    assert_eq!(default(""), None);
}

#[test]
fn an_edit_price_covers_input_images() {
    let ModelSpec::Inpaint(edit) = showcased("firered-image-edit") else { panic!("an editor") };
    assert_eq!(edit.images_max(), 3);
    let images = edit.price.input_images.expect("a price of input images");
    assert_eq!((images.included, images.additional), (1, rate("0.01", "0.01", PriceUnits::One)));
    assert_eq!(edit.price.resolutions["2K"], rate("0.06", "0.06", PriceUnits::One));
}

#[test]
fn audio_models_are_priced_by_characters_seconds_and_pieces() {
    let ModelSpec::Tts(tts) = showcased("tts-kokoro") else { panic!("a speech model") };
    assert_eq!(tts.price, rate("3.50", "3.50", PriceUnits::Million));
    assert_eq!(tts.voices.default().map(String::as_str), Some("af_sky"));
    let ModelSpec::Tts(tts) = showcased("tts-chatterbox-hd") else { panic!("a speech model") };
    assert_eq!(tts.voice_cloning.expect("it clones").min_sample_seconds, 10);
    let ModelSpec::Asr(asr) = showcased("parakeet") else { panic!("a transcription model") };
    assert_eq!(asr.price, rate("0.0001", "0.0001", PriceUnits::One));
    let ModelSpec::Music(music) = showcased("ace-step-15") else { panic!("a music model") };
    let choices = ChoiceList::with_default(vec![60, 90], &90).unwrap();
    assert_eq!(music.duration, Some(MusicDuration::OneOf(choices)));
    assert!(matches!(music.price, MusicPrice::ByDuration(bands) if bands.len() == 2));
    let ModelSpec::Music(music) = showcased("sound-effects") else { panic!("a music model") };
    assert_eq!(music.lyrics, LyricsSupport::Unsupported);
    assert_eq!(music.duration, Some(MusicDuration::Within { min_s: 1, default_s: 5, max_s: 20 }));
    assert_eq!(music.price, MusicPrice::PerSecond(rate("0.002", "0.002", PriceUnits::One)));
}

#[test]
fn sound_costs_what_silence_costs_unless_it_has_a_price() {
    let ModelSpec::Video(video) = showcased("wan-2-7") else { panic!("a video model") };
    let general = video.price.rates(Some("720p")).expect("a price");
    assert_eq!(general.with_audio, rate("0.15", "0.15", PriceUnits::One));
    let large = video.price.rates(Some("1080p")).expect("a price");
    assert_eq!(large.with_audio, large.silent);
}

#[test]
fn a_deprecation_removes_on_its_date_unless_said() {
    let (models, _) = outcome(SHOWCASE);
    let gone = models.iter().find(|it| it.id == "gpt-j-6b").expect("it is in the showcase");
    let deprecation = gone.deprecation.as_ref().expect("it is deprecated");
    assert_eq!(deprecation.removes_at, deprecation.date);
    assert_eq!(deprecation.successor, ModelSuccessor::Suggested("qwen3:4b".to_owned()));
}

#[test]
fn the_voice_of_the_specification_is_the_default_where_a_model_has_it() {
    let voice = |more: &str| {
        let model = only_model(&format!(
            r#"
            [[model]]
            id = "speaker"
            type = "tts"
            provider = "main"
            voices = ["af_alloy", "af_sky"]
            {more}
            price = {{ input_usd_per_million_characters = "1" }}
            "#
        ));
        let ModelSpec::Tts(tts) = model.spec else { panic!("a speech model") };
        tts.voices.default().cloned()
    };
    assert_eq!(voice("").as_deref(), Some("af_sky"));
    assert_eq!(voice("default_voice = \"af_alloy\"").as_deref(), Some("af_alloy"));
}
