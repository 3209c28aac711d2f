//! Tests of the record: one model of each type, from the operator's file to the response.

use config::fault::FaultList;
use expect_test::{Expect, expect};
use moment::Timestamp;
use serde_json::Value;

use super::build_record;

const SHOWCASE: &str = include_str!("../../../../../../tools/testkit/fixtures/catalogue.toml");

#[track_caller]
fn check(id: &str, expected: Expect) {
    check_at(id, "2026-11-15", expected);
}

#[track_caller]
fn check_at(id: &str, now: &str, expected: Expect) {
    let faults = FaultList::default();
    let table = config::node::parse_toml("catalogue.toml", SHOWCASE, &faults);
    let models = config::catalogue::read_models(&table, &["main", "spare"], &faults);
    assert!(faults.is_empty(), "{:?}", faults.into_sorted());
    let model = models.iter().find(|it| it.id == id).expect("it is in the showcase");
    let now = Timestamp::parse(now).expect("tests write valid dates");
    let written = serde_json::to_value(build_record(model, now)).expect("a record is JSON");
    let mut lines = String::new();
    outline(&mut lines, "", &written);
    expected.assert_eq(&lines);
}

/// One line per field, without those that are false. Deeper levels are printed as JSON.
fn outline(lines: &mut String, path: &str, value: &Value) {
    let is_deep = 2 <= path.matches('.').count();
    match value {
        Value::Bool(false) => {}
        Value::Object(fields) if !is_deep => {
            for (name, field) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                outline(lines, &format!("{path}{dot}{name}"), field);
            }
        }
        other => lines.push_str(&format!("{path} {other}\n")),
    }
}

#[test]
fn a_text_model_has_capabilities_context_and_prices_per_million_tokens() {
    check(
        "llama-3.3-70b",
        expect![[r#"
            id "llama-3.3-70b"
            object "model"
            owned_by "service"
            created 1767312000
            context_length 131072
            type "text"
            model_spec.name "Llama 3.3 70B"
            model_spec.description "A large model for everything."
            model_spec.modelSource "https://example.com/llama-3.3-70b"
            model_spec.privacy "private"
            model_spec.traits ["default","function_calling_default"]
            model_spec.model_sets ["recommended"]
            model_spec.availableContextTokens 131072
            model_spec.maxCompletionTokens 16384
            model_spec.capabilities.supportsFunctionCalling true
            model_spec.capabilities.supportsResponseSchema true
            model_spec.capabilities.supportsWebSearch true
            model_spec.capabilities.supportsLogProbs true
            model_spec.capabilities.quantization "fp8"
            model_spec.constraints.temperature {"default":0.7}
            model_spec.constraints.top_p {"default":0.9}
            model_spec.constraints.repetition_penalty {"default":1.1}
            model_spec.pricing.input {"usd":0.7,"diem":0.7}
            model_spec.pricing.output {"usd":2.8,"diem":2.8}
        "#]],
    );
    check(
        "kimi-k3",
        expect![[r#"
            id "kimi-k3"
            object "model"
            owned_by "service"
            created 0
            context_length 262144
            type "text"
            model_spec.name "Kimi K3"
            model_spec.privacy "anonymized"
            model_spec.betaModel true
            model_spec.traits ["default_reasoning","default_code","default_vision"]
            model_spec.regionRestrictions ["KP"]
            model_spec.availableContextTokens 262144
            model_spec.capabilities.optimizedForCode true
            model_spec.capabilities.supportsFunctionCalling true
            model_spec.capabilities.supportsReasoning true
            model_spec.capabilities.supportsReasoningEffort true
            model_spec.capabilities.supportsMultipleImages true
            model_spec.capabilities.supportsVision true
            model_spec.capabilities.quantization "not-available"
            model_spec.capabilities.reasoningEffortOptions ["low","medium","high"]
            model_spec.capabilities.defaultReasoningEffort "medium"
            model_spec.capabilities.maxImages 4
            model_spec.constraints.temperature {}
            model_spec.constraints.top_p {}
            model_spec.pricing.input {"usd":1.4,"diem":1.4}
            model_spec.pricing.output {"usd":4.4,"diem":4.4}
            model_spec.pricing.cache_input {"usd":0.26,"diem":0.26}
            model_spec.pricing.cache_write {"usd":1.75,"diem":1.75}
            model_spec.pricing.extended {"context_token_threshold":200000,"input":{"usd":2.8,"diem":2.8},"output":{"usd":8.8,"diem":8.8},"cache_input":{"usd":0.52,"diem":0.52}}
        "#]],
    );
}

#[test]
fn an_embedding_model_has_dimensions() {
    check(
        "text-embedding-bge-m3",
        expect![[r#"
            id "text-embedding-bge-m3"
            object "model"
            owned_by "service"
            created 0
            type "embedding"
            model_spec.name "BGE-M3"
            model_spec.privacy "anonymized"
            model_spec.traits ["default"]
            model_spec.embeddingDimensions 1024
            model_spec.maxInputTokens 8192
            model_spec.supportsCustomDimensions true
            model_spec.pricing.input {"usd":0.15,"diem":0.15}
            model_spec.pricing.output {"usd":0.6,"diem":0.6}
        "#]],
    );
}

#[test]
fn an_image_model_has_its_choices_and_prices_per_image() {
    check(
        "z-image-turbo",
        expect![[r#"
            id "z-image-turbo"
            object "model"
            owned_by "service"
            created 0
            type "image"
            model_spec.name "Z-Image Turbo"
            model_spec.privacy "anonymized"
            model_spec.traits ["default","fastest"]
            model_spec.constraints.promptCharacterLimit 1500
            model_spec.constraints.steps {"default":8,"max":20}
            model_spec.constraints.widthHeightDivisor 16
            model_spec.constraints.minWidth 64
            model_spec.constraints.minHeight 64
            model_spec.pricing.generation {"usd":0.01,"diem":0.01}
            model_spec.pricing.upscale {"2x":{"usd":0.02,"diem":0.02},"4x":{"usd":0.08,"diem":0.08}}
        "#]],
    );
    check(
        "banana-pro",
        expect![[r#"
            id "banana-pro"
            object "model"
            owned_by "service"
            created 0
            type "image"
            model_spec.name "Banana Pro"
            model_spec.privacy "anonymized"
            model_spec.traits ["highest_quality"]
            model_spec.supportsStyleReferences true
            model_spec.supportsWebSearch true
            model_spec.supportsOptimizePromptThinking true
            model_spec.constraints.promptCharacterLimit 7500
            model_spec.constraints.steps {"default":8,"max":50}
            model_spec.constraints.widthHeightDivisor 8
            model_spec.constraints.aspectRatios ["1:1","16:9","9:16"]
            model_spec.constraints.defaultAspectRatio "16:9"
            model_spec.constraints.resolutions ["1K","2K","4K"]
            model_spec.constraints.defaultResolution "1K"
            model_spec.constraints.qualities ["low","medium","high"]
            model_spec.constraints.defaultQuality "high"
            model_spec.constraints.maxStyleReferences 4
            model_spec.constraints.supportsStyleReferenceStrength true
            model_spec.pricing.resolutions {"1K":{"usd":0.18,"diem":0.18},"2K":{"usd":0.24,"diem":0.24},"4K":{"usd":0.35,"diem":0.3}}
            model_spec.pricing.quality {"1K":{"low":{"usd":0.02,"diem":0.02},"medium":{"usd":0.06,"diem":0.06},"high":{"usd":0.18,"diem":0.18}}}
            model_spec.pricing.upscale {"2x":{"usd":0.02,"diem":0.02},"4x":{"usd":0.08,"diem":0.08}}
        "#]],
    );
}

#[test]
fn an_edit_model_has_its_price_per_edit() {
    check(
        "firered-image-edit",
        expect![[r#"
            id "firered-image-edit"
            object "model"
            owned_by "service"
            created 0
            type "inpaint"
            model_spec.name "FireRed Image Edit"
            model_spec.privacy "anonymized"
            model_spec.traits ["default"]
            model_spec.constraints.aspectRatios ["auto","1:1","16:9"]
            model_spec.constraints.promptCharacterLimit 32768
            model_spec.constraints.combineImages true
            model_spec.constraints.maxInputImages 3
            model_spec.constraints.defaultResolution "1K"
            model_spec.constraints.resolutions ["1K","2K"]
            model_spec.pricing.inpaint {"usd":0.04,"diem":0.04}
            model_spec.pricing.resolutions {"2K":{"usd":0.06,"diem":0.06}}
            model_spec.pricing.inputImages {"included":1,"additional":{"usd":0.01,"diem":0.01}}
        "#]],
    );
}

#[test]
fn an_upscale_model_is_priced_like_an_image_model() {
    check(
        "upscaler",
        expect![[r#"
            id "upscaler"
            object "model"
            owned_by "service"
            created 0
            type "upscale"
            model_spec.name "Upscaler"
            model_spec.privacy "anonymized"
            model_spec.traits ["default"]
            model_spec.pricing.generation {"usd":0.01,"diem":0.01}
            model_spec.pricing.upscale {"2x":{"usd":0.02,"diem":0.02},"4x":{"usd":0.08,"diem":0.08}}
        "#]],
    );
}

#[test]
fn a_speech_model_has_voices_and_formats() {
    check(
        "tts-kokoro",
        expect![[r#"
            id "tts-kokoro"
            object "model"
            owned_by "service"
            created 0
            type "tts"
            model_spec.name "Kokoro"
            model_spec.privacy "anonymized"
            model_spec.traits ["default"]
            model_spec.voices ["af_alloy","af_sky","am_adam"]
            model_spec.default_voice "af_sky"
            model_spec.supported_formats ["mp3","opus","aac","flac","wav","pcm"]
            model_spec.default_format "mp3"
            model_spec.supportsPromptParam true
            model_spec.pricing.input {"usd":3.5,"diem":3.5}
        "#]],
    );
    check(
        "tts-chatterbox-hd",
        expect![[r#"
            id "tts-chatterbox-hd"
            object "model"
            owned_by "service"
            created 0
            type "tts"
            model_spec.name "Chatterbox HD"
            model_spec.privacy "anonymized"
            model_spec.traits []
            model_spec.voices ["Aurora"]
            model_spec.default_voice "Aurora"
            model_spec.supported_formats ["wav"]
            model_spec.default_format "wav"
            model_spec.supports_custom_voice_id true
            model_spec.voice_cloning.mode "zero_shot"
            model_spec.voice_cloning.accepted_formats ["wav","mp3"]
            model_spec.voice_cloning.min_sample_seconds 10
            model_spec.voice_cloning.retention_days 7
            model_spec.pricing.input {"usd":12.0,"diem":12.0}
        "#]],
    );
}

#[test]
fn a_transcription_model_is_priced_per_second() {
    check(
        "parakeet",
        expect![[r#"
            id "parakeet"
            object "model"
            owned_by "service"
            created 0
            type "asr"
            model_spec.name "Parakeet"
            model_spec.privacy "anonymized"
            model_spec.traits ["default"]
            model_spec.pricing.per_audio_second {"usd":0.0001,"diem":0.0001}
        "#]],
    );
}

#[test]
fn a_music_model_is_priced_in_one_way() {
    check(
        "ace-step-15",
        expect![[r#"
            id "ace-step-15"
            object "model"
            owned_by "service"
            created 0
            type "music"
            model_spec.name "ACE-Step 1.5"
            model_spec.privacy "anonymized"
            model_spec.traits ["default"]
            model_spec.supports_lyrics true
            model_spec.supports_lyrics_optimizer true
            model_spec.supports_force_instrumental true
            model_spec.supports_language_code true
            model_spec.supports_speed true
            model_spec.default_speed 1.0
            model_spec.min_speed 0.5
            model_spec.max_speed 2.0
            model_spec.duration_options [60,90]
            model_spec.default_duration 90
            model_spec.supported_formats ["mp3","wav"]
            model_spec.default_format "mp3"
            model_spec.prompt_character_limit 1000
            model_spec.min_prompt_length 10
            model_spec.lyrics_character_limit 4096
            model_spec.pricing.durations {"60":{"usd":0.03,"diem":0.03,"min_seconds":60,"max_seconds":60},"90":{"usd":0.04,"diem":0.04,"min_seconds":61,"max_seconds":90}}
        "#]],
    );
    check(
        "sound-effects",
        expect![[r#"
            id "sound-effects"
            object "model"
            owned_by "service"
            created 0
            type "music"
            model_spec.name "Sound Effects"
            model_spec.privacy "anonymized"
            model_spec.traits []
            model_spec.default_voice "wind"
            model_spec.voices ["wind","rain"]
            model_spec.supports_loop true
            model_spec.min_duration 1
            model_spec.max_duration 20
            model_spec.default_duration 5
            model_spec.supported_formats ["mp3"]
            model_spec.default_format "mp3"
            model_spec.pricing.per_second {"usd":0.002,"diem":0.002}
        "#]],
    );
}

#[test]
fn a_video_model_has_constraints_and_no_price() {
    check(
        "wan-2-7",
        expect![[r#"
            id "wan-2-7"
            object "model"
            owned_by "service"
            created 0
            type "video"
            model_spec.name "Wan 2.7"
            model_spec.privacy "anonymized"
            model_spec.traits ["default"]
            model_spec.constraints.aspect_ratios ["16:9","9:16"]
            model_spec.constraints.resolutions ["720p","1080p"]
            model_spec.constraints.durations ["5s","10s"]
            model_spec.constraints.model_type "text-to-video"
            model_spec.constraints.audio true
            model_spec.constraints.audio_configurable true
            model_spec.constraints.prompt_character_limit 2500
            model_spec.constraints.reference_image_min_short_side_pixels 300
            model_spec.constraints.reference_image_min_aspect_ratio 0.4
            model_spec.constraints.reference_image_max_aspect_ratio 2.5
        "#]],
    );
}

#[test]
fn a_deprecation_shows_once_it_has_started() {
    check_at(
        "llama-3.1-405b",
        "2026-10-31",
        expect![[r#"
            id "llama-3.1-405b"
            object "model"
            owned_by "service"
            created 0
            context_length 65536
            type "text"
            model_spec.name "Llama 3.1 405B"
            model_spec.privacy "anonymized"
            model_spec.traits []
            model_spec.availableContextTokens 65536
            model_spec.capabilities.quantization "not-available"
            model_spec.constraints.temperature {}
            model_spec.constraints.top_p {}
            model_spec.pricing.input {"usd":1.5,"diem":1.5}
            model_spec.pricing.output {"usd":6.0,"diem":6.0}
        "#]],
    );
    check_at(
        "llama-3.1-405b",
        "2026-11-01",
        expect![[r#"
            id "llama-3.1-405b"
            object "model"
            owned_by "service"
            created 0
            context_length 65536
            type "text"
            model_spec.name "Llama 3.1 405B"
            model_spec.privacy "anonymized"
            model_spec.traits []
            model_spec.deprecation.autoRemap true
            model_spec.deprecation.date "2026-12-01T00:00:00.000Z"
            model_spec.deprecation.removesAt "2026-12-10T00:00:00.000Z"
            model_spec.deprecation.replacementModelId "llama-3.3-70b"
            model_spec.deprecation.startsAt "2026-11-01T00:00:00.000Z"
            model_spec.availableContextTokens 65536
            model_spec.capabilities.quantization "not-available"
            model_spec.constraints.temperature {}
            model_spec.constraints.top_p {}
            model_spec.pricing.input {"usd":1.5,"diem":1.5}
            model_spec.pricing.output {"usd":6.0,"diem":6.0}
        "#]],
    );
}
