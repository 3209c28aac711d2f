//! `[[model]]`: parses the catalogue entries, each by the keys of its model type.

mod audio;
mod entry;
mod free_price;
mod hour_cache;
mod image;
mod price;
pub mod provider_support;
mod scoring;
mod text;
mod value;
mod video;

use domain::catalogue::{Catalogue, CatalogueModel, ModelSpec, ModelType, NamedVariants};

pub(crate) use hour_cache::fill_hour_cache_prices;

use crate::fault::{FaultList, InvalidConfig};
use crate::key::{ConfigKey, ConfigSection, SectionForm};
use crate::node::{self, ConfigNode, ConfigTable, ConfigValue};
use crate::origin::SettingOrigin;
use crate::reader::TableReader;
use crate::sources::value_or_faults;

/// Sections of a model and its inner tables, for the reference and the commented template.
pub const SECTIONS: &[&ConfigSection] = &[
    &SECTION,
    &entry::ROUTE_SECTION,
    &entry::DEPRECATION_SECTION,
    &text::TEXT_SECTION,
    &text::DEFAULTS_SECTION,
    &price::TOKEN_SECTION,
    &price::EXTENDED_SECTION,
    &text::EMBEDDING_SECTION,
    &image::IMAGE_SECTION,
    &price::IMAGE_SECTION,
    &price::QUALITY_SECTION,
    &image::INPAINT_SECTION,
    &price::INPAINT_SECTION,
    &audio::TTS_SECTION,
    &audio::CLONING_SECTION,
    &price::TTS_SECTION,
    &price::ASR_SECTION,
    &audio::MUSIC_SECTION,
    &price::MUSIC_SECTION,
    &price::DURATION_SECTION,
    &video::SECTION,
    &price::VIDEO_SECTION,
    &price::VIDEO_RATES_SECTION,
    &scoring::RERANK_SECTION,
    &price::RERANK_SECTION,
    &scoring::MODERATION_SECTION,
    &price::MODERATION_SECTION,
    &price::RATE_SECTION,
];

pub const SECTION: ConfigSection = ConfigSection {
    name: "model",
    form: SectionForm::Many,
    doc: "A catalogue entry. Entries can be put into included files. Each model type has \
          additional keys and its own price format.",
    keys: entry::KEYS,
};

/// Parses every `[[model]]` of the configuration.
///
/// `providers` are the provider ids that models may name. Faults of single entries and of the whole
/// catalogue, such as duplicate ids, are added to `faults` with their lines.
pub fn read_models(
    table: &ConfigTable,
    providers: &[&str],
    faults: &FaultList,
) -> Vec<CatalogueModel> {
    let Some(node) = table.get("model") else { return Vec::new() };
    let ConfigValue::List(items) = &node.value else {
        faults.push(&node.origin, "`model` must be a list, written [[model]]");
        return Vec::new();
    };
    let mut models = Vec::new();
    let mut origins = Vec::new();
    for item in items {
        if let Some(model) = read_item(item, providers, faults) {
            models.push(model);
            origins.push(item);
        }
    }
    // If an entry could not be parsed, the check would report false faults in entries that refer to
    // it.
    if models.len() == items.len() {
        for fault in Catalogue::check_entries(&models) {
            faults.push(&find_key_origin(origins[fault.position], fault.key), fault.message);
        }
    }
    models
}

/// Parses compiled-in entries that all use the one provider.
pub fn parse_models(
    name: &str,
    text: &str,
    provider: &str,
) -> Result<Vec<CatalogueModel>, InvalidConfig> {
    let faults = FaultList::default();
    let table = node::parse_toml(name, text, &faults);
    let models = read_models(&table, &[provider], &faults);
    value_or_faults(Some(models), faults)
}

fn read_item(item: &ConfigNode, providers: &[&str], faults: &FaultList) -> Option<CatalogueModel> {
    let ConfigValue::Table(table) = &item.value else {
        let found = item.value.describe_type();
        faults.push(&item.origin, format!("[[model]] must be a table, not {found}"));
        return None;
    };
    let place = match table.get("id") {
        Some(ConfigNode { value: ConfigValue::Text(id), .. }) => format!("[[model]] \"{id}\""),
        _ => "[[model]]".to_owned(),
    };
    let model_type = type_of(table, &place, &item.origin, faults)?;
    let keys = keys_of(model_type);
    let place = format!("{place} of type {model_type}");
    let free = free_price::with_zero_price(table, model_type, faults);
    let table = free.as_ref().unwrap_or(table);
    let reader = TableReader::new(table, keys, place, item.origin.clone(), faults);
    let spec = read_spec(&reader, model_type);
    entry::read_model(&reader, spec, providers)
}

/// Parses `type` on its own, because the type decides which other keys are valid.
fn type_of(
    table: &ConfigTable,
    place: &str,
    origin: &SettingOrigin,
    faults: &FaultList,
) -> Option<ModelType> {
    let mut only_type = ConfigTable::default();
    if let Some(node) = table.get("type") {
        only_type.insert("type", node.clone());
    }
    let reader = TableReader::new(&only_type, entry::KEYS, place, origin.clone(), faults);
    reader.choice("type").and_then(ModelType::parse)
}

fn read_spec(reader: &TableReader<'_>, model_type: ModelType) -> Option<ModelSpec> {
    match model_type {
        ModelType::Asr => audio::read_asr_spec(reader).map(ModelSpec::Asr),
        ModelType::Embedding => text::read_embedding_spec(reader).map(ModelSpec::Embedding),
        ModelType::Image => image::read_image_spec(reader).map(ModelSpec::Image),
        ModelType::Music => audio::read_music_spec(reader).map(ModelSpec::Music),
        ModelType::Text => text::read_text_spec(reader).map(ModelSpec::Text),
        ModelType::Tts => audio::read_tts_spec(reader).map(ModelSpec::Tts),
        ModelType::Upscale => image::read_upscale_spec(reader).map(ModelSpec::Upscale),
        ModelType::Inpaint => image::read_inpaint_spec(reader).map(ModelSpec::Inpaint),
        ModelType::Video => video::read_video_spec(reader).map(ModelSpec::Video),
        ModelType::Rerank => scoring::read_rerank_spec(reader).map(ModelSpec::Rerank),
        ModelType::Moderation => scoring::read_moderation_spec(reader).map(ModelSpec::Moderation),
    }
}

fn keys_of(model_type: ModelType) -> &'static [ConfigKey] {
    const TEXT: &[ConfigKey] = &with_common::<{ count_keys(text::TEXT_KEYS) }>(text::TEXT_KEYS);
    const EMBEDDING: &[ConfigKey] =
        &with_common::<{ count_keys(text::EMBEDDING_KEYS) }>(text::EMBEDDING_KEYS);
    const IMAGE: &[ConfigKey] =
        &with_common::<{ count_keys(image::IMAGE_KEYS) }>(image::IMAGE_KEYS);
    const INPAINT: &[ConfigKey] =
        &with_common::<{ count_keys(image::INPAINT_KEYS) }>(image::INPAINT_KEYS);
    const TTS: &[ConfigKey] = &with_common::<{ count_keys(audio::TTS_KEYS) }>(audio::TTS_KEYS);
    const MUSIC: &[ConfigKey] =
        &with_common::<{ count_keys(audio::MUSIC_KEYS) }>(audio::MUSIC_KEYS);
    const VIDEO: &[ConfigKey] = &with_common::<{ count_keys(video::KEYS) }>(video::KEYS);
    const RERANK: &[ConfigKey] =
        &with_common::<{ count_keys(scoring::RERANK_KEYS) }>(scoring::RERANK_KEYS);
    const MODERATION: &[ConfigKey] =
        &with_common::<{ count_keys(scoring::MODERATION_KEYS) }>(scoring::MODERATION_KEYS);
    match model_type {
        ModelType::Rerank => RERANK,
        ModelType::Moderation => MODERATION,
        ModelType::Text => TEXT,
        ModelType::Embedding => EMBEDDING,
        ModelType::Image => IMAGE,
        ModelType::Inpaint => INPAINT,
        ModelType::Tts => TTS,
        ModelType::Music => MUSIC,
        ModelType::Video => VIDEO,
        ModelType::Asr | ModelType::Upscale => entry::KEYS,
    }
}

const fn count_keys(keys: &[ConfigKey]) -> usize {
    entry::KEYS.len() + keys.len()
}

/// Returns the keys common to all models, followed by the given ones.
const fn with_common<const COUNT: usize>(keys: &[ConfigKey]) -> [ConfigKey; COUNT] {
    let mut joined = [entry::KEYS[0]; COUNT];
    let mut index = 0;
    while index < COUNT {
        joined[index] = if index < entry::KEYS.len() {
            entry::KEYS[index]
        } else {
            keys[index - entry::KEYS.len()]
        };
        index += 1;
    }
    joined
}

/// Returns the origin of a key of an entry, or of the entry itself if the key is absent.
fn find_key_origin(item: &ConfigNode, key: &str) -> SettingOrigin {
    let ConfigValue::Table(table) = &item.value else { return item.origin.clone() };
    table.get(key).map_or_else(|| item.origin.clone(), |node| node.origin.clone())
}

#[cfg(test)]
mod tests;
