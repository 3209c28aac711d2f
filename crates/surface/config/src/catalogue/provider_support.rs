//! Checks that the providers of a model support the features that its entry declares.
//!
//! A key without a field in the provider's protocol would make every request that uses it fail, or
//! would be ignored silently. The same holds for a model type that the provider does not run. Both
//! are reported as faults of the configuration.

use domain::catalogue::{ModelType, NamedVariants};

use crate::fault::FaultList;
use crate::node::{ConfigNode, ConfigTable, ConfigValue};
use crate::sections::provider::{BUILT_IN, ChatApiSetting, ProviderConfig, ProviderKind};

/// A key of a model or, with `word`, one of the key's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredFeature {
    pub key: &'static str,
    pub word: Option<&'static str>,
}

const fn declare_key(key: &'static str) -> DeclaredFeature {
    DeclaredFeature { key, word: None }
}

const fn declare_word(key: &'static str, word: &'static str) -> DeclaredFeature {
    DeclaredFeature { key, word: Some(word) }
}

/// Returns the model types that providers of a kind run.
pub const fn model_types(kind: ProviderKind) -> &'static [ModelType] {
    use ModelType::{
        Asr, Embedding, Image, Inpaint, Moderation, Music, Rerank, Text, Tts, Upscale, Video,
    };
    match kind {
        ProviderKind::OpenAi => {
            &[Text, Embedding, Image, Inpaint, Tts, Asr, Video, Rerank, Moderation]
        }
        ProviderKind::Anthropic => &[Text],
        ProviderKind::SdCpp => &[Image, Inpaint, Video],
        ProviderKind::A1111 => &[Image, Inpaint, Upscale],
        ProviderKind::ComfyUi | ProviderKind::Fal => &[Image, Inpaint, Upscale, Music, Video],
        ProviderKind::Kokoro => &[Tts],
        ProviderKind::WhisperCpp => &[Asr],
        ProviderKind::AceStep => &[Music],
        ProviderKind::Tei => &[Rerank],
        ProviderKind::Local => &[Text, Embedding, Image, Inpaint, Upscale, Tts, Asr, Music, Video],
    }
}

const ATTESTATION: [DeclaredFeature; 2] =
    [declare_word("capabilities", "tee_attestation"), declare_word("capabilities", "e2ee")];
const NO_QUALITY: [DeclaredFeature; 2] = [declare_key("qualities"), declare_key("default_quality")];
const NO_STYLE: [DeclaredFeature; 2] =
    [declare_key("max_style_references"), declare_key("style_reference_strength")];
const NO_SEARCH: DeclaredFeature = declare_key("web_search");
const NO_VOICE_OR_SPEED: [DeclaredFeature; 6] = [
    declare_key("voices"),
    declare_key("default_voice"),
    declare_key("min_speed"),
    declare_key("default_speed"),
    declare_key("max_speed"),
    declare_key("supports_loop"),
];
const NO_LANGUAGE: DeclaredFeature = declare_key("supports_language_code");
const NO_LYRICS_OPTIMIZER: DeclaredFeature = declare_key("supports_lyrics_optimizer");
/// No provider protocol forwards reference images, videos or audio.
const NO_REFERENCES: [DeclaredFeature; 4] = [
    declare_key("per_reference_audio"),
    declare_key("reference_image_min_short_side_pixels"),
    declare_key("reference_image_min_aspect_ratio"),
    declare_key("reference_image_max_aspect_ratio"),
];
const NO_SOUND_OR_VIDEO: [DeclaredFeature; 4] = [
    declare_key("audio_configurable"),
    declare_key("audio_input"),
    declare_key("video_input"),
    declare_word("starts_from", "video"),
];

/// Features of text models that the Responses API lacks.
const NOT_IN_RESPONSES: [DeclaredFeature; 2] =
    [declare_word("capabilities", "audio_input"), declare_word("capabilities", "video_input")];

/// Returns the keys that models of a type must not declare if a provider of the kind runs them.
pub fn unsupported_keys(kind: ProviderKind, model_type: ModelType) -> Vec<DeclaredFeature> {
    let lists: &[&[DeclaredFeature]] = match (model_type, kind) {
        (ModelType::Text, ProviderKind::Anthropic) => &[
            &ATTESTATION,
            &[
                declare_word("capabilities", "logprobs"),
                declare_word("capabilities", "audio_input"),
                declare_word("capabilities", "video_input"),
                declare_word("capabilities", "x_search"),
            ],
        ],
        (ModelType::Text, ProviderKind::Local) => &[&ATTESTATION],
        (ModelType::Image, ProviderKind::OpenAi | ProviderKind::Fal) => &[&NO_STYLE],
        (ModelType::Image, ProviderKind::ComfyUi) => &[&NO_QUALITY, &[NO_SEARCH]],
        (ModelType::Image, _) => &[&NO_QUALITY, &NO_STYLE, &[NO_SEARCH]],
        (ModelType::Inpaint, ProviderKind::OpenAi | ProviderKind::Fal) => &[],
        (ModelType::Inpaint, ProviderKind::A1111) => {
            &[&NO_QUALITY, &[declare_key("combine_images")]]
        }
        (ModelType::Inpaint, _) => &[&NO_QUALITY],
        (ModelType::Tts, ProviderKind::Kokoro) => &[&[declare_key("voice_cloning")]],
        (ModelType::Tts, ProviderKind::Local) => &[&[
            declare_key("voice_cloning"),
            declare_key("custom_voice_id"),
            declare_key("supports_prompt"),
            declare_key("supports_temperature"),
            declare_key("supports_top_p"),
        ]],
        (ModelType::Music, ProviderKind::AceStep) => &[&NO_VOICE_OR_SPEED],
        (ModelType::Music, ProviderKind::Local) => {
            &[&NO_VOICE_OR_SPEED, &[NO_LANGUAGE, declare_key("supports_lyrics")]]
        }
        (ModelType::Music, _) => &[&NO_VOICE_OR_SPEED, &[NO_LANGUAGE, NO_LYRICS_OPTIMIZER]],
        (ModelType::Video, ProviderKind::Fal) => &[&NO_REFERENCES],
        (ModelType::Video, _) => &[&NO_REFERENCES, &NO_SOUND_OR_VIDEO],
        _ => &[],
    };
    lists.concat()
}

/// Adds a fault for each declared feature that a provider of the model does not support.
pub(crate) fn check_declared_features(
    table: &ConfigTable,
    providers: &[ProviderConfig],
    faults: &FaultList,
) {
    let Some(ConfigNode { value: ConfigValue::List(models), .. }) = table.get("model") else {
        return;
    };
    for node in models {
        let ConfigValue::Table(model) = &node.value else { continue };
        let Some(model_type) = find_text(model, "type").and_then(ModelType::parse) else {
            continue;
        };
        check_model(model, model_type, providers, faults);
    }
}

fn check_model(
    model: &ConfigTable,
    model_type: ModelType,
    providers: &[ProviderConfig],
    faults: &FaultList,
) {
    let id = find_text(model, "id").unwrap_or_default();
    let mut has_workflow_route = false;
    for (place, name) in list_named_providers(model) {
        let Some(kind) = kind_of(name, providers) else { continue };
        let is_responses = uses_responses(name, providers);
        let api = if is_responses { " with `api = \"responses\"`" } else { "" };
        let named = format!("[[model]] \"{id}\": provider `{name}` of kind `{}`{api}", kind.name());
        has_workflow_route |= kind == ProviderKind::ComfyUi;
        if !model_types(kind).contains(&model_type) {
            let known: Vec<&str> = model_types(kind).iter().map(|it| it.name()).collect();
            let known = known.join(", ");
            let message = format!("{named} runs no models of type {model_type}; it runs {known}");
            faults.push(&place.origin, message);
            continue;
        }
        if kind == ProviderKind::ComfyUi && model.get("workflow").is_none() {
            faults.push(&place.origin, format!("{named} needs a `workflow`"));
        }
        let mut unsupported = unsupported_keys(kind, model_type);
        if is_responses && model_type == ModelType::Text {
            unsupported.extend(ATTESTATION.into_iter().chain(NOT_IN_RESPONSES));
        }
        for announced in unsupported {
            let Some(node) = model.get(announced.key) else { continue };
            if is_declared(node, announced.word) {
                let word = announced.word.map(|word| format!(" \"{word}\"")).unwrap_or_default();
                let message = format!("{named} cannot do `{}`{word}", announced.key);
                faults.push(&node.origin, message);
            }
        }
    }
    if let Some(workflow) = model.get("workflow").filter(|_| !has_workflow_route) {
        let message =
            format!("[[model]] \"{id}\": `workflow` is for providers of kind `comfyui` only");
        faults.push(&workflow.origin, message);
    }
}

/// Returns the providers that a model names, each with its node.
fn list_named_providers(model: &ConfigTable) -> Vec<(&ConfigNode, &str)> {
    let further = match model.get("also") {
        Some(ConfigNode { value: ConfigValue::List(items), .. }) => items.as_slice(),
        _ => &[],
    };
    let further = further.iter().filter_map(|item| match &item.value {
        ConfigValue::Table(route) => route.get("provider"),
        _ => None,
    });
    let nodes = model.get("provider").into_iter().chain(further);
    let named = nodes.filter_map(|node| match &node.value {
        ConfigValue::Text(name) => Some((node, name.as_str())),
        _ => None,
    });
    named.collect()
}

fn kind_of(name: &str, providers: &[ProviderConfig]) -> Option<ProviderKind> {
    let configured = providers.iter().find(|provider| provider.id == name);
    let built_in = (name == BUILT_IN).then_some(ProviderKind::Local);
    configured.map(|provider| provider.kind).or(built_in)
}

fn uses_responses(name: &str, providers: &[ProviderConfig]) -> bool {
    let configured = providers.iter().find(|provider| provider.id == name);
    configured.is_some_and(|provider| provider.api == ChatApiSetting::Responses)
}

fn find_text<'a>(table: &'a ConfigTable, key: &str) -> Option<&'a str> {
    match table.get(key) {
        Some(ConfigNode { value: ConfigValue::Text(text), .. }) => Some(text),
        _ => None,
    }
}

/// True if a value enables a feature: `false`, `0` and empty lists do not.
fn is_declared(node: &ConfigNode, word: Option<&str>) -> bool {
    match (&node.value, word) {
        (ConfigValue::Flag(flag), _) => *flag,
        (ConfigValue::Integer(number), _) => *number != 0,
        (ConfigValue::Text(text), Some(word)) => text == word,
        (ConfigValue::List(items), Some(word)) => {
            items.iter().any(|item| matches!(&item.value, ConfigValue::Text(text) if text == word))
        }
        (ConfigValue::List(items), None) => !items.is_empty(),
        (
            ConfigValue::Text(_)
            | ConfigValue::Number(_)
            | ConfigValue::Date(_)
            | ConfigValue::Table(_),
            _,
        ) => true,
    }
}
