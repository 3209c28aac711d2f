//! Tests of the field names and casing of the model types against the specification.

use expect_test::{Expect, expect};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::*;

/// Checks the property names of a type's schema; required ones are marked with `*`.
#[track_caller]
fn check_properties<T: JsonSchema>(expected: Expect) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = Value::from(generator.into_root_schema_for::<T>());
    let required: Vec<&Value> =
        schema["required"].as_array().map(|it| it.iter().collect()).unwrap_or_default();
    let properties = schema["properties"].as_object().expect("an object has properties");
    let lines: Vec<String> = properties
        .keys()
        .map(|name| {
            let is_required = required.contains(&&json!(name));
            format!("{name}{}\n", if is_required { "*" } else { "" })
        })
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn a_bare_query_asks_for_text_models() {
    let query: ModelsQuery = serde_json::from_value(json!({})).unwrap();
    assert_eq!(query.filter, ModelFilter::Text);
    let query: CompatibilityQuery = serde_json::from_value(json!({"type": "tts"})).unwrap();
    assert_eq!(query.model_type, ModelType::Tts);
}

#[test]
fn the_compatibility_mapping_takes_neither_all_nor_code() {
    for wide in ["all", "code"] {
        assert!(serde_json::from_value::<ModelsQuery>(json!({"type": wide})).is_ok());
        assert!(serde_json::from_value::<CompatibilityQuery>(json!({"type": wide})).is_err());
    }
}

#[test]
fn a_video_record_has_its_type_beside_its_spec_and_no_price() {
    let model = Model {
        id: "wan".to_owned(),
        object: ModelObject::Model,
        owned_by: "service".to_owned(),
        created: 0,
        context_length: None,
        spec: ModelSpec::Video(VideoSpec {
            common: common(),
            constraints: VideoConstraints {
                aspect_ratios: vec!["16:9".to_owned()],
                resolutions: Vec::new(),
                durations: vec!["5s".to_owned()],
                model_type: VideoKind::TextToVideo,
                audio: true,
                audio_configurable: false,
                prompt_character_limit: 2500,
                image_input: false,
                audio_input: false,
                per_reference_audio: false,
                video_input: false,
                reference_image_min_short_side_pixels: None,
                reference_image_min_aspect_ratio: None,
                reference_image_max_aspect_ratio: None,
            },
        }),
    };
    let written = serde_json::to_value(&model).unwrap();
    assert_eq!(
        written,
        json!({
            "id": "wan",
            "object": "model",
            "owned_by": "service",
            "created": 0,
            "type": "video",
            "model_spec": {
                "name": "Wan",
                "privacy": "private",
                "offline": false,
                "beta": false,
                "betaModel": false,
                "traits": [],
                "constraints": {
                    "aspect_ratios": ["16:9"],
                    "resolutions": [],
                    "durations": ["5s"],
                    "model_type": "text-to-video",
                    "audio": true,
                    "audio_configurable": false,
                    "prompt_character_limit": 2500,
                    "image_input": false,
                    "audio_input": false,
                    "per_reference_audio": false,
                    "video_input": false,
                },
            },
        })
    );
}

#[test]
fn music_is_priced_in_exactly_one_way() {
    let amount = DurationAmount { usd: 0.03, diem: 0.03, min_seconds: 60, max_seconds: 60 };
    let pricing = MusicPricing::Durations(BTreeMap::from([(60, amount)]));
    assert_eq!(
        serde_json::to_value(&pricing).unwrap(),
        json!({"durations": {"60": {"usd": 0.03, "diem": 0.03, "min_seconds": 60, "max_seconds": 60}}})
    );
    let pricing = MusicPricing::PerThousandCharacters(Amount { usd: 0.1, diem: 0.1 });
    assert_eq!(
        serde_json::to_value(&pricing).unwrap(),
        json!({"per_thousand_characters": {"usd": 0.1, "diem": 0.1}})
    );
}

#[test]
fn text_models_write_camel_case() {
    check_properties::<TextSpec>(expect![[r#"
        name*
        description
        modelSource
        privacy*
        offline*
        beta*
        betaModel*
        traits*
        uncensored
        regionRestrictions
        deprecation
        model_sets
        availableContextTokens*
        maxCompletionTokens
        capabilities*
        constraints*
        pricing*
    "#]]);
}

#[test]
fn capabilities_have_the_names_of_the_specification() {
    check_properties::<Capabilities>(expect![[r#"
        optimizedForCode*
        supportsFunctionCalling*
        supportsAudioInput*
        supportsReasoning*
        supportsReasoningEffort*
        supportsResponseSchema*
        supportsMultipleImages*
        supportsVision*
        supportsVideoInput*
        supportsWebSearch*
        supportsLogProbs*
        supportsTeeAttestation*
        supportsE2EE*
        supportsXSearch*
        quantization*
        reasoningEffortOptions
        defaultReasoningEffort
        maxImages
        maxVideos
    "#]]);
}

#[test]
fn speech_models_write_snake_case_but_for_the_flags_of_the_specification() {
    check_properties::<TtsSpec>(expect![[r#"
        name*
        description
        modelSource
        privacy*
        offline*
        beta*
        betaModel*
        traits*
        uncensored
        regionRestrictions
        deprecation
        model_sets
        voices*
        default_voice
        supported_formats*
        default_format
        supports_custom_voice_id*
        voice_cloning
        supportsPromptParam*
        supportsTemperatureParam*
        supportsTopPParam*
        pricing*
    "#]]);
}

#[test]
fn music_models_write_snake_case() {
    check_properties::<MusicSpec>(expect![[r#"
        name*
        description
        modelSource
        privacy*
        offline*
        beta*
        betaModel*
        traits*
        uncensored
        regionRestrictions
        deprecation
        model_sets
        default_voice
        voices
        supports_lyrics*
        lyrics_required*
        supports_lyrics_optimizer*
        supports_force_instrumental*
        supports_loop*
        supports_language_code*
        supports_speed*
        default_speed
        min_speed
        max_speed
        duration_options
        min_duration
        max_duration
        default_duration
        supported_formats*
        default_format
        prompt_character_limit
        min_prompt_length
        lyrics_character_limit
        pricing*
    "#]]);
}

#[test]
fn image_constraints_have_the_names_of_the_specification() {
    check_properties::<ImageConstraints>(expect![[r#"
        promptCharacterLimit*
        steps*
        widthHeightDivisor*
        minWidth
        minHeight
        aspectRatios
        defaultAspectRatio
        resolutions
        defaultResolution
        qualities
        defaultQuality
        maxStyleReferences
        supportsStyleReferenceStrength
    "#]]);
}

#[test]
fn edit_constraints_have_the_names_of_the_specification() {
    check_properties::<InpaintConstraints>(expect![[r#"
        aspectRatios*
        promptCharacterLimit*
        combineImages*
        maxInputImages
        singleImageAspectRatio*
        defaultResolution
        resolutions
        qualities
        defaultQuality
    "#]]);
}

#[test]
fn every_type_of_model_is_told_apart_in_the_schema_by_its_tag() {
    let schema = Value::from(schemars::schema_for!(Model));
    let branches = schema["oneOf"].as_array().expect("the record is a union over the types");
    let tags: Vec<&str> =
        branches.iter().filter_map(|it| it["properties"]["type"]["const"].as_str()).collect();
    assert_eq!(
        tags,
        [
            "asr",
            "embedding",
            "image",
            "music",
            "text",
            "tts",
            "upscale",
            "inpaint",
            "video",
            "rerank",
            "moderation"
        ]
    );
}

fn common() -> CommonSpec {
    CommonSpec {
        name: "Wan".to_owned(),
        description: None,
        model_source: None,
        privacy: Privacy::Private,
        offline: false,
        beta: false,
        beta_model: false,
        traits: Vec::new(),
        uncensored: None,
        region_restrictions: None,
        deprecation: None,
        model_sets: None,
    }
}
