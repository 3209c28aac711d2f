//! A catalogue entry in the response's form.

mod enums;
mod price;

use ::wire::models as wire;
use domain::catalogue::{
    CatalogueModel, ChoiceList, EmbeddingSpec, ImageSpec, InpaintSpec, LyricsSupport, ModelSpec,
    MusicDuration, MusicSpec, TextCapability, TextSpec, TtsSpec, VideoSpec,
};
use moment::Timestamp;

/// The record of a model, for `GET /models` and `GET /models/{id}`.
pub(crate) fn build_record(model: &CatalogueModel, now: Timestamp) -> wire::Model {
    let context_length = match &model.spec {
        ModelSpec::Text(text) => Some(text.context_tokens),
        _ => None,
    };
    wire::Model {
        id: model.id.clone(),
        object: wire::ModelObject::Model,
        owned_by: model.owned_by.clone(),
        created: model.created.map_or(0, Timestamp::seconds),
        context_length,
        spec: build_spec(model, now),
    }
}

fn build_spec(model: &CatalogueModel, now: Timestamp) -> wire::ModelSpec {
    let common = build_common_spec(model, now);
    match &model.spec {
        ModelSpec::Asr(asr) => wire::ModelSpec::Asr(wire::AsrSpec {
            common,
            pricing: wire::AsrPricing { per_audio_second: price::per_one(asr.price) },
        }),
        ModelSpec::Embedding(embedding) => {
            wire::ModelSpec::Embedding(embedding_spec(common, embedding))
        }
        ModelSpec::Image(image) => wire::ModelSpec::Image(image_spec(common, image)),
        ModelSpec::Music(music) => wire::ModelSpec::Music(music_spec(common, music)),
        ModelSpec::Text(text) => wire::ModelSpec::Text(text_spec(common, text)),
        ModelSpec::Tts(tts) => wire::ModelSpec::Tts(tts_spec(common, tts)),
        ModelSpec::Upscale(upscale) => wire::ModelSpec::Upscale(wire::UpscaleSpec {
            common,
            pricing: price::build_image_pricing(&upscale.price),
        }),
        ModelSpec::Inpaint(inpaint) => wire::ModelSpec::Inpaint(inpaint_spec(common, inpaint)),
        ModelSpec::Video(video) => wire::ModelSpec::Video(video_spec(common, video)),
        ModelSpec::Rerank(rerank) => wire::ModelSpec::Rerank(wire::RerankSpec {
            common,
            max_input_tokens: rerank.max_input_tokens,
            max_documents: rerank.max_documents,
            pricing: price::build_rerank_pricing(rerank.price),
        }),
        ModelSpec::Moderation(moderation) => wire::ModelSpec::Moderation(wire::ModerationSpec {
            common,
            max_input_tokens: moderation.max_input_tokens,
            pricing: wire::ModerationPricing { input: price::per_million(moderation.price) },
        }),
    }
}

fn build_common_spec(model: &CatalogueModel, now: Timestamp) -> wire::CommonSpec {
    let deprecation = model.announced_deprecation(now).map(|it| wire::Deprecation {
        auto_remap: it.successor.is_automatic(),
        date: it.date.to_string(),
        removes_at: it.removes_at.to_string(),
        replacement_model_id: it.successor.id().map(str::to_owned),
        starts_at: it.starts_at.map(|starts_at| starts_at.to_string()),
    });
    wire::CommonSpec {
        name: model.name.clone(),
        description: model.description.clone(),
        model_source: model.source.clone(),
        privacy: enums::to_wire_privacy(model.privacy),
        offline: model.offline,
        // Beta models are open to all callers here.
        beta: false,
        beta_model: model.beta,
        traits: model.traits.clone(),
        uncensored: model.uncensored.then_some(true),
        region_restrictions: to_optional_list(&model.region_restrictions),
        deprecation,
        model_sets: to_optional_list(&model.model_sets),
    }
}

fn text_spec(common: wire::CommonSpec, text: &TextSpec) -> wire::TextSpec {
    let penalty = |default: Option<f64>| default.map(|it| wire::DefaultValue { default: Some(it) });
    wire::TextSpec {
        common,
        available_context_tokens: text.context_tokens,
        max_completion_tokens: text.max_completion_tokens,
        capabilities: build_capabilities(text),
        constraints: wire::TextConstraints {
            temperature: wire::DefaultValue { default: text.sampling.temperature },
            top_p: wire::DefaultValue { default: text.sampling.top_p },
            frequency_penalty: penalty(text.sampling.frequency_penalty),
            presence_penalty: penalty(text.sampling.presence_penalty),
            repetition_penalty: penalty(text.sampling.repetition_penalty),
        },
        pricing: price::build_token_pricing(&text.price),
    }
}

fn build_capabilities(text: &TextSpec) -> wire::Capabilities {
    wire::Capabilities {
        optimized_for_code: text.has_capability(TextCapability::Code),
        supports_function_calling: text.has_capability(TextCapability::Tools),
        supports_audio_input: text.has_capability(TextCapability::AudioInput),
        supports_reasoning: text.has_capability(TextCapability::Reasoning),
        supports_reasoning_effort: text.has_capability(TextCapability::ReasoningEffort),
        supports_response_schema: text.has_capability(TextCapability::JsonSchema),
        supports_multiple_images: text.has_capability(TextCapability::MultipleImages),
        supports_vision: text.has_capability(TextCapability::Vision),
        supports_video_input: text.has_capability(TextCapability::VideoInput),
        supports_web_search: text.has_capability(TextCapability::WebSearch),
        supports_log_probs: text.has_capability(TextCapability::Logprobs),
        supports_tee_attestation: text.has_capability(TextCapability::TeeAttestation),
        supports_e2ee: text.has_capability(TextCapability::E2ee),
        supports_x_search: text.has_capability(TextCapability::XSearch),
        quantization: enums::to_wire_quantization(text.quantization),
        reasoning_effort_options: map_options(&text.reasoning_efforts, enums::reasoning_effort),
        default_reasoning_effort: map_default(&text.reasoning_efforts, enums::reasoning_effort),
        max_images: text.images_max,
        max_videos: text.videos_max,
    }
}

fn embedding_spec(common: wire::CommonSpec, embedding: &EmbeddingSpec) -> wire::EmbeddingSpec {
    wire::EmbeddingSpec {
        common,
        embedding_dimensions: embedding.dimensions,
        max_input_tokens: embedding.max_input_tokens,
        supports_custom_dimensions: embedding.custom_dimensions,
        pricing: price::build_token_pricing(&embedding.price),
    }
}

fn image_spec(common: wire::CommonSpec, image: &ImageSpec) -> wire::ImageSpec {
    let references = image.style_references;
    wire::ImageSpec {
        common,
        supports_style_references: references.is_some(),
        supports_web_search: image.web_search,
        supports_optimize_prompt_thinking: image.optimize_prompt_thinking,
        constraints: wire::ImageConstraints {
            prompt_character_limit: image.prompt_characters_max,
            steps: wire::Steps { default: image.steps.default, max: image.steps.max },
            width_height_divisor: image.width_height_divisor,
            min_width: image.is_sized_by_pixels().then_some(image.width_min),
            min_height: image.is_sized_by_pixels().then_some(image.height_min),
            aspect_ratios: to_optional_list(image.aspect_ratios.options()),
            default_aspect_ratio: image.aspect_ratios.default().cloned(),
            resolutions: to_optional_list(image.resolutions.options()),
            default_resolution: image.resolutions.default().cloned(),
            qualities: map_options(&image.qualities, enums::to_wire_quality),
            default_quality: map_default(&image.qualities, enums::to_wire_quality),
            max_style_references: references.map(|it| it.max),
            supports_style_reference_strength: references.map(|it| it.strength),
        },
        pricing: price::build_image_pricing(&image.price),
    }
}

fn inpaint_spec(common: wire::CommonSpec, inpaint: &InpaintSpec) -> wire::InpaintSpec {
    wire::InpaintSpec {
        common,
        constraints: wire::InpaintConstraints {
            aspect_ratios: inpaint.aspect_ratios.clone(),
            prompt_character_limit: inpaint.prompt_characters_max,
            combine_images: inpaint.combine_images,
            max_input_images: inpaint.input_images_max,
            single_image_aspect_ratio: inpaint.single_image_aspect_ratio,
            default_resolution: inpaint.resolutions.default().cloned(),
            resolutions: to_optional_list(inpaint.resolutions.options()),
            qualities: map_options(&inpaint.qualities, enums::to_wire_quality),
            default_quality: map_default(&inpaint.qualities, enums::to_wire_quality),
        },
        pricing: price::build_inpaint_pricing(&inpaint.price),
    }
}

fn tts_spec(common: wire::CommonSpec, tts: &TtsSpec) -> wire::TtsSpec {
    let formats = |formats: &[_]| formats.iter().copied().map(enums::audio_format).collect();
    wire::TtsSpec {
        common,
        voices: tts.voices.options().to_vec(),
        default_voice: tts.voices.default().cloned(),
        supported_formats: formats(tts.formats.options()),
        default_format: map_default(&tts.formats, enums::audio_format),
        supports_custom_voice_id: tts.custom_voice_id,
        voice_cloning: tts.voice_cloning.as_ref().map(|it| wire::VoiceCloning {
            mode: enums::cloning_mode(it.mode),
            accepted_formats: formats(&it.accepted_formats),
            min_sample_seconds: it.min_sample_seconds,
            retention_days: it.retention_days,
        }),
        supports_prompt_param: tts.style_prompt,
        supports_temperature_param: tts.temperature,
        supports_top_p_param: tts.top_p,
        pricing: wire::TtsPricing { input: price::per_million(tts.price) },
    }
}

fn music_spec(common: wire::CommonSpec, music: &MusicSpec) -> wire::MusicSpec {
    let (supports_lyrics, lyrics_required, optimizer, lyrics_character_limit) = match music.lyrics {
        LyricsSupport::Unsupported => (false, false, false, None),
        LyricsSupport::Supported { required, optimizer, characters_max } => {
            (true, required, optimizer, characters_max)
        }
    };
    let (duration_options, min_duration, default_duration, max_duration) = match &music.duration {
        None => (None, None, None, None),
        Some(MusicDuration::OneOf(choices)) => {
            (to_optional_list(choices.options()), None, choices.default().copied(), None)
        }
        Some(MusicDuration::Within { min_s, default_s, max_s }) => {
            (None, Some(*min_s), Some(*default_s), Some(*max_s))
        }
    };
    let formats = music.formats.options().iter().copied();
    wire::MusicSpec {
        common,
        default_voice: music.voices.default().cloned(),
        voices: to_optional_list(music.voices.options()),
        supports_lyrics,
        lyrics_required,
        supports_lyrics_optimizer: optimizer,
        supports_force_instrumental: music.force_instrumental,
        supports_loop: music.loops,
        supports_language_code: music.language_code,
        supports_speed: music.speed.is_some(),
        default_speed: music.speed.map(|it| it.default),
        min_speed: music.speed.map(|it| it.min),
        max_speed: music.speed.map(|it| it.max),
        duration_options,
        min_duration,
        max_duration,
        default_duration,
        supported_formats: formats.map(enums::audio_format).collect(),
        default_format: map_default(&music.formats, enums::audio_format),
        prompt_character_limit: music.prompt_characters_max,
        min_prompt_length: music.prompt_characters_min,
        lyrics_character_limit,
        pricing: price::build_music_pricing(&music.price),
    }
}

fn video_spec(common: wire::CommonSpec, video: &VideoSpec) -> wire::VideoSpec {
    let reference = &video.reference_image;
    wire::VideoSpec {
        common,
        constraints: wire::VideoConstraints {
            aspect_ratios: video.aspect_ratios.clone(),
            resolutions: video.resolutions.clone(),
            durations: video.durations.clone(),
            model_type: enums::video_kind(video.kind),
            audio: video.audio,
            audio_configurable: video.audio_configurable,
            prompt_character_limit: video.prompt_characters_max,
            image_input: video.takes_pictures(),
            audio_input: video.audio_input,
            per_reference_audio: video.per_reference_audio,
            video_input: video.video_input,
            reference_image_min_short_side_pixels: reference.min_short_side_pixels,
            reference_image_min_aspect_ratio: reference.min_aspect_ratio,
            reference_image_max_aspect_ratio: reference.max_aspect_ratio,
        },
    }
}

/// The items; None if there are none.
fn to_optional_list<T: Clone>(items: &[T]) -> Option<Vec<T>> {
    (!items.is_empty()).then(|| items.to_vec())
}

fn map_options<T: Copy + PartialEq, W>(
    choices: &ChoiceList<T>,
    word: fn(T) -> W,
) -> Option<Vec<W>> {
    let words = || choices.options().iter().copied().map(word).collect();
    (!choices.is_empty()).then(words)
}

fn map_default<T: Copy + PartialEq, W>(choices: &ChoiceList<T>, word: fn(T) -> W) -> Option<W> {
    choices.default().copied().map(word)
}

#[cfg(test)]
mod tests;
