//! Checks that the providers of a model support the features that its entry declares.
//!
//! A key without a field in the provider's protocol would make every request that uses it fail, or
//! would be ignored silently. The same holds for a model type that the provider does not run. Both
//! are reported as faults of the configuration.

use domain::catalogue::{ModelType, Named};

use crate::fault::Faults;
use crate::node::{Node, Table, Value};
use crate::sections::provider::{BUILT_IN, Provider, ProviderKind};

/// A key of a model or, with `word`, one of the key's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnnouncedKey {
    pub key: &'static str,
    pub word: Option<&'static str>,
}

const fn key(key: &'static str) -> AnnouncedKey {
    AnnouncedKey { key, word: None }
}

const fn word(key: &'static str, word: &'static str) -> AnnouncedKey {
    AnnouncedKey { key, word: Some(word) }
}

/// Returns the model types that providers of a kind run.
pub const fn model_types(kind: ProviderKind) -> &'static [ModelType] {
    use ModelType::{Asr, Embedding, Image, Inpaint, Music, Text, Tts, Upscale, Video};
    match kind {
        ProviderKind::OpenAi => &[Text, Embedding, Image, Inpaint, Tts, Asr, Video],
        ProviderKind::Anthropic => &[Text],
        ProviderKind::SdCpp => &[Image, Inpaint, Video],
        ProviderKind::A1111 => &[Image, Inpaint, Upscale],
        ProviderKind::ComfyUi | ProviderKind::Fal => &[Image, Inpaint, Upscale, Music, Video],
        ProviderKind::Kokoro => &[Tts],
        ProviderKind::WhisperCpp => &[Asr],
        ProviderKind::AceStep => &[Music],
        ProviderKind::Local => &[Text, Embedding, Image, Inpaint, Upscale, Tts, Asr, Music, Video],
    }
}

const ATTESTATION: [AnnouncedKey; 2] =
    [word("capabilities", "tee_attestation"), word("capabilities", "e2ee")];
const NO_QUALITY: [AnnouncedKey; 2] = [key("qualities"), key("default_quality")];
const NO_STYLE: [AnnouncedKey; 2] = [key("max_style_references"), key("style_reference_strength")];
const NO_SEARCH: AnnouncedKey = key("web_search");
const NO_VOICE_OR_SPEED: [AnnouncedKey; 6] = [
    key("voices"),
    key("default_voice"),
    key("min_speed"),
    key("default_speed"),
    key("max_speed"),
    key("supports_loop"),
];
const NO_LANGUAGE: AnnouncedKey = key("supports_language_code");
const NO_LYRICS_OPTIMIZER: AnnouncedKey = key("supports_lyrics_optimizer");
/// No provider protocol forwards reference images, videos or audio.
const NO_REFERENCES: [AnnouncedKey; 4] = [
    key("per_reference_audio"),
    key("reference_image_min_short_side_pixels"),
    key("reference_image_min_aspect_ratio"),
    key("reference_image_max_aspect_ratio"),
];
const NO_SOUND_OR_VIDEO: [AnnouncedKey; 4] = [
    key("audio_configurable"),
    key("audio_input"),
    key("video_input"),
    word("starts_from", "video"),
];

/// Returns the keys that models of a type must not declare if a provider of the kind runs them.
pub fn unsupported_keys(kind: ProviderKind, model_type: ModelType) -> Vec<AnnouncedKey> {
    let lists: &[&[AnnouncedKey]] = match (model_type, kind) {
        (ModelType::Text, ProviderKind::Anthropic) => &[
            &ATTESTATION,
            &[
                word("capabilities", "logprobs"),
                word("capabilities", "audio_input"),
                word("capabilities", "video_input"),
                word("capabilities", "x_search"),
            ],
        ],
        (ModelType::Text, ProviderKind::Local) => &[&ATTESTATION],
        (ModelType::Image, ProviderKind::OpenAi | ProviderKind::Fal) => &[&NO_STYLE],
        (ModelType::Image, ProviderKind::ComfyUi) => &[&NO_QUALITY, &[NO_SEARCH]],
        (ModelType::Image, _) => &[&NO_QUALITY, &NO_STYLE, &[NO_SEARCH]],
        (ModelType::Inpaint, ProviderKind::OpenAi | ProviderKind::Fal) => &[],
        (ModelType::Inpaint, ProviderKind::A1111) => &[&NO_QUALITY, &[key("combine_images")]],
        (ModelType::Inpaint, _) => &[&NO_QUALITY],
        (ModelType::Tts, ProviderKind::Kokoro) => &[&[key("voice_cloning")]],
        (ModelType::Tts, ProviderKind::Local) => &[&[
            key("voice_cloning"),
            key("custom_voice_id"),
            key("supports_prompt"),
            key("supports_temperature"),
            key("supports_top_p"),
        ]],
        (ModelType::Music, ProviderKind::AceStep) => &[&NO_VOICE_OR_SPEED],
        (ModelType::Music, ProviderKind::Local) => {
            &[&NO_VOICE_OR_SPEED, &[NO_LANGUAGE, key("supports_lyrics")]]
        }
        (ModelType::Music, _) => &[&NO_VOICE_OR_SPEED, &[NO_LANGUAGE, NO_LYRICS_OPTIMIZER]],
        (ModelType::Video, ProviderKind::Fal) => &[&NO_REFERENCES],
        (ModelType::Video, _) => &[&NO_REFERENCES, &NO_SOUND_OR_VIDEO],
        _ => &[],
    };
    lists.concat()
}

/// Adds a fault for each declared feature that a provider of the model does not support.
pub(crate) fn check(table: &Table, providers: &[Provider], faults: &Faults) {
    let Some(Node { value: Value::List(models), .. }) = table.get("model") else { return };
    for node in models {
        let Value::Table(model) = &node.value else { continue };
        let Some(model_type) = text(model, "type").and_then(ModelType::parse) else { continue };
        check_model(model, model_type, providers, faults);
    }
}

fn check_model(model: &Table, model_type: ModelType, providers: &[Provider], faults: &Faults) {
    let id = text(model, "id").unwrap_or_default();
    let mut has_workflow_route = false;
    for (place, name) in routes(model) {
        let Some(kind) = kind_of(name, providers) else { continue };
        let named = format!("[[model]] \"{id}\": provider `{name}` of kind `{}`", kind.name());
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
        for announced in unsupported_keys(kind, model_type) {
            let Some(node) = model.get(announced.key) else { continue };
            if is_announced(node, announced.word) {
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
fn routes(model: &Table) -> Vec<(&Node, &str)> {
    let further = match model.get("also") {
        Some(Node { value: Value::List(items), .. }) => items.as_slice(),
        _ => &[],
    };
    let further = further.iter().filter_map(|item| match &item.value {
        Value::Table(route) => route.get("provider"),
        _ => None,
    });
    let nodes = model.get("provider").into_iter().chain(further);
    let named = nodes.filter_map(|node| match &node.value {
        Value::Text(name) => Some((node, name.as_str())),
        _ => None,
    });
    named.collect()
}

fn kind_of(name: &str, providers: &[Provider]) -> Option<ProviderKind> {
    let configured = providers.iter().find(|provider| provider.id == name);
    let built_in = (name == BUILT_IN).then_some(ProviderKind::Local);
    configured.map(|provider| provider.kind).or(built_in)
}

fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    match table.get(key) {
        Some(Node { value: Value::Text(text), .. }) => Some(text),
        _ => None,
    }
}

/// True if a value enables a feature: `false`, `0` and empty lists do not.
fn is_announced(node: &Node, word: Option<&str>) -> bool {
    match (&node.value, word) {
        (Value::Flag(flag), _) => *flag,
        (Value::Integer(number), _) => *number != 0,
        (Value::Text(text), Some(word)) => text == word,
        (Value::List(items), Some(word)) => {
            items.iter().any(|item| matches!(&item.value, Value::Text(text) if text == word))
        }
        (Value::List(items), None) => !items.is_empty(),
        (Value::Text(_) | Value::Number(_) | Value::Date(_) | Value::Table(_), _) => true,
    }
}
